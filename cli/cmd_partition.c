/* cmd_partition.c - `seen partition`: lines to N files by the hash of their key.
 *
 * Equal keys are in one part, in the order of the input, so that each part can be
 * worked on by itself: `seen uniq` of all parts is that of the whole. */
#include "commands.h"
#include "corpus/dedup.h"
#include "corpus/inputs.h"
#include "human_numbers.h"
#include "lines/keys.h"
#include "output.h"
#include "progress.h"
#include "messages.h"
#include "seed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { OPT_FIELD = 300, OPT_SEED, OPT_PACK, OPT_SKIP_BAD };
enum { MOST_PARTS = 10000, PART_ROOM = 256 << 10 };

static const kit_option options[] = {
    {'N', "parts", "N", "Make N files, part-0 to part-(N-1).",
     .brief = "make N files"},
    {'o', "output", "DIR", "Write them to DIR; they appear when all lines are read.",
     .brief = "in this folder"},
    KEY_OPTIONS,
    {OPT_FIELD, "field", "NAME",
     "Lines are JSON objects, and the key is the text in this field; a.b is b inside "
     "a.",
     .brief = "the key is this field of JSON lines"},
    {OPT_SKIP_BAD, "skip-bad", NULL,
     "Use a line that is not a JSON object with such a field as its own key, instead "
     "of failing."},
    {OPT_PACK, "pack", "HOW",
     "Compress the files: plain, gzip, zstd, bzip2, xz or lz4 [plain].",
     .words = "plain gzip zstd bzip2 xz lz4"},
    {OPT_SEED, "seed", "N",
     "Seed of the hash [1]: with the same seed a key has the same part "
     "everywhere."},
    {'q', "quiet", NULL, "No progress on a terminal."},
    {0},
};

typedef struct part {
    kit_output *out;
    bytes held;
} part;

typedef struct partition {
    keyspec keys;
    json_path field;
    json_text text;
    bool skip_bad, quiet;
    uint64_t parts, seed;
    enum packing pack;
    const char *folder;
    char *const *files;
    size_t nfiles;
    part *part;
    packer *packer;
    bytes packed;
    arena arena;
    uint64_t missing, lines, in_file;
} partition;

static void parse(partition *p, const kit_command *self, int argc, char **argv)
{
    kit_parse o = kit_parse_start("seen partition", self, argc, argv);
    const char *bad;
    for (int key; (key = kit_next(&o));) {
        if (keyspec_option(&p->keys, &o, key))
            continue;
        switch (key) {
        case 'N':
            if (!kit_parse_count(o.arg, &p->parts) || p->parts > MOST_PARTS)
                kit_bad_value(&o, key, "a number of files from 1 to 10000");
            break;
        case 'o':
            p->folder = o.arg;
            break;
        case OPT_FIELD:
            json_path_free(&p->field);
            if ((bad = json_path_set(&p->field, o.arg)))
                kit_bad_value(&o, key, bad);
            break;
        case OPT_SKIP_BAD:
            p->skip_bad = true;
            break;
        case OPT_PACK:
            if (!packing_named(o.arg, &p->pack))
                kit_bad_value(&o, key, "plain, gzip, zstd, bzip2, xz or lz4");
            break;
        case OPT_SEED:
            if (!kit_parse_seed(o.arg, &p->seed))
                kit_bad_value(&o, key, "a number from 1 to 2^64-1");
            break;
        case 'q':
            p->quiet = true;
            break;
        }
    }
    if (!p->parts || !p->folder)
        kit_usage(&o, "give the number of files with -N and their folder with -o");
    if (p->field.levels && (keyspec_has_field(&p->keys) || p->keys.csv))
        kit_usage(&o, "--field is for JSON, -k and --csv are not: give one of them");
    static char *const standard[] = {(char *)"-"};
    p->files = o.at < argc ? argv + o.at : standard;
    p->nfiles = o.at < argc ? (size_t)(argc - o.at) : 1;
}

/* All files are open at once. */
static void raise_limit(uint64_t files)
{
    struct rlimit l;
    if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < files + 64) {
        l.rlim_cur = l.rlim_max < files + 64 ? l.rlim_max : files + 64;
        setrlimit(RLIMIT_NOFILE, &l);
    }
}

static void open_parts(partition *p)
{
    size_t room = strlen(p->folder) + 48;
    char *path = kit_alloc(room);
    int digits = snprintf(NULL, 0, "%llu", (unsigned long long)p->parts - 1);
    raise_limit(p->parts);
    p->part = kit_alloc(p->parts * sizeof *p->part);
    for (uint64_t i = 0; i < p->parts; i++) {
        snprintf(path, room, "%s/part-%0*llu%s", p->folder, digits,
                 (unsigned long long)i, packing_suffix(p->pack));
        if (!i)
            inputs_make_folders(path);
        if (!(p->part[i].out = kit_output_open(path)))
            kit_die("%s: %s%s", path, strerror(errno),
                    errno == EMFILE ? " (fewer parts, or a larger limit: ulimit -n)"
                                    : "");
    }
    free(path);
    if (p->pack != PACK_PLAIN)
        p->packer = packer_new(p->pack, 0);
}

