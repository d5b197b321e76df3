/* parquet_file.c - the filters of one column of a whole Parquet file, read only.
 *
 * The footer records where each row group has the filter of each column; a key is found
 * if the filter of any row group has it. A row group that has rows but no filter
 * (writers leave it out for chunks with a dictionary) may hold any key: then every
 * answer is yes. The column's physical type determines how a key is hashed, so integers
 * can be given as text without further options. */
#include "foreign/sbbf.h"
#include "foreign/keytype.h"
#include "foreign/thrift.h"
#include "base/bytes.h"
#include "hash/foreign_hashes.h"
#include <stdio.h>

typedef struct filters {
    uint64_t blind; /* row groups without a filter: if any, all keys may be in */
    uint32_t n, room;
    sn_layer layer[];
} filters;

typedef struct column {
    char name[256]; /* the path, joined by dots; dots in a name are written \. */
    bool cut;       /* the path is longer than that */
    int64_t offset; /* of the filter; -1: none */
    int type;       /* physical; -1: unknown */
} column;

/* What to look for in the footer, and what was found. */
typedef struct search {
    sn_foreign *f;
    int row_group;    /* 0: all */
    const char *want; /* NULL: the only column with filters */
    char found[256];  /* the chosen column */
    char others[256]; /* names with filters, for the message */
    filters *into;    /* NULL: only count */
    uint32_t hits;
    uint64_t blind; /* row groups with rows and without a filter of the column */
    int type, rc;
} search;

static bool recognises(const uint8_t *p, uint64_t len)
{
    return len >= 12 && !memcmp(p, "PAR1", 4) && !memcmp(p + len - 4, "PAR1", 4);
}

static void path_put(column *c, size_t *at, uint8_t byte)
{
    if (*at < sizeof c->name - 1)
        c->name[(*at)++] = (char)byte;
    else
        c->cut = true;
}

static void path_read(sn_thrift *t, column *c)
{
    int type;
    size_t at = 0;
    uint64_t n = sn_thrift_list(t, &type);
    for (uint64_t i = 0; i < n && !t->bad; i++) {
        size_t len;
        const uint8_t *s = sn_thrift_binary(t, &len);
        if (type != SN_T_BINARY)
            t->bad = true;
        if (i)
            path_put(c, &at, '.');
        for (size_t j = 0; j < len && !t->bad && !c->cut; j++) {
            if (s[j] == '.' || s[j] == '\\')
                path_put(c, &at, '\\');
            path_put(c, &at, s[j]);
        }
    }
    c->name[at] = 0;
}

/* ColumnMetaData. */
static void meta_read(sn_thrift *t, column *c)
{
    uint32_t id = 0;
    for (int type; (type = sn_thrift_field(t, &id)) > 0;) {
        if (id == 1 && type == SN_T_I32)
            c->type = (int)sn_thrift_int(t);
        else if (id == 3 && type == SN_T_LIST)
            path_read(t, c);
        else if (id == 14 && type == SN_T_I64)
            c->offset = sn_thrift_int(t);
        else
            sn_thrift_skip(t, type);
    }
}

static void filter_take(search *s, const column *c, uint64_t group)
{
    sn_foreign *f = s->f;
    uint64_t head, bytes, at = (uint64_t)c->offset;
    if (c->offset < 4 || at >= f->len) {
        s->rc = sn_fail(SEEN_EFORMAT,
                        "row group %llu: bloom_filter_offset %lld lies outside",
                        (unsigned long long)group + 1, (long long)c->offset);
        return;
    }
    s->rc = sn_sbbf_header(f->file + at, f->len - at, &head, &bytes);
    if (s->rc == SEEN_OK && bytes > f->len - at - head)
        s->rc =
            sn_fail(SEEN_EFORMAT, "row group %llu: a filter of %llu bytes ends outside",
                    (unsigned long long)group + 1, (unsigned long long)bytes);
    if (s->rc == SEEN_OK && s->into && s->into->n < s->into->room)
        s->rc =
            sn_sbbf_layer(&s->into->layer[s->into->n++], f->file + at + head, bytes);
    s->hits++;
}

