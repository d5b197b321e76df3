/* foreign_golden.c - every golden vector: the same bytes from the same keys, the same
 * answers on the same bytes. Walks the vectors of the real libraries if they are there
 * and always the small set in tests/golden. */
#include "tap.h"
#include "golden/golden.h"
#include "foreign/foreign.h"
#include "seen.h"

typedef struct vector {
    char dir[1500];
    const char *name; /* for messages */
    golden_blob params, keys, bin, probes;
    const char *format;
    seen_params open, make;
    uint32_t seeds[16];
    char tail[64];          /* what the real file has behind the filter */
    size_t skip_at, skip_n; /* bytes that mean nothing */
} vector;

/* ---- from params.json to parameters --------------------------------------------- */

static const struct {
    const char *json, *type;
} types[] = {{"bytes", "bytes"}, {"utf8", "utf8"},   {"chars", "utf16"},
             {"int32", "int32"}, {"int64", "int64"}, {"int", "int32"},
             {"long", "int64"},  {"double", "int64"}};

static const char *type_of(golden_blob params, const char *field)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (golden_is(params, field, types[i].json))
            return types[i].type;
    return NULL;
}

static bool understand(vector *v)
{
    golden_blob p = v->params;
    seen_params sizes = {.keys = (uint64_t)golden_number(p, "n", 0),
                         .error = golden_number(p, "p", 0)};
    seen_params mk = {.bits = (uint64_t)golden_number(p, "m", 0),
                      .probes = (uint32_t)golden_number(p, "k", 0)};
    if (golden_is(p, "format", "bits-and-blooms")) {
        v->format = "bits-and-blooms";
        v->make = mk;
    } else if (golden_is(p, "format", "dcso-v1")) {
        v->format = "dcso";
        v->make = sizes;
        const char *data = golden_param(p, "attached_data");
        if (data && strncmp(data, "null", 4))
            snprintf(v->tail, sizeof v->tail, "%.*s", (int)strcspn(data, "\""), data);
    } else if (golden_is(p, "format", "go-crc32-shift16")) {
        v->format = "crc32-shift";
        v->open = v->make = sizes;
    } else if (golden_is(p, "format", "go-fnv64-split")) {
        v->format = "fnv-split";
        v->open = v->make = mk;
    } else if (golden_is(p, "format", "py-mmh3-seed17")) {
        v->format = "mmh3-17";
        v->open = v->make = sizes;
    } else if (golden_is(p, "format", "guava")) {
        v->format = golden_number(p, "strategy_byte", 1) != 0 ? "guava" : "guava-32";
        v->open.type = type_of(p, "funnel");
        v->make = v->open;
        v->make.keys = (uint64_t)golden_number(p, "expected_insertions", 0);
        v->make.error = golden_number(p, "fpp", 0);
    } else if (golden_is(p, "format", "leveldb\"")) {
        v->format = "leveldb";
        v->make.keys = (uint64_t)golden_number(p, "keys", 0);
        v->make.bits_per_key = (uint32_t)golden_number(p, "bits_per_key", 0);
    } else if (golden_is(p, "format", "libbloom")) {
        v->format = golden_number(p, "version", 2) < 2 ? "libbloom1" : "libbloom";
        v->make.keys = (uint64_t)golden_number(p, "entries", 0);
        v->make.error = golden_number(p, "error", 0);
        if (!strcmp(v->format, "libbloom1")) {
            v->open = v->make;
        } else {
            v->skip_at = 67; /* a pointer of the process that wrote it */
            v->skip_n = 8;
        }
    } else if (golden_is(p, "format", "parquet-sbbf")) {
        v->format = "parquet";
        v->open.type = type_of(p, "physical_type");
        v->make = v->open;
        v->make.bits = 8 * (uint64_t)golden_number(p, "bitset_bytes", 0);
    } else if (golden_is(p, "format", "redis-setbit-mmh3")) {
        v->format = "redis-bitmap";
        const char *at = golden_param(p, "seeds");
        uint32_t n = 0;
        for (char *end; at && n < 16; at = end) {
            at += strspn(at, " \n,");
            unsigned long seed = strtoul(at, &end, 10);
            if (end == at)
                break;
            v->seeds[n++] = (uint32_t)seed;
        }
        v->open.bits = mk.bits;
        v->open.seeds = v->seeds;
        v->open.seeds_n = n;
        v->make = v->open;
    } else if (golden_is(p, "format", "scrapy-redis-bloomfilter")) {
        v->format = "scrapy-redis";
        v->open.bits = mk.bits;
        v->open.probes = (uint32_t)golden_number(p, "hash_number", 0);
        v->make = v->open;
    } else if (golden_is(p, "format", "redisbloom-scandump")) {
        v->format = "redisbloom";
        v->make.keys = (uint64_t)golden_number(p, "first_link_requested_entries", 0);
        v->make.error = golden_number(p, "first_link_error", 0);
        unsigned options = (unsigned)golden_number(p, "options", 0);
        if (!(options & 8))
            v->make.error *= 2;
        else
            v->make.flags = SEEN_NONSCALING;
        v->make.expansion = (uint32_t)golden_number(p, "growth", 2);
        if (!(options & 1))
            v->make.keys = 0; /* the old rounding form is not made any more */
    } else {
        return false;
    }
    return true;
}

