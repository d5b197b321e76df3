/* cmd_info.c - `seen info` and `seen verify`: shows and checks a filter. */
#include "commands.h"
#include "filters/format.h"
#include "json.h"
#include "messages.h"
#include "human_numbers.h"
#include "filters/named_filter.h"
#include "filters/remote_filter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { OPT_JSON = 300 };

static const kit_option info_options[] = {
    {OPT_JSON, "json", NULL,
     "Print JSON: an object, or an array of them for several filters."},
    OPTION_FORMAT,
    {0},
};

static const kit_option no_options[] = {{0}};

/* How full it is: a bar of forty characters with the best fill marked. */
static void picture(const seen_stats *st)
{
    char bar[41];
    bool set =
        st->kind == SEEN_SET || st->kind == SEEN_CUCKOO || st->kind == SEEN_QUOTIENT;
    int full = (int)(st->fill * 40 + 0.5);
    for (int i = 0; i < 40; i++)
        bar[i] = i < full ? '#' : '.';
    if (!set && bar[20] == '.')
        bar[20] = '|';
    bar[40] = 0;
    if (st->kind == SEEN_RIBBON)
        return; /* its bits solve equations: half of them are always set */
    printf("  fill       [%s] %.1f%%%s\n", bar, 100 * st->fill,
           set ? "" : ", best at 50%");
}

/* The secret of the hash is in the file: who can read it can choose keys that collide.
 */
static void show_secret(const char *name, const seen_stats *st)
{
    struct stat file;
    bool others = strcmp(name, "-") && stat(name, &file) == 0 &&
                  S_ISREG(file.st_mode) && file.st_mode & 077;
    if (st->hash != SEEN_HASH_KEYED)
        return;
    printf("  secret     inside: the 128 bits that key its hash");
    if (others)
        printf("; others may read the file, mode %03o (chmod 600)",
               file.st_mode & 0777u);
    printf("\n");
}

/* Another system's filter: what it is, and what can be done with it here. */
static void show_foreign(const char *name, const seen_filter *f,
                         const seen_format *format)
{
    seen_stats st;
    char text[600];
    seen_get_stats(f, &st);
    seen_describe(f, text, sizeof text);
    printf("%s\n  format     %s: %s\n  is         %s\n", name, format->name,
           format->about, text);
    picture(&st);
    printf("  can        ask%s%s%s\n", format->can & SEEN_FORMAT_ADD ? ", add" : "",
           format->can & SEEN_FORMAT_REMOVE ? ", remove" : "",
           format->can & SEEN_FORMAT_WRITE ? ", write back" : "");
}

/* Whether keys are fingerprints in filters of KIND, not bits that are set. */
static bool has_fingerprints(seen_kind kind)
{
    return kind == SEEN_SET || kind == SEEN_CUCKOO || kind == SEEN_RIBBON ||
           kind == SEEN_QUOTIENT;
}

/* What its keys are. */
static const char *type_of(const seen_filter *f)
{
    seen_keys type = seen_keys_of(f);
    return type == SEEN_KEYS_UNSAID ? "of any type" : seen_keys_name(type);
}

/* The id in hexadecimal digits and the number of the generation; false: none. */
static bool identity(const seen_filter *f, char hex[33], uint64_t *generation)
{
    seen_identity at;
    if (!seen_get_identity(f, &at))
        return false;
    for (int i = 0; i < 16; i++)
        snprintf(hex + 2 * i, 3, "%02x", at.id[i]);
    *generation = at.generation >> 32;
    return true;
}

