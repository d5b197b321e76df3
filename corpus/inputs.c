/* inputs.c - finds the files, names the results. */
#include "inputs.h"
#include "output.h"
#include "messages.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The size of a pipe is unknown: its filter begins with 20 MB, of which only the pages
 * in use take memory. */
static const uint64_t pipe_text = 100 << 20;

static char *join(const char *folder, const char *name)
{
    size_t n = strlen(folder);
    char *path = kit_alloc(n + strlen(name) + 2);
    sprintf(path, "%s%s%s", folder, n && folder[n - 1] != '/' ? "/" : "", name);
    return path;
}

static void take_file(inputs *in, const char *path, const char *name,
                      const struct stat *st)
{
    if (access(path, R_OK) < 0)
        kit_die("%s: %s", path, strerror(errno));
    in->of = kit_grow(in->of, in->n + 1, sizeof *in->of);
    input *f = in->of + in->n++;
    bool regular = S_ISREG(st->st_mode);
    *f = (input){.path = kit_copy(path), .name = kit_copy(name)};
    f->packing = regular ? packing_of(path) : PACK_PLAIN;
    f->size = regular ? (uint64_t)st->st_size : 0;
    f->piped = !regular;
    f->changed = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int not_hidden(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

static void take_folder(inputs *in, const char *path, const char *name)
{
    struct dirent **entry;
    int n = scandir(path, &entry, not_hidden, by_name);
    if (n < 0)
        kit_die("%s: %s", path, strerror(errno));
    for (int i = 0; i < n; i++) {
        char *inner = join(path, entry[i]->d_name),
             *under = join(name, entry[i]->d_name);
        struct stat st;
        if (stat(inner, &st) < 0)
            kit_die("%s: %s", inner, strerror(errno));
        if (S_ISDIR(st.st_mode))
            take_folder(in, inner, under);
        else if (S_ISREG(st.st_mode))
            take_file(in, inner, under, &st);
        free(inner);
        free(under);
        free(entry[i]);
    }
    free(entry);
}

/* NAME with the ending for PACKING, if the file is packed in another way. */
static char *rename_packed(const input *f)
{
    size_t n = strlen(f->name), s = strlen(packing_suffix(f->packing));
    bool has = s && n > s && strcmp(f->name + n - s, packing_suffix(f->packing)) == 0;
    char *name = kit_alloc(n + 8);
    if (f->packed == f->packing)
        return strcpy(name, f->name);
    sprintf(name, "%.*s%s", (int)(has ? n - s : n), f->name, packing_suffix(f->packed));
    return name;
}

/* documents/a/b.jsonl.gz is attributes/ATTRIBUTE/a/b.jsonl.gz. */
static char *place(const char *folder, const char *name, const char *path,
                   const char *attribute)
{
    if (!attribute)
        return join(folder, name);
    const char *under = strstr(path, "documents/");
    size_t n = strlen(attribute) + 16;
    char *inner = kit_alloc(n), *target;
    snprintf(inner, n, "attributes/%s", attribute);
    char *outer = join(folder, inner);
    if (under) { /* the name may have got another ending */
        const char *base = strrchr(name, '/');
        char *rest = kit_copy(under + 10), *slash = strrchr(rest, '/');
        if (slash)
            slash[1] = 0;
        else
            rest[0] = 0;
        char *whole = kit_alloc(strlen(rest) + strlen(name) + 1);
        sprintf(whole, "%s%s", rest, base ? base + 1 : name);
        target = join(outer, whole);
        free(rest);
        free(whole);
    } else {
        target = join(outer, name);
    }
    free(inner);
    free(outer);
    return target;
}

static int by_target(const void *a, const void *b)
{
    return strcmp((*(input *const *)a)->target, (*(input *const *)b)->target);
}

static void check_targets(const inputs *in)
{
    input **all = kit_alloc(in->n * sizeof *all);
    for (size_t i = 0; i < in->n; i++)
        all[i] = in->of + i;
    qsort(all, in->n, sizeof *all, by_target);
    for (size_t i = 0; i + 1 < in->n; i++)
        if (strcmp(all[i]->target, all[i + 1]->target) == 0)
            kit_die("%s and %s would both become %s: give their folder instead",
                    all[i]->path, all[i + 1]->path, all[i]->target);
    for (size_t i = 0; i < in->n; i++)
        if (kit_output_same(all[i]->path, all[i]->target))
            kit_die("%s would be replaced by its result: give another folder to -o",
                    all[i]->path);
    free(all);
}

inputs inputs_find(char *const *operands, size_t n, const char *folder,
                   enum packing pack, const char *attribute)
{
    inputs in = {0};
    static char *const standard[] = {(char *)"-"};
    if (!n)
        operands = standard, n = 1;
    for (size_t i = 0; i < n; i++) {
        struct stat st;
        const char *path = operands[i];
        bool piped = strcmp(path, "-") == 0;
        if (piped) {
            in.of = kit_grow(in.of, in.n + 1, sizeof *in.of);
            input *f = in.of + in.n++;
            *f = (input){.path = kit_copy("-"), .name = kit_copy("stdin.jsonl")};
            /* If standard input is a file, its size is known. */
            off_t at = fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode)
                           ? lseek(STDIN_FILENO, 0, SEEK_CUR)
                           : -1;
            f->piped = at < 0;
            if (at >= 0 && at < st.st_size)
                f->size = (uint64_t)(st.st_size - at);
            continue;
        }
        if (stat(path, &st) < 0)
            kit_die("%s: %s", path, strerror(errno));
        const char *slash = strrchr(path, '/');
        if (S_ISDIR(st.st_mode))
            take_folder(&in, path, "");
        else
            take_file(&in, path, slash ? slash + 1 : path, &st);
    }
    for (size_t i = 0; i < in.n; i++) {
        input *f = in.of + i;
        f->packed = pack != PACK_AS_INPUT ? pack : folder ? f->packing : PACK_PLAIN;
        if (folder) {
            char *name = rename_packed(f);
            f->target = place(folder, name, f->path, attribute);
            free(name);
        }
        in.size += f->size;
        in.bytes += (uint64_t)((double)f->size * packing_ratio(f->packing));
    }
    for (size_t i = 0; i < in.n; i++)
        if (in.of[i].piped) {
            in.bytes += pipe_text;
            in.size = 0;
        }
    if (folder)
        check_targets(&in);
    return in;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Whether ALL has a name twice. */
static const char *twice(const char **all, size_t n)
{
    qsort(all, n, sizeof *all, by_text);
    for (size_t i = 0; i + 1 < n; i++)
        if (strcmp(all[i], all[i + 1]) == 0)
            return all[i];
    return NULL;
}

void inputs_keep_removed(inputs *in, const char *folder)
{
    const char **all = kit_alloc(3 * in->n * sizeof *all), *same = NULL;
    size_t names = 0;
    for (size_t i = 0; i < in->n; i++) {
        input *f = in->of + i;
        char *name = rename_packed(f);
        f->gone = join(folder, name);
        free(name);
        inputs_make_folders(f->gone); /* so that its place can be compared */
        all[names++] = f->path;
        all[names++] = f->gone;
        if (f->target) {
            inputs_make_folders(f->target);
            all[names++] = f->target;
        }
        if (kit_output_same(f->gone, f->path) ||
            (f->target && kit_output_same(f->gone, f->target)))
            same = f->gone;
    }
    if (same || (same = twice(all, names)))
        kit_die("--removed %s: it would take the place of %s: give a folder of its own",
                folder, same);
    free(all);
}

void inputs_free(inputs *in)
{
    for (size_t i = 0; i < in->n; i++) {
        free(in->of[i].path);
        free(in->of[i].name);
        free(in->of[i].target);
        free(in->of[i].gone);
    }
    free(in->of);
}

void inputs_make_folders(const char *path)
{
    char *folder = kit_copy(path);
    for (char *s = folder; (s = strchr(s + 1, '/'));) {
        *s = 0;
        if (mkdir(folder, 0777) < 0 && errno != EEXIST)
            kit_die("cannot make the folder %s: %s", folder, strerror(errno));
        *s = '/';
    }
    free(folder);
}