/* ---- one vector ----------------------------------------------------------------- */

typedef struct bytes {
    uint8_t *p;
    size_t len;
} bytes;

static int collect(void *ctx, const void *p, size_t len)
{
    bytes *b = ctx;
    b->p = realloc(b->p, b->len + len + 1);
    memcpy(b->p + b->len, p, len);
    b->len += len;
    return 0;
}

static bytes written(const seen_filter *f)
{
    bytes b = {0};
    seen_write(f, collect, &b);
    return b;
}

/* Every key at once: batches and single questions must agree. */
static unsigned ask_all(const seen_filter *f, golden_blob tsv, bool members, bool *same)
{
    const char *at = (char *)tsv.p, *line, *end;
    golden_blob keep[40];
    seen_key batch[40];
    bool want[40], got[40];
    unsigned n = 0, wrong = 0;
    do {
        line = golden_line(&at);
        if (line) {
            keep[n] = golden_key(line, &end);
            batch[n] = (seen_key){keep[n].p, keep[n].len};
            want[n++] = members || end[1] == '1';
        }
        if (n == 40 || (!line && n)) {
            seen_has_many(f, batch, n, got);
            for (unsigned i = 0; i < n; i++) {
                wrong += got[i] != want[i];
                *same &= got[i] == seen_has(f, batch[i].data, batch[i].len);
                free(keep[i].p);
            }
            n = 0;
        }
    } while (line);
    return wrong;
}

static void answers(const vector *v, const seen_filter *f, const char *how)
{
    bool same = true;
    unsigned lost = ask_all(f, v->keys, true, &same);
    ok(lost == 0, "%s: %s, every member is in", v->name, how);
    unsigned wrong = ask_all(f, v->probes, false, &same);
    ok(wrong == 0, "%s: %s, every probe as the original answered", v->name, how);
    ok(same, "%s: %s, one by one and in batches alike", v->name, how);
}

static void opens(const vector *v)
{
    seen_filter *f, *g;
    int rc = seen_open_foreign_bytes(v->bin.p, v->bin.len, v->format, &v->open, 0, &f);
    if (!ok(rc == 0, "%s: opens as %s%s%s", v->name, v->format, rc ? ": " : "",
            rc ? seen_reason() : ""))
        return;
    answers(v, f, "opened");
    bytes b = written(f);
    ok(b.len == v->bin.len && !memcmp(b.p, v->bin.p, b.len),
       "%s: written back unchanged", v->name);
    free(b.p);
    ok(seen_add(f, "x", 1) == SEEN_EREADONLY || v->open.type, "%s: read-only in place",
       v->name);
    ok(seen_copy(f, &g) == 0, "%s: copied", v->name);
    answers(v, g, "as a copy");
    seen_free(g);
    seen_free(f);
    const seen_format *seen = seen_recognise(v->bin.p, v->bin.len);
    size_t n;
    const seen_format *const *all = seen_formats(&n);
    const seen_format *mine = NULL;
    for (size_t i = 0; i < n; i++)
        mine = strcmp(all[i]->name, v->format) ? mine : all[i];
    if (mine && mine->can & SEEN_FORMAT_KNOWN)
        ok(seen == mine, "%s: recognised from its bytes as %s", v->name,
           seen ? seen->name : "nothing");
    else
        ok(!seen || !strcmp(v->format, "guava-32"),
           "%s: its bytes do not show what they are (%s)", v->name,
           seen ? seen->name : "nothing");
}

