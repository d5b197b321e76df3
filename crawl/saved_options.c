/* saved_options.c - DIR/options: the options and seeds of a crawl, for --resume.
 *
 * Lines of name, tab, value; the name "url" is a seed, "seed" the random number behind
 * the log's checksums. An option given with --resume
 * holds for that run and is not kept. Output files are the exception: the log counts
 * their bytes, so a file named later becomes part of the crawl, and one that is part of
 * it cannot be replaced by another. */
#include "crawl_options.h"
#include "durable.h"
#include "file_kind.h"

#include <errno.h>
#include <stdio.h>

static buf kept;

static void keep_line(const char *name, const char *value)
{
    buf_text(&kept, name);
    buf_byte(&kept, '\t');
    buf_text(&kept, value);
    buf_byte(&kept, '\n');
}

void saved_options_add(const config *c, const crawl_option *o, const char *v)
{
    if (o->how == RUN || o->how == SEEDS)
        return;
    if (v && strchr(v, '\n'))
        kit_die("--%s: the value must not contain a newline", o->name);
    if (o->how == PATH || o->how == INPUT)
        v = absolute_path(v);
    if (c->run != RUN_NEW) {
        if (o->how != PATH)
            return;
        const char *before = *(char *const *)((const char *)c + o->at);
        if (before && !strcmp(before, v))
            return;
        if (before)
            kit_die("--%s %s: this crawl writes to %s; leave the option out, or begin "
                    "another crawl",
                    o->name, v, before);
    }
    keep_line(o->name, v ? v : "");
}

static void read_line(config *c, const char *path, char *line)
{
    char *tab = strchr(line, '\t');
    if (!tab)
        kit_die("%s: '%s' is not a line of name, tab, value", path, line);
    *tab = 0;
    if (!strcmp(line, "url")) {
        words_add(&c->saved, kit_copy(tab + 1));
        return;
    }
    if (!strcmp(line, "seed")) {
        c->seed = strtoull(tab + 1, NULL, 10);
        return;
    }
    if (!strcmp(line, "engine")) /* an option of version 0.2 */
        return;
    const crawl_option *o = crawl_option_by_name(line);
    if (!o || o->how == RUN || o->how == SEEDS)
        kit_die("%s: '%s' is not an option of this version", path, line);
    char *value = o->arg ? kit_copy(tab + 1) : NULL;
    crawl_option_set(c, o, value);
    if (o->how < TEXT || o->how > INPUT) /* a number, not the text itself */
        free(value);
    keep_line(line, tab + 1);
}

void saved_options_read(config *c)
{
    char path[4096], *line = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "%s/options", c->dir);
    kit_must_be_file(path);
    FILE *f = fopen(path, "re");
    if (!f)
        kit_die("%s holds no crawl: %s: %s", c->dir, path, strerror(errno));
    while (getline(&line, &room, f) >= 0) {
        line[strcspn(line, "\n")] = 0;
        if (*line)
            read_line(c, path, line);
    }
    free(line);
    fclose(f);
}

void config_save(const config *c)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/options", c->dir);
    const words *seeds = c->run != RUN_NEW ? &c->saved : &c->seeds;
    buf all = {0};
    char seed[32];
    snprintf(seed, sizeof seed, "seed\t%llu\n", (unsigned long long)c->seed);
    buf_text(&all, seed);
    buf_add(&all, kept.p, kept.len);
    for (size_t i = 0; i < seeds->n; i++) {
        buf_text(&all, "url\t");
        buf_text(&all, seeds->p[i]);
        buf_byte(&all, '\n');
    }
    /* A --header may be a secret. */
    if (kit_replace_file(path, all.p, all.len, 0600) < 0)
        kit_die("%s: %s", path, strerror(errno));
    free(all.p);
}