/* True if NAME is one of the names in LIST, which are separated by ", ". */
static bool listed(const char *list, const char *name)
{
    size_t len = strlen(name);
    if (!len)
        return true; /* not worth listing, and strstr finds it anywhere */
    for (const char *at = list; (at = strstr(at, name)); at++)
        if ((at == list || at[-1] == ' ') && (!at[len] || at[len] == ','))
            return true;
    return false;
}

/* Looks at one column of a row group. Returns true if it is the wanted column and has a
 * filter. */
static bool column_see(search *s, const column *c, uint64_t group)
{
    if (c->cut) {
        s->rc = sn_fail(SEEN_EFORMAT, "row group %llu: the path of a column is longer "
                                      "than 255 bytes",
                        (unsigned long long)group + 1);
        return false;
    }
    if (c->offset >= 0 && !listed(s->others, c->name)) {
        size_t at = strlen(s->others);
        snprintf(s->others + at, sizeof s->others - at, "%s%s", at ? ", " : "",
                 c->name);
    }
    if (c->offset < 0 || (s->want && strcmp(s->want, c->name) != 0))
        return false;
    if (!s->want && *s->found && strcmp(s->found, c->name)) {
        s->rc = SEEN_EINVAL; /* ambiguous; reported when all names are known */
        return false;
    }
    snprintf(s->found, sizeof s->found, "%s", c->name);
    s->type = c->type;
    filter_take(s, c, group);
    return true;
}

/* RowGroup: field 1 is the list of ColumnChunk, whose field 3 is the metadata; field 3
 * is the number of rows. */
static void group_read(sn_thrift *t, search *s, uint64_t group)
{
    uint32_t id = 0;
    int64_t rows = -1;
    bool wanted = !s->row_group || (uint64_t)s->row_group == group + 1, seen = false;
    for (int type; (type = sn_thrift_field(t, &id)) > 0;) {
        int inner;
        if (id == 3 && type == SN_T_I64) {
            rows = sn_thrift_int(t);
            continue;
        }
        if (id != 1 || type != SN_T_LIST) {
            sn_thrift_skip(t, type);
            continue;
        }
        uint64_t n = sn_thrift_list(t, &inner);
        for (uint64_t i = 0; i < n && !t->bad; i++) {
            column c = {.offset = -1, .type = -1};
            uint32_t field = 0;
            for (int ct; (ct = sn_thrift_field(t, &field)) > 0;)
                if (field == 3 && ct == SN_T_STRUCT)
                    meta_read(t, &c);
                else
                    sn_thrift_skip(t, ct);
            if (wanted && !t->bad && (s->rc == SEEN_OK || s->rc == SEEN_EINVAL))
                seen |= column_see(s, &c, group);
        }
    }
    s->blind += wanted && !seen && rows != 0;
}

static int footer_walk(search *s)
{
    const sn_foreign *f = s->f;
    if (f->len >= 4 && !memcmp(f->file + f->len - 4, "PARE", 4))
        return sn_fail(SEEN_EFORMAT, "the footer is encrypted");
    if (!recognises(f->file, f->len))
        return sn_wrong_length(f->len > 8 && !memcmp(f->file, "PAR1", 4),
                               "no PAR1 at both ends");
    uint64_t size = sn_le32(f->file + f->len - 8);
    if (size > f->len - 12)
        return sn_fail(SEEN_EFORMAT, "a footer of %llu bytes in a file of %llu",
                       (unsigned long long)size, (unsigned long long)f->len);
    const uint8_t *end = f->file + f->len - 8;
    sn_thrift t = {end - size, end, false, 0};
    uint32_t id = 0;
    uint64_t groups = 0;
    for (int type; (type = sn_thrift_field(&t, &id)) > 0;) {
        int inner;
        if (id != 4 || type != SN_T_LIST) {
            sn_thrift_skip(&t, type);
            continue;
        }
        uint64_t n = sn_thrift_list(&t, &inner);
        for (uint64_t i = 0; i < n && !t.bad; i++)
            group_read(&t, s, i);
        groups = n;
    }
    if (t.bad)
        return sn_fail(SEEN_EFORMAT, "the footer is not a Thrift structure");
    if (s->rc == SEEN_EINVAL)
        return sn_fail(SEEN_EINVAL, "which column? filters exist for %s", s->others);
    if (s->rc < 0)
        return s->rc;
    if (s->row_group && (uint64_t)s->row_group > groups)
        return sn_fail(SEEN_EINVAL, "row group %d of a file with %llu", s->row_group,
                       (unsigned long long)groups);
    if (!s->hits)
        return sn_fail(SEEN_EFORMAT, "no filter%s%s; filters exist for %s",
                       s->want ? " for column " : " in the file",
                       s->want ? s->want : "", *s->others ? s->others : "no column");
    return SEEN_OK;
}

