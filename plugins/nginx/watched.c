/* watched.c - detects with stat(2) that a file was replaced, and opens the new one.
 *
 * Files are opened without blocking and used only if they are regular: a pipe at the
 * path must not stop a worker. */
#include "watched.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
           a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
           a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* A missing file counts as a state, all zero, so that it is reported once. */
static void look_at(const char *path, struct stat *st)
{
    if (!path || stat(path, st) < 0)
        memset(st, 0, sizeof *st);
}

/* A descriptor of the regular file PATH, or -1 and .why. */
static int open_regular(watched *w, const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool good = fd >= 0 && fstat(fd, &st) == 0;
    if (good && S_ISREG(st.st_mode))
        return fd;
    snprintf(w->why, sizeof w->why, "cannot open %s: %s", path,
             good ? "not a regular file" : strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Opens the filter behind FD: 0, or -1 and .why. */
static int open_filter(watched *w, int fd, unsigned mode, seen_filter **f)
{
    char name[40];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    int rc = w->format ? seen_open_foreign(name, w->format, NULL, mode, f)
                       : seen_open(name, mode, f);
    if (rc == 0 && (rc = seen_check_keys(*f, SEEN_KEYS_TEXT)) < 0) {
        seen_free(*f); /* what a request says is text: every answer would be no */
        *f = NULL;
    }
    if (rc == 0)
        return 0;
    /* The reason names the file that was opened; the user knows it as the path. */
    const char *reason = seen_reason(), *at = strstr(reason, name);
    if (at)
        snprintf(w->why, sizeof w->why, "%.*s%s%s", (int)(at - reason), reason, w->path,
                 at + strlen(name));
    else
        snprintf(w->why, sizeof w->why, "%s: %s", w->path, reason);
    return -1;
}

/* Starts to use the files behind FD: 0, or -1 and .why, with nothing changed. */
static int use(watched *w, const int fd[LAST_GOOD_FILES])
{
    seen_filter *f = NULL;
    exact_list lines = {NULL, 0};
    struct stat st;
    unsigned mode = w->load ? SEEN_LOAD : SEEN_READ | (w->verify ? SEEN_VERIFY : 0);
    if (open_filter(w, fd[0], mode, &f) < 0)
        return -1;
    if (fstat(fd[0], &st) < 0 ||
        (w->list &&
         exact_list_open(&lines, fd[1], w->list, w->why, sizeof w->why) < 0)) {
        seen_free(f);
        return -1;
    }
    watched_close(w);
    w->filter = f;
    w->lines = lines;
    w->written = st.st_mtim;
    seen_get_stats(f, &w->stats);
    return 0;
}

static void close_files(const int fd[LAST_GOOD_FILES])
{
    for (int i = 0; i < LAST_GOOD_FILES; i++)
        if (fd[i] >= 0)
            close(fd[i]);
}

/* Opens the files at the paths and starts to use them. */
static int use_paths(watched *w)
{
    int fd[LAST_GOOD_FILES] = {open_regular(w, w->path), -1}, rc = -1;
    if (fd[0] >= 0 && w->list)
        fd[1] = open_regular(w, w->list);
    if (fd[0] >= 0 && (!w->list || fd[1] >= 0))
        rc = use(w, fd);
    if (rc == 0)
        last_good_put(&w->shared, fd);
    close_files(fd);
    return rc;
}

/* For a worker without a filter: uses the files that the others accepted last. .why
 * still says what was wrong with the file at the path. */
static int use_last_good(watched *w)
{
    char why[sizeof w->why];
    int fd[LAST_GOOD_FILES], rc = -1;
    memcpy(why, w->why, sizeof why);
    if (last_good_get(&w->shared, fd) && (!w->list || fd[1] >= 0))
        rc = use(w, fd);
    close_files(fd);
    memcpy(w->why, why, sizeof why);
    return rc;
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
    if (use_paths(w) == 0) {
        seen_describe(w->filter, w->why, sizeof w->why);
        return WATCHED_NEW;
    }
    return !w->filter && use_last_good(w) == 0 ? WATCHED_INHERITED : WATCHED_BAD;
}

int watched_check(watched *w)
{
    seen_filter *f = NULL;
    int fd = open_regular(w, w->path);
    int rc = fd < 0 ? -1 : open_filter(w, fd, SEEN_READ, &f);
    seen_free(f);
    if (fd >= 0)
        close(fd);
    return rc;
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
