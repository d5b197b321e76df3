/* cookie_jar.c - cookies that libcurl's transfers share, behind a lock. */
#include "cookie_jar.h"
#include "messages.h"

#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cookie_jar {
    CURLSH *share;
    CURL *file; /* reads and writes it */
    pthread_mutex_t lock;
};

static void lock_jar(CURL *h, curl_lock_data what, curl_lock_access how, void *ctx)
{
    cookie_jar *j = ctx;
    (void)h, (void)what, (void)how; /* nothing but cookies is shared */
    pthread_mutex_lock(&j->lock);
}

static void unlock_jar(CURL *h, curl_lock_data what, void *ctx)
{
    cookie_jar *j = ctx;
    (void)h, (void)what;
    pthread_mutex_unlock(&j->lock);
}

cookie_jar *cookie_jar_open(const char *file)
{
    FILE *f = fopen(file, "ae");
    if (!f)
        kit_die("--cookies %s: %s", file, strerror(errno));
    fclose(f);
    cookie_jar *j = kit_alloc(sizeof *j);
    pthread_mutex_init(&j->lock, NULL);
    if (curl_global_init(CURL_GLOBAL_DEFAULT) || !(j->share = curl_share_init()) ||
        !(j->file = curl_easy_init()))
        kit_die("libcurl cannot be started");
    curl_share_setopt(j->share, CURLSHOPT_LOCKFUNC, lock_jar);
    curl_share_setopt(j->share, CURLSHOPT_UNLOCKFUNC, unlock_jar);
    curl_share_setopt(j->share, CURLSHOPT_USERDATA, j);
    curl_share_setopt(j->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
    curl_easy_setopt(j->file, CURLOPT_SHARE, j->share);
    curl_easy_setopt(j->file, CURLOPT_COOKIEFILE, file);
    curl_easy_setopt(j->file, CURLOPT_COOKIEJAR, file);
    curl_easy_setopt(j->file, CURLOPT_COOKIELIST, "RELOAD");
    return j;
}

void cookie_jar_save(cookie_jar *j)
{
    if (j)
        curl_easy_setopt(j->file, CURLOPT_COOKIELIST, "FLUSH");
}

void cookie_jar_close(cookie_jar *j)
{
    if (!j)
        return;
    cookie_jar_save(j);
    curl_easy_cleanup(j->file);
    curl_share_cleanup(j->share);
    pthread_mutex_destroy(&j->lock);
    free(j);
    curl_global_cleanup();
}

void *cookie_jar_share(const cookie_jar *j)
{
    return j->share;
}