static void show(const char *name, const seen_filter *f)
{
    if (seen_format_of(f)) {
        show_foreign(name, f, seen_format_of(f));
        return;
    }
    seen_stats st;
    char a[32], b[32];
    seen_get_stats(f, &st);
    unsigned can = seen_kind_can(st.kind);
    if (st.flags & SEEN_ONCE)
        can &= ~(unsigned)SEEN_CAN_REMOVE;
    const char *kind = seen_kind_name(st.kind);
    printf("%s\n  kind       %s, %u layer%s, %s %.3g\n", name, kind ? kind : "unknown",
           st.layers, st.layers == 1 ? "" : "s",
           has_fingerprints(st.kind) ? "fingerprint bits" : "probes",
           fingerprint_bits(st.kind, st.probes, st.error_now));
    printf("  keys       %s", kit_show_count(st.added, a));
    if (st.capacity)
        printf(" of %s", kit_show_count(st.capacity, b));
    printf("%s, %s\n",
           st.flags & SEEN_FIXED ? ", fixed"
           : can & SEEN_CAN_GROW ? ", grows"
                                 : "",
           type_of(f));
    printf("  memory     %s", kit_show_bytes((double)st.bytes, a));
    if (st.added)
        printf(", %.1f bits a key", (double)st.bits / (double)st.added);
    printf("\n");
    picture(&st);
    /* Three digits, unless rounding could take them beyond what was promised. */
    bool near = st.error_wanted > 0 && st.error_now * 1.005 > st.error_wanted;
    printf("  error      %.*g now", near ? 6 : 3, st.error_now);
    if (st.error_wanted > 0 && st.kind != SEEN_SET)
        printf(", at most %g promised", st.error_wanted);
    printf("\n");
    if (st.kind == SEEN_SET)
        printf("             chance that any key was lost while it was filled: %.2g\n",
               st.lost_expected);
    else if (st.lost_expected > 0) {
        double low, high;
        seen_lost_range(f, 0, &low, &high);
        printf("  lost       %s new keys expected to have been taken for old ones",
               kit_expected(st.lost_expected));
        if (high > 0)
            printf(" (%s to %s)", kit_counted((uint64_t)low),
                   kit_counted((uint64_t)high));
        printf("\n");
    }
    char id[33];
    uint64_t generation;
    if (identity(f, id, &generation))
        printf("  id         %s, generation %llu\n", id,
               (unsigned long long)generation);
    printf("  can        ask%s%s%s%s%s\n", can & SEEN_CAN_ADD ? ", add" : "",
           can & SEEN_CAN_REMOVE ? ", remove" : "",
           can & SEEN_CAN_MERGE ? ", merge" : "",
           can & SEEN_CAN_GROW && !(st.flags & SEEN_FIXED) ? ", grow" : "",
           st.dirty ? " (dirty: being written, or not closed after writing)" : "");
    show_secret(name, &st);
}

static void show_json(kit_json *j, const char *name, const seen_filter *f)
{
    seen_stats st;
    seen_get_stats(f, &st);
    kit_json_open(j, NULL, '{');
    kit_json_text(j, "file", name);
    kit_json_text(j, "kind",
                  seen_kind_name(st.kind) ? seen_kind_name(st.kind) : "unknown");
    if (seen_format_of(f))
        kit_json_text(j, "format", seen_format_of(f)->name);
    kit_json_count(j, "layers", st.layers);
    kit_json_count(j, "probes", st.probes);
    if (has_fingerprints(st.kind))
        kit_json_real(j, "fingerprint_bits",
                      fingerprint_bits(st.kind, st.probes, st.error_now));
    kit_json_count(j, "keys", st.added);
    kit_json_real(j, "keys_estimate", st.keys_estimate);
    kit_json_count(j, "capacity", st.capacity);
    kit_json_count(j, "bits", st.bits);
    kit_json_count(j, "bits_set", st.bits_set);
    kit_json_count(j, "bytes", st.bytes);
    kit_json_real(j, "fill", st.fill);
    kit_json_real(j, "error", st.error_now);
    kit_json_real(j, "error_promised", st.error_wanted);
    double low, high;
    seen_lost_range(f, 0, &low, &high);
    kit_json_real(j, "expected_lost", st.lost_expected);
    kit_json_count(j, "lost_at_least", (uint64_t)low);
    kit_json_count(j, "lost_at_most", (uint64_t)high);
    char id[33];
    uint64_t generation;
    kit_json_text(j, "key_type", type_of(f));
    if (identity(f, id, &generation)) {
        kit_json_text(j, "id", id);
        kit_json_count(j, "generation", generation);
    }
    kit_json_bool(j, "fixed", st.flags & SEEN_FIXED);
    kit_json_bool(j, "dirty", st.dirty);
    kit_json_bool(j, "secret", st.hash == SEEN_HASH_KEYED);
    kit_json_close(j, '}');
}

