/* format.c - reads --format NAME[:PARAM=VALUE,...], and opens and saves such files. */
#include "format.h"
#include "gzip_filter.h"
#include "output.h"
#include "did_you_mean.h"
#include "file_kind.h"
#include "messages.h"
#include "human_numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static format_spec chosen;
static bool is_chosen, forced;

/* ---- the option ----------------------------------------------------------------- */

static bool number32(const char *text, uint32_t *out)
{
    uint64_t n;
    if (!kit_parse_count(text, &n) || n > UINT32_MAX)
        return false;
    *out = (uint32_t)n;
    return true;
}

/* "0-6", "2+3+5" or both joined: "0-2+17". */
static bool seed_list(const char *text, format_spec *out)
{
    uint32_t n = 0;
    char *end;
    do {
        errno = 0;
        unsigned long from = strtoul(text, &end, 10), to = from;
        if (end == text || errno)
            return false;
        if (*end == '-') {
            text = end + 1;
            to = strtoul(text, &end, 10);
            if (end == text || errno || to < from)
                return false;
        }
        for (; from <= to; from++) {
            if (n == 64 || from > UINT32_MAX)
                return false;
            out->seeds[n++] = (uint32_t)from;
        }
        text = end + 1;
    } while (*end == '+');
    out->params.seeds = out->seeds;
    out->params.seeds_n = n;
    return *end == 0;
}

static bool set_parameter(format_spec *s, const char *name, const char *value)
{
    seen_params *p = &s->params;
    uint64_t m;
    uint32_t small;
    if (!strcmp(name, "n") || !strcmp(name, "keys"))
        return kit_parse_count(value, &p->keys);
    if (!strcmp(name, "p") || !strcmp(name, "error"))
        return kit_parse_error(value, &p->error);
    if (!strcmp(name, "m") || !strcmp(name, "bits")) {
        if (!strncmp(value, "2^", 2)) { /* as the Redis people write it */
            if (!number32(value + 2, &small) || small > 62)
                return false;
            p->bits = (uint64_t)1 << small;
            return true;
        }
        if (!kit_parse_count(value, &m))
            return false;
        p->bits = m;
        return true;
    }
    if (!strcmp(name, "k") || !strcmp(name, "probes"))
        return number32(value, &p->probes);
    if (!strcmp(name, "b") || !strcmp(name, "bits-per-key"))
        return number32(value, &p->bits_per_key);
    if (!strcmp(name, "expansion"))
        return number32(value, &p->expansion);
    if (!strcmp(name, "seeds"))
        return seed_list(value, s);
    if (!strcmp(name, "row-group"))
        return number32(value, &small) && (p->row_group = (int)small) > 0;
    if (!strcmp(name, "type") && strlen(value) < sizeof s->type) {
        p->type = strcpy(s->type, value);
        return true;
    }
    if (!strcmp(name, "column") && strlen(value) < sizeof s->column) {
        p->column = strcpy(s->column, value);
        return true;
    }
    return false;
}

static bool flag(format_spec *s, const char *name)
{
    static const struct {
        const char *name;
        unsigned flag;
    } flags[] = {{"unsigned", SEEN_HASH_UNSIGNED},
                 {"msb", SEEN_BITS_MSB},
                 {"lsb", SEEN_BITS_LSB},
                 {"old", SEEN_GUAVA_OLD},
                 {"nonscaling", SEEN_NONSCALING}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (!strcmp(name, flags[i].name)) {
            s->params.flags |= flags[i].flag;
            return true;
        }
    return false;
}

static char *append_word(char *list, const char *word)
{
    char *longer;
    if (asprintf(&longer, "%s%s%s", list ? list : "", list ? " " : "", word) < 0)
        kit_die("out of memory");
    free(list);
    return longer;
}

const char *format_names(void)
{
    static char *list;
    size_t n;
    const seen_format *const *all = seen_formats(&n);
    for (size_t i = 0; i < n && (i || !list); i++)
        list = append_word(list, all[i]->name);
    return list;
}

/* Whether `seen new` makes filters of KIND. */
static bool is_made(int kind)
{
    return kind != SEEN_FOREIGN && seen_kind_can((seen_kind)kind) & SEEN_CAN_ADD;
}

const char *kind_names(void)
{
    static char *list;
    if (list)
        return list;
    for (int k = 1; seen_kind_name((seen_kind)k); k++)
        if (is_made(k))
            list = append_word(list, seen_kind_name((seen_kind)k));
    return list = append_word(list, format_names());
}

const char *format_meant(const char *word, bool kinds)
{
    char name[64];
    size_t n;
    const seen_format *const *all = seen_formats(&n);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, ":"), word);
    kit_meant meant = {.word = name};
    for (int k = 1; kinds && seen_kind_name((seen_kind)k); k++)
        if (is_made(k))
            kit_meant_try(&meant, seen_kind_name((seen_kind)k));
    for (size_t i = 0; i < n; i++)
        kit_meant_try(&meant, all[i]->name);
    return kit_meant_ask(&meant, "");
}