static void rebuilds(const vector *v)
{
    seen_filter *f;
    if (!strcmp(v->format, "redisbloom") && !v->make.keys)
        return;
    int rc = seen_new_foreign(v->format, &v->make, &f);
    if (!ok(rc == 0, "%s: made%s%s", v->name, rc ? ": " : "", rc ? seen_reason() : ""))
        return;
    const char *at = (char *)v->keys.p, *line, *end;
    unsigned bad = 0;
    while ((line = golden_line(&at))) {
        golden_blob k = golden_key(line, &end);
        bad += seen_add(f, k.p, k.len) < 0;
        free(k.p);
    }
    ok(bad == 0, "%s: all keys added", v->name);
    bytes b = written(f);
    size_t tail = strlen(v->tail);
    collect(&b, v->tail, tail);
    golden_blob want = v->bin;
    if (v->skip_n && b.len == want.len)
        memcpy(b.p + v->skip_at, want.p + v->skip_at, v->skip_n);
    ok(b.len == want.len && !memcmp(b.p, want.p, b.len),
       "%s: %zu bytes rebuilt from the keys are the original's", v->name, b.len);
    free(b.p);
    answers(v, f, "rebuilt");
    char line2[600];
    seen_describe(f, line2, sizeof line2);
    note("%s: %s", v->name, line2);
    seen_free(f);
}

static void one(const char *root, const char *group, const char *name)
{
    vector v = {0};
    char label[300];
    snprintf(v.dir, sizeof v.dir, "%s/%s/%s", root, group, name);
    snprintf(label, sizeof label, "%s/%s", group, name);
    v.name = label;
    v.params = golden_read(v.dir, "params.json");
    v.keys = golden_read(v.dir, "keys.tsv");
    v.bin = golden_read(v.dir, "filter.bin");
    v.probes = golden_read(v.dir, "probes.tsv");
    if (v.params.p && v.keys.p && v.bin.p && v.probes.p) {
        if (ok(understand(&v), "%s: a format that is known", v.name)) {
            opens(&v);
            if (strncmp(name, "sample-", 7) && strncmp(name, "file-", 5))
                rebuilds(&v);
        }
    }
    free(v.params.p), free(v.keys.p), free(v.bin.p), free(v.probes.p);
}

/* ---- extra files ---------------------------------------------------------------- */

static void json_form(const char *root, const char *name)
{
    char dir[1500];
    snprintf(dir, sizeof dir, "%s/bits-and-blooms/%s", root, name);
    golden_blob json = golden_read(dir, "filter.json"),
                bin = golden_read(dir, "filter.bin");
    seen_filter *f, *g;
    if (!json.p || !bin.p) {
        free(json.p), free(bin.p);
        return;
    }
    const seen_format *fmt = seen_recognise(json.p, json.len);
    ok(fmt && !strcmp(fmt->name, "bits-and-blooms-json"), "%s: JSON is recognised",
       name);
    if (!ok(seen_open_foreign_bytes(json.p, json.len, NULL, NULL, 0, &f) == 0,
            "%s: JSON opens", name))
        return;
    bytes b = written(f);
    ok(b.len == json.len && !memcmp(b.p, json.p, b.len),
       "%s: JSON written back unchanged", name);
    free(b.p);
    ok(seen_convert(f, "bits-and-blooms", &g) == 0, "%s: JSON to binary", name);
    b = written(g);
    ok(b.len == bin.len && !memcmp(b.p, bin.p, b.len), "%s: which is the binary form",
       name);
    free(b.p);
    seen_free(g);
    ok(seen_convert(f, "bits-and-blooms-le", &g) == 0, "%s: JSON to little-endian",
       name);
    b = written(g);
    fmt = seen_recognise(b.p, b.len);
    ok(fmt && strncmp(fmt->name, "bits-and-blooms", 15) == 0, "%s: recognised as %s",
       name, fmt ? fmt->name : "nothing");
    seen_free(f);
    ok(seen_open_foreign_bytes(b.p, b.len, NULL, NULL, 0, &f) == 0, "%s: and opens",
       name);
    free(b.p);
    seen_free(f);
    ok(seen_convert(g, "bits-and-blooms", &f) == 0, "%s: and back", name);
    b = written(f);
    ok(b.len == bin.len && !memcmp(b.p, bin.p, b.len), "%s: unchanged", name);
    free(b.p);
    seen_free(f);
    seen_free(g);
    free(json.p), free(bin.p);
}