static int info_main(const kit_command *self, int argc, char **argv)
{
    kit_parse p = kit_parse_start("seen info", self, argc, argv);
    kit_json j = {.to = stdout};
    bool json = false;
    for (int o; (o = kit_next(&p));)
        json |= !format_option(&p, o) && o == OPT_JSON;
    if (p.at == argc)
        kit_usage(&p, "which FILTER?");
    /* All are opened before the first is shown: JSON that breaks off is useless. */
    int n = argc - p.at;
    named_filter **s = kit_alloc((size_t)n * sizeof *s);
    for (int i = 0; i < n; i++) {
        s[i] = named_open(argv[p.at + i], NAMED_ASK);
        if (!s[i]->filter && (json || !s[i]->ops->show))
            kit_die("%s: a %s filter cannot be described as JSON", s[i]->name,
                    s[i]->ops->kind);
    }
    if (json && n > 1)
        kit_json_open(&j, NULL, '[');
    for (int i = 0; i < n; i++) {
        if (!s[i]->filter)
            s[i]->ops->show(s[i]);
        else if (json)
            show_json(&j, s[i]->name, s[i]->filter);
        else
            show(s[i]->name, s[i]->filter);
        named_close(s[i]);
    }
    if (json && n > 1)
        kit_json_close(&j, ']');
    free(s);
    return 0;
}

static int verify_main(const kit_command *self, int argc, char **argv)
{
    kit_parse p = kit_parse_start("seen verify", self, argc, argv);
    while (kit_next(&p))
        ;
    if (p.at == argc)
        kit_usage(&p, "which FILTER?");
    int status = 0;
    for (int i = p.at; i < argc; i++) {
        if (remote_is_url(argv[i])) { /* a server's: whether all pieces are there */
            named_filter *s = named_open(argv[i], NAMED_ASK);
            s->ops->show(s);
            named_close(s);
            continue;
        }
        named_filter *s = NULL;
        seen_stats st = {0};
        int rc = named_try(argv[i], &s);
        if (rc == 0 && seen_format_of(s->filter)) {
            printf("%s: unknown: %s has no checksums\n", argv[i],
                   seen_format_of(s->filter)->name);
            status = status ? status : 1;
            named_close(s);
            continue;
        }
        if (rc == 0) {
            rc = seen_verify(s->filter);
            seen_get_stats(s->filter, &st);
            named_close(s);
        }
        if (rc == 0 && st.dirty) {
            /* A file that is being written has the checksums of its last flush. */
            printf("%s: unknown: it is open for writing, or was not closed\n", argv[i]);
            status = status ? status : 1;
            continue;
        }
        if (rc == 0) {
            printf("%s: good\n", argv[i]);
            continue;
        }
        status = 2;
        if (strstr(seen_reason(), argv[i]))
            kit_warn("%s", seen_reason());
        else
            kit_warn("%s: %s", argv[i], seen_reason());
    }
    return status;
}

const kit_command cmd_info = {
    .name = "info",
    .summary = "show what a filter is and how full it is",
    .usage = "[OPTION]... FILTER...",
    .about =
        "Shows kind, keys, memory, fill and present error of each FILTER, computed "
        "from the bits themselves (from a sample of them in large filters).",
    .options = info_options,
    .examples = "# For people\n$ seen info visited.seen\n"
                "# For programs\n$ seen info --json visited.seen\n",
    .run = info_main,
};

const kit_command cmd_verify = {
    .name = "verify",
    .summary = "check a filter's checksums",
    .usage = "FILTER...",
    .about =
        "Reads each FILTER completely and compares it with the checksums in it. For "
        "one in Redis, redis://host:port/name, says whether every piece is there.",
    .options = no_options,
    .status =
        "0 if all are good, 1 if one cannot be checked because it is open for writing, "
        "was not closed, or has no checksums, 2 if one is damaged or cannot be read.",
    .examples = "# After a copy\n$ seen verify visited.seen\n",
    .run = verify_main,
};
