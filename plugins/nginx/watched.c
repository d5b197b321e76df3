/* watched.c - notices by stat(2) that a file was replaced, and opens the new one. */
#include "watched.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
           a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
           a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* A missing file is a state like any other, all zero, so that it is reported once. */
static void look_at(const char *path, struct stat *st)
{
    if (!path || stat(path, st) < 0)
        memset(st, 0, sizeof *st);
}

static enum watched_news bad(watched *w, const char *why)
{
    snprintf(w->why, sizeof w->why, "%s", why);
    return WATCHED_BAD;
}

enum watched_news watched_look(watched *w)
{
    struct stat filter_now, list_now;
    look_at(w->path, &filter_now);
    look_at(w->list, &list_now);
    if (w->looked && same_file(&filter_now, &w->filter_was) &&
        same_file(&list_now, &w->list_was))
        return WATCHED_SAME;
    w->looked = true;
    w->filter_was = filter_now;
    w->list_was = list_now;

    seen_filter *f;
    exact_list lines = {NULL, 0};
    char why[400];
    unsigned mode = w->load ? SEEN_LOAD : SEEN_READ | (w->verify ? SEEN_VERIFY : 0);
    if ((w->format ? seen_open_foreign(w->path, w->format, NULL, mode, &f)
                   : seen_open(w->path, mode, &f)) < 0)
        return bad(w, seen_reason());
    if (w->list && exact_list_open(&lines, w->list, why, sizeof why) < 0) {
        seen_free(f);
        return bad(w, why);
    }
    watched_close(w);
    w->filter = f;
    w->lines = lines;
    seen_describe(f, w->why, sizeof w->why);
    return WATCHED_NEW;
}

bool watched_has(const watched *w, const void *key, size_t len)
{
    return seen_has(w->filter, key, len) &&
           (!w->list || exact_list_has(&w->lines, key, len));
}

void watched_close(watched *w)
{
    seen_free(w->filter);
    w->filter = NULL;
    exact_list_close(&w->lines);
}