static void parquet_file(const char *root, const char *name)
{
    char dir[1500];
    snprintf(dir, sizeof dir, "%s/parquet/%s", root, name);
    golden_blob file = golden_read(dir, "file.parquet"),
                bin = golden_read(dir, "filter.bin");
    seen_filter *f, *g;
    if (!file.p || !bin.p) {
        free(file.p), free(bin.p);
        return;
    }
    vector v = {.name = name,
                .keys = golden_read(dir, "keys.tsv"),
                .probes = golden_read(dir, "probes.tsv")};
    const seen_format *fmt = seen_recognise(file.p, file.len);
    ok(fmt && !strcmp(fmt->name, "parquet-file"), "%s: a Parquet file is recognised",
       name);
    int rc = seen_open_foreign_bytes(file.p, file.len, NULL, NULL, 0, &f);
    if (!ok(rc == 0, "%s: its only column with a filter is found%s%s", name,
            rc ? ": " : "", rc ? seen_reason() : ""))
        return;
    answers(&v, f, "in the whole file");
    ok(seen_convert(f, "parquet", &g) == 0, "%s: the filter is taken out", name);
    bytes b = written(g);
    ok(b.len == bin.len && !memcmp(b.p, bin.p, b.len), "%s: as it stands in the file",
       name);
    free(b.p);
    seen_free(f);
    seen_free(g);
    seen_params p = {.column = "no such"};
    ok(seen_open_foreign_bytes(file.p, file.len, NULL, &p, 0, &f) == SEEN_EFORMAT,
       "%s: another column: %s", name, seen_reason());
    free(file.p), free(bin.p), free(v.keys.p), free(v.probes.p);
}

static void leveldb_extra(const char *root)
{
    char dir[1500];
    seen_filter *f;
    snprintf(dir, sizeof dir, "%s/leveldb", root);
    golden_blob edge = golden_read(dir, "edge.tsv");
    if (edge.p) {
        const char *at = (char *)edge.p, *line, *end;
        unsigned n = 0, wrong = 0;
        for (; (line = golden_line(&at)); n++) {
            golden_blob b = golden_key(line, &end), k = golden_key(end + 1, &end);
            int rc = seen_open_foreign_bytes(b.p, b.len, "leveldb", NULL, 0, &f);
            wrong += rc < 0 || seen_has(f, k.p, k.len) != (end[1] == '1');
            seen_free(f);
            free(b.p), free(k.p);
        }
        ok(wrong == 0, "leveldb: %u odd filters answered as by the real reader", n);
        free(edge.p);
    }
    snprintf(dir, sizeof dir, "%s/leveldb/table", root);
    golden_blob table = golden_read(dir, "table.ldb"),
                keys = golden_read(dir, "keys.tsv");
    golden_blob block = golden_read(dir, "filterblock.bin");
    if (!table.p || !keys.p || !block.p)
        return;
    const seen_format *fmt = seen_recognise(table.p, table.len);
    ok(fmt && !strcmp(fmt->name, "leveldb-table"), "leveldb: a table is recognised");
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "leveldb-block" : "leveldb-table";
        golden_blob b = i ? block : table;
        if (!ok(seen_open_foreign_bytes(b.p, b.len, name, NULL, 0, &f) == 0, "%s opens",
                name))
            continue;
        bool same = true;
        unsigned lost = ask_all(f, keys, true, &same), yes = 0;
        ok(lost == 0 && same, "%s: every key of the database is in", name);
        for (int j = 0; j < 1000; j++) {
            char absent[32];
            int n = snprintf(absent, sizeof absent, "absent-%d", j * 7919);
            yes += seen_has(f, absent, (size_t)n);
        }
        /* 1.2% expected of LevelDB's hash for one filter, at 6 sigma below 4% */
        ok(i || yes < 40, "%s: %u of 1000 absent keys called present", name, yes);
        ok(seen_add(f, "x", 1) == SEEN_EKIND, "%s: takes no keys: %s", name,
           seen_reason());
        char line[600];
        seen_describe(f, line, sizeof line);
        note("%s", line);
        seen_free(f);
    }
    free(table.p), free(keys.p), free(block.p);
}

/* ---- sizes ---------------------------------------------------------------------- */