const char *format_parse(const char *text, format_spec *out)
{
    static char why[200];
    size_t n = strcspn(text, ":"), formats;
    const seen_format *const *all = seen_formats(&formats);
    *out = (format_spec){0};
    if (n >= sizeof out->name)
        return "no such format";
    memcpy(out->name, text, n);
    size_t i = 0;
    while (i < formats && strcmp(all[i]->name, out->name))
        i++;
    if (i == formats) {
        snprintf(why, sizeof why, "no format '%s'%s ('seen formats' lists them)",
                 out->name, format_meant(out->name, false));
        out->name[0] = 0;
        return why;
    }
    char *copy = kit_copy(text[n] ? text + n + 1 : ""), *rest = copy, *word;
    const char *bad = NULL;
    while (!bad && (word = strsep(&rest, ", "))) {
        char *value = strchr(word, '=');
        if (value)
            *value++ = 0;
        if (*word && !(value ? set_parameter(out, word, value) : flag(out, word))) {
            snprintf(why, sizeof why, "parameter '%.40s%s%.40s' is not understood",
                     word, value ? "=" : "", value ? value : "");
            bad = why;
        }
    }
    free(copy);
    return bad;
}

bool format_option(const kit_parse *p, int key)
{
    const kit_option *o = kit_option_keyed(p->command, key);
    if (key == OPT_FORCE_FORMAT && o && !strncmp(o->help, "With --format", 13)) {
        forced = true;
        return true;
    }
    if (key != OPT_FORMAT)
        return false;
    const char *bad = format_parse(p->arg, &chosen);
    if (bad)
        kit_usage(p, "--format %s: %s", p->arg, bad);
    is_chosen = true;
    return true;
}

bool format_is_chosen(void)
{
    return is_chosen;
}

/* ---- files ---------------------------------------------------------------------- */

/* Unpacked in place; a copy of it only if it is to be changed. */
static int open_packed(const char *name, unsigned mode, named_filter *s)
{
    packed_read(name, s);
    int rc =
        seen_open_foreign_bytes(s->piped, s->piped_len, is_chosen ? chosen.name : NULL,
                                &chosen.params, mode, &s->filter);
    s->gzip = rc == 0;
    return rc;
}

static bool starts_native(const char *name)
{
    char head[5] = "";
    FILE *in = fopen(name, "rb");
    if (in && fread(head, 1, 5, in) < 5)
        head[0] = 0;
    if (in)
        fclose(in);
    return !memcmp(head, "\x89seen", 5);
}

int format_open_as(const char *name, const char *format, seen_filter **out)
{
    bool as_chosen = is_chosen && !strcmp(format, chosen.name);
    return seen_open_foreign(name, format, as_chosen ? &chosen.params : NULL, SEEN_READ,
                             out);
}

int format_open_bytes(const void *bytes, size_t len, seen_filter **out)
{
    bool native = len >= 5 && !memcmp(bytes, "\x89seen", 5);
    if (native && !is_chosen)
        return seen_open_bytes(bytes, len, SEEN_READ, NULL, out);
    return seen_open_foreign_bytes(bytes, len, is_chosen ? chosen.name : NULL,
                                   is_chosen ? &chosen.params : NULL, SEEN_READ, out);
}