static void write_part(partition *p, part *to)
{
    const bytes *b = &to->held;
    if (p->packer) {
        size_t room = packer_bound(p->packer, b->len);
        p->packed.len = 0;
        p->packed.len =
            packer_run(p->packer, b->data, b->len, bytes_room(&p->packed, room), room);
        b = &p->packed;
    }
    if (kit_output_write(to->out, b->data, b->len) < 0)
        kit_output_fail(to->out);
    to->held.len = 0;
}

/* The key of LINE of the file NAME. */
static seen_key key_of(partition *p, seen_key line, const char *name)
{
    json_line found;
    if (!p->field.levels)
        return keyspec_key(&p->keys, &p->arena, line, &p->missing);
    enum json_code code =
        json_line_read(line.data, line.len, &p->field, NULL, &found, &p->text);
    if (code == JSON_OK)
        return keyspec_bare(&p->keys, &p->arena, (seen_key){p->text.data, p->text.len});
    if (!p->skip_bad)
        kit_die("%s:%llu: %s%s (--skip-bad takes such lines as they are)",
                strcmp(name, "-") ? name : "standard input",
                (unsigned long long)p->in_file, json_code_words(code),
                code >= JSON_NO_FIELD && code <= JSON_TWICE ? " of that name" : "");
    return line;
}

static void take_block(partition *p, const kit_block *b)
{
    const char *at = b->data, *end = at + b->len;
    seen_key line[256];
    char comma = keyspec_comma(&p->keys), term = (char)p->keys.term;
    while (at < end) {
        size_t n = p->keys.csv ? kit_cut_csv(&at, end, p->keys.term, comma, line, 256)
                               : kit_cut(&at, end, p->keys.term, line, 256);
        for (size_t i = 0; i < n; i++) {
            p->in_file++;
            seen_key key = key_of(p, line[i], p->files[b->file]);
            uint64_t h = seen_hash_seeded(p->seed, key.data, key.len);
            part *to = p->part + (size_t)((__uint128_t)h * p->parts >> 64);
            bytes_put(&to->held, line[i].data, line[i].len);
            bytes_put(&to->held, &term, 1);
            if (to->held.len >= PART_ROOM)
                write_part(p, to);
        }
        p->lines += n;
        arena_reset(&p->arena);
    }
}

static void close_parts(partition *p)
{
    for (uint64_t i = 0; i < p->parts; i++) {
        part *to = p->part + i;
        write_part(p, to);
        if (kit_output_finish(to->out, 0) < 0)
            kit_output_fail(to->out);
    }
    for (uint64_t i = 0; i < p->parts; i++) {
        if (kit_output_commit(p->part[i].out) < 0)
            kit_output_fail(p->part[i].out);
        kit_output_close(p->part[i].out);
        free(p->part[i].held.data);
    }
    free(p->part);
    packer_free(p->packer);
    free(p->packed.data);
}

static int partition_main(const kit_command *self, int argc, char **argv)
{
    partition p = {.keys = KEYSPEC_INIT, .seed = 1, .pack = PACK_PLAIN};
    parse(&p, self, argc, argv);
    const char *bad = kit_lines_check(p.files, p.nfiles);
    if (bad)
        kit_die("%s", bad);
    keyspec_check(&p.keys);
    if (keyspec_has_name(&p.keys))
        kit_die("--key: '%s': a header belongs to its file, and the parts would have "
                "none: give the number of the field",
                p.keys.asked);
    open_parts(&p);
    kit_lines *r = kit_lines_new(p.files, p.nfiles, p.keys.term);
    if (p.keys.csv)
        kit_lines_csv(r, keyspec_comma(&p.keys));
    kit_block b = {0};
    size_t file = 0;
    int got;
    kit_progress_start_silent(p.quiet);
    while ((got = kit_lines_next(r, &b)) > 0) {
        if (b.file != file)
            p.in_file = 0;
        file = b.file;
        take_block(&p, &b);
        if (kit_progress_due())
            kit_progress_show(&(kit_progress){.taken = kit_lines_taken(r),
                                              .total = kit_lines_total(r),
                                              .lines = p.lines});
    }
    if (got < 0)
        kit_die("%s", kit_lines_error(r));
    close_parts(&p);
    kit_progress_end();
    kit_block_free(&b);
    kit_lines_free(r);
    arena_free(&p.arena);
    json_text_free(&p.text);
    json_path_free(&p.field);
    return 0;
}

const kit_command cmd_partition = {
    .name = "partition",
    .summary = "distribute lines over files by the hash of their key",
    .usage = "-N N -o DIR [OPTION]... [FILE]...",
    .about =
        "Writes each line of the FILEs, or of standard input, to one of N files, "
        "chosen by the hash of the line or of one of its fields. Lines with equal "
        "keys are in one file, "
        "in the order of the input, so that each file can be worked on by itself, on "
        "another machine or with 1/N of the memory. Every machine puts a key into the "
        "same part.",
    .options = options,
    .examples = "# Sixteen files, each with its part of the addresses\n"
                "$ seen partition -N 16 -o parts urls.txt\n"
                "# JSON lines by a field\n"
                "$ seen partition -N 4 -o parts --field text --pack zstd in/a.jsonl\n",
    .run = partition_main,
};