static void sizes(const char *root, const char *group, const char *format,
                  unsigned flags, int column)
{
    char dir[1500];
    snprintf(dir, sizeof dir, "%s/%s", root, group);
    golden_blob tsv = golden_read(dir, "sizes.tsv");
    if (!tsv.p)
        return;
    const char *at = (char *)tsv.p, *line;
    unsigned n = 0, wrong = 0;
    for (; (line = golden_line(&at)); n++) {
        double f[6] = {0};
        char text[6][40] = {{0}};
        for (int i = 0; i < 6; i++) {
            size_t len = strcspn(line, "\t\n");
            snprintf(text[i], sizeof text[i], "%.*s", (int)len, line);
            f[i] = strtod(text[i], NULL);
            line += len;
            if (*line != '\t')
                break;
            line++;
        }
        seen_params p = {.keys = (uint64_t)f[0], .error = f[1], .flags = flags};
        static const seen_allocator system;
        sn_foreign *o;
        int rc = sn_foreign_new(format, &p, &system, &o);
        double m = f[column], k = f[column + 1];
        if (!strcmp(group, "guava"))
            m *= 64;
        /* Some originals compute sizes that cannot work; here they are refused. */
        bool error = !strcmp(text[column], "error") || m == 0 ||
                     (k == 0 && strcmp(format, "crc32-shift"));
        if (rc < 0 ? !error : error || o->bits.m != (uint64_t)m || o->bits.k != k) {
            if (wrong++ < 5)
                note("%s n=%s p=%s: %s", format, text[0], text[1],
                     rc < 0 ? seen_reason() : "other numbers");
        }
        if (rc == 0)
            sn_foreign_free(o);
    }
    ok(wrong == 0, "%s: %u sizes as the original computes them", format, n);
    free(tsv.p);
}

static void parquet_sizes(const char *root)
{
    char dir[1500];
    snprintf(dir, sizeof dir, "%s/parquet", root);
    golden_blob tsv = golden_read(dir, "sizes-parquet-java.tsv");
    if (!tsv.p)
        return;
    const char *at = (char *)tsv.p, *line;
    unsigned n = 0, wrong = 0;
    for (; (line = golden_line(&at)); n++) {
        static const seen_allocator system;
        sn_foreign *o;
        double keys, error, bits, size;
        sscanf(line, "%lf %lf %lf %lf", &keys, &error, &bits, &size);
        seen_params p = {.keys = (uint64_t)keys, .error = error};
        int rc = sn_foreign_new("parquet", &p, &system, &o);
        uint64_t most = 1 << 20, got = rc < 0 ? 0 : o->bits.have;
        wrong += (double)(got < most ? got : most) != size;
        if (rc == 0)
            sn_foreign_free(o);
    }
    ok(wrong == 0, "parquet: %u sizes as parquet-java computes them", n);
    free(tsv.p);
}

/* ---- the walk ------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The folders in DIR, sorted, the list ended by NULL. */
static char **folders(const char *dir)
{
    char **names = calloc(100, sizeof *names);
    size_t n = 0;
    struct dirent *e;
    DIR *d = opendir(dir);
    while (d && n < 99 && (e = readdir(d))) {
        char path[2000];
        struct stat st;
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        if (e->d_name[0] != '.' && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
            names[n++] = strdup(e->d_name);
    }
    if (d)
        closedir(d);
    qsort(names, n, sizeof *names, by_name);
    return names;
}

static void walk(const char *root)
{
    char **groups = folders(root);
    unsigned seen = 0;
    for (char **g = groups; *g; g++) {
        char dir[1200];
        snprintf(dir, sizeof dir, "%s/%s", root, *g);
        char **names = folders(dir);
        for (char **n = names; *n; n++, seen++) {
            one(root, *g, *n);
            if (!strcmp(*g, "bits-and-blooms"))
                json_form(root, *n);
            if (!strcmp(*g, "parquet"))
                parquet_file(root, *n);
            free(*n);
        }
        free(names);
        free(*g);
    }
    free(groups);
    ok(seen >= 10, "%u vectors in %s", seen, root);
    leveldb_extra(root);
    sizes(root, "bits-and-blooms", "bits-and-blooms", 0, 2);
    sizes(root, "dcso", "dcso", 0, 2);
    sizes(root, "go-crc32-shift16", "crc32-shift", 0, 2);
    sizes(root, "py-mmh3-seed17", "mmh3-17", 0, 2);
    sizes(root, "guava", "guava", SEEN_GUAVA_OLD, 2);
    sizes(root, "guava", "guava", 0, 4);
    parquet_sizes(root);
}

int main(void)
{
    const char *root = golden_root();
    if (!strcmp(root, "tests/golden"))
        ok(1, "vectors of the real libraries # SKIP no ../shared/golden");
    else
        walk(root);
    walk("tests/golden");
    return done();
}