/* Whether these bytes are lines of text: not one control character, and a newline. */
static bool is_text(const uint8_t *p, size_t len)
{
    bool newline = false;
    for (size_t i = 0; i < len && i < 1 << 16; i++) {
        newline |= p[i] == '\n';
        if ((p[i] < ' ' && !strchr("\t\n\r", p[i])) || p[i] == 0 || p[i] == 127)
            return false;
    }
    return newline;
}

void format_check_target(const char *name)
{
    if (!is_chosen || forced)
        return;
    struct stat st;
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        kit_die("%s: %s", name, strerror(errno));
    size_t len = (size_t)st.st_size;
    void *p = len ? mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
    close(fd);
    if (!len)
        return;
    if (p == MAP_FAILED)
        kit_die("%s: cannot map: %s", name, strerror(errno));
    const seen_format *is = seen_recognise(p, len);
    if (starts_native(name))
        kit_die("%s: is a filter of seen, not %s: leave out --format", name,
                chosen.name);
    /* guava-32 is guava's container with another hash, which the bytes do not show. */
    bool guava = is && !strcmp(is->name, "guava") && !strcmp(chosen.name, "guava-32");
    if (is && strcmp(is->name, chosen.name) && !guava)
        kit_die("%s: looks like %s, not %s: adding would destroy it (--force if it is "
                "%s nevertheless)",
                name, is->name, chosen.name, chosen.name);
    if (!is && is_text(p, len))
        kit_die("%s: is text, not a filter: adding would destroy it (--force if it is "
                "%s nevertheless)",
                name, chosen.name);
    munmap(p, len);
}

int format_open(const char *name, unsigned how, named_filter *s)
{
    static const uint8_t dcso[8] = {1};
    unsigned mode = how == NAMED_ASK ? SEEN_READ : SEEN_LOAD;
    if (strstr(name, "://") ||
        (!is_chosen && kit_is_file(name) && starts_native(name)))
        return SEEN_EFORMAT;
    if (kit_is_file(name) && packed_starts(name, is_chosen ? NULL : dcso, 8)) {
        int rc = open_packed(name, mode, s);
        if (rc < 0 && is_chosen)
            named_die(name, rc);
        return rc;
    }
    int rc = seen_open_foreign(name, is_chosen ? chosen.name : NULL,
                               is_chosen ? &chosen.params : NULL, mode, &s->filter);
    if (rc < 0 && is_chosen)
        named_die(name, rc);
    return rc;
}

/* A compressor and where its bytes go. */
typedef struct packer {
    z_stream z;
    kit_output *out;
} packer;

static int pack(packer *p, const void *bytes, size_t len, int flush)
{
    uint8_t buf[16384];
    const uint8_t *at = bytes;
    do {
        p->z.next_in = (uint8_t *)at;
        p->z.avail_in = len < 1 << 30 ? (unsigned)len : 1 << 30;
        at += p->z.avail_in;
        len -= p->z.avail_in;
        do {
            p->z.next_out = buf;
            p->z.avail_out = sizeof buf;
            deflate(&p->z, flush);
            if (kit_output_write(p->out, buf, sizeof buf - p->z.avail_out) < 0)
                return SEEN_EIO;
        } while (!p->z.avail_out);
    } while (len);
    return 0;
}

static int put_gzip(void *ctx, const void *bytes, size_t len)
{
    return pack(ctx, bytes, len, Z_NO_FLUSH);
}

int format_write_gzip(const seen_filter *f, kit_output *out)
{
    enum { GZIP = 15 + 16 };
    packer p = {.out = out};
    if (deflateInit2(&p.z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        kit_die("out of memory for compressing");
    int rc = seen_write(f, put_gzip, &p);
    if (rc == 0)
        rc = pack(&p, NULL, 0, Z_FINISH);
    deflateEnd(&p.z);
    return rc;
}