static void close_filters(sn_foreign *f)
{
    filters *all = f->own;
    if (all)
        sn_free(&f->alloc, all, sizeof *all + all->room * sizeof *all->layer);
    f->own = NULL;
}

static int open_file(sn_foreign *f, const seen_params *params)
{
    static const sn_keytype types[8] = {SN_KEY_BYTES, SN_KEY_INT32, SN_KEY_INT64,
                                        SN_KEY_BYTES, SN_KEY_FLOAT, SN_KEY_DOUBLE,
                                        SN_KEY_BYTES, SN_KEY_BYTES};
    search s = {.f = f, .row_group = params->row_group, .want = params->column};
    int rc = footer_walk(&s);
    if (rc < 0)
        return rc;
    filters *all = sn_alloc(&f->alloc, sizeof *all + s.hits * sizeof *all->layer);
    if (!all)
        return sn_no_memory("no memory for %u filters", s.hits);
    all->room = s.hits;
    f->own = all;
    char taken[sizeof s.found];
    memcpy(taken, s.found, sizeof taken);
    s = (search){.f = f, .row_group = params->row_group, .want = taken, .into = all};
    rc = footer_walk(&s);
    if (rc < 0) {
        close_filters(f);
        return rc;
    }
    all->blind = s.blind;
    if (!params->type && s.type >= 0 && s.type < 8)
        f->type = types[s.type];
    f->layers = all->n;
    if (all->n == 1 && !all->blind) { /* a single bitset can be extracted */
        f->rule = SN_RULE_SBBF;
        f->bits = (sn_bits){.at = all->layer[0].body,
                            .have = all->layer[0].len,
                            .m = all->layer[0].len * 8,
                            .k = 8};
    }
    return SEEN_OK;
}

static void has(const sn_foreign *f, const seen_key *keys, size_t n, bool *found)
{
    const filters *all = f->own;
    for (size_t i = 0; i < n; i++) {
        uint64_t h = sn_xxh64(keys[i].data, keys[i].len, 0);
        found[i] = all->blind > 0;
        for (uint32_t j = 0; j < all->n && !found[i]; j++)
            sn_sbbf_has(&all->layer[j], &h, 1, &found[i]);
    }
}

static void stats(const sn_foreign *f, seen_stats *out)
{
    const filters *all = f->own;
    double miss = 1;
    out->bits = out->bits_set = out->bytes = 0;
    out->keys_estimate = 0;
    out->probes = 8;
    for (uint32_t j = 0; j < all->n; j++) {
        sn_measure m;
        sn_split.measure(&all->layer[j], &m);
        out->bits += m.bits;
        out->bits_set += m.bits_set;
        out->bytes += all->layer[j].len;
        out->keys_estimate += m.keys;
        miss *= 1 - m.error;
    }
    out->fill = (double)out->bits_set / (double)out->bits;
    out->error_now = all->blind ? 1 : 1 - miss;
}

static int describe(const sn_foreign *f, char *buf, size_t size)
{
    const filters *all = f->own;
    if (all->blind)
        return snprintf(
            buf, size,
            ", %s keys, %llu row group%s without a filter: any key may be in",
            sn_keytype_name(f->type), (unsigned long long)all->blind,
            all->blind == 1 ? "" : "s");
    return snprintf(buf, size, ", %s keys", sn_keytype_name(f->type));
}

const sn_format sn_fmt_parquet_file = {
    .pub = {"parquet-file", "the filters of one column of a Parquet file, read only",
            "column, if several have filters", "", SEEN_FORMAT_KNOWN},
    .types = SN_SBBF_TYPES,
    .recognises = recognises,
    .open = open_file,
    .has = has,
    .stats = stats,
    .describe = describe,
    .close = close_filters,
};
