/* crawl_main.c - seen crawl: sets up the parts, runs them, takes them down. */
#include "crawler.h"
#include "durable.h"
#include "seen.h"
#include "shared/store_redis.h"
#include "view/crawl_report.h"

#include <errno.h>
#include <idn2.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

static volatile int stop;

static void on_signal(int sig)
{
    (void)sig;
    stop++;
}

/* UTS 46 as browsers apply it: nontransitional, no rules on hyphens. */
static int to_ascii(const char *text, size_t len, char *out, size_t room)
{
    char name[1024], *ascii = NULL;
    if (len >= sizeof name)
        return -1;
    memcpy(name, text, len);
    name[len] = 0;
    if (idn2_to_ascii_8z(name, &ascii, IDN2_NONTRANSITIONAL | IDN2_NFC_INPUT) !=
        IDN2_OK)
        return -1;
    size_t n = strlen(ascii);
    int rc = n < room ? (int)n : -1;
    if (rc > 0)
        memcpy(out, ascii, n);
    idn2_free(ascii);
    return rc;
}

/* The folder of a crawl without --dir; removed even if the crawl fails. */
static char made[4096];

static void remove_made(void)
{
    char path[4096 + 16];
    if (!*made)
        return;
    snprintf(path, sizeof path, "%s/frontier.log", made);
    unlink(path);
    rmdir(made);
    *made = 0;
}

static const char *make_dir(const config *c, bool *temporary)
{
    *temporary = false;
    if (c->dir) {
        bool new = c->run == RUN_NEW &&mkdir(c->dir, 0777) == 0;
        if ((c->run == RUN_NEW && !new &&errno != EEXIST) ||
            (new &&kit_sync_folder(c->dir) < 0))
            kit_die("%s: %s", c->dir, strerror(errno));
        char options[4096];
        snprintf(options, sizeof options, "%s/options", c->dir);
        if (c->run == RUN_NEW && access(options, F_OK) == 0)
            kit_die("%s already holds a crawl: resume it with --resume %s", c->dir,
                    c->dir);
        return c->dir;
    }
    const char *tmp = getenv("TMPDIR");
    snprintf(made, sizeof made, "%s/seen-crawl.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(made))
        kit_die("%s: %s", made, strerror(errno));
    atexit(remove_made);
    *temporary = true;
    return made;
}

int main(int argc, char **argv)
{
    static config conf;
    static crawler c;
    kit_say_name("seen crawl");
    config_read(&conf, argc, argv);
    url_idna = to_ascii;
    if (conf.run == RUN_LIST) {
        list_pages(&conf);
        return 0;
    }
    if (conf.run == RUN_REPORT) {
        crawl_report(&conf);
        return 0;
    }
    if (conf.run == RUN_REPAIR) {
        frontier_repair(conf.dir, conf.seed);
        return 0;
    }
    signal(SIGPIPE, SIG_IGN);
    struct sigaction sa = {.sa_handler = on_signal};
    sigaction(SIGINT, &sa, NULL);
    sigaction(SIGTERM, &sa, NULL);
    fetch_raise_limit(&conf);
    if (conf.status)
        c.status = status_server_start(&conf);

    bool temporary;
    const char *dir = make_dir(&conf, &temporary);
    c.conf = c.q.conf = &conf;
    c.stop = &stop;
    if (seen_random_bytes(&c.q.random, sizeof c.q.random) < 0)
        kit_die("%s", seen_reason());
    c.q.random |= 1;
    c.q.now = loop_now();
    c.q.hosts.delay = conf.delay;
    c.q.scope = scope_new(&conf);
    c.loop = loop_new();
    c.q.spill = spill_new(dir);
    c.traps = trap_detector_new();
    c.sessions = session_ids_new();
    c.jar = conf.cookies ? cookie_jar_open(conf.cookies) : NULL;
    c.engine = conf.threads > 1
                   ? engine_threads(&conf, c.loop, c.jar, &page_extract_reader)
                   : engine_curl(&conf, c.loop, c.jar);
    const uint64_t *sizes = NULL; /* of the outputs, if there were any */
    c.q.hooks = outputs_hooks(&c.outputs);
    bool goes_on = conf.run == RUN_RESUME || conf.run == RUN_AGAIN;
    if (conf.redis)
        store_redis_open(&c.q);
    else {
        /* Options and seeds first: from here on, --resume knows them. */
        if (!temporary)
            config_save(&conf);
        store_log_open(&c.q, dir, &sizes);
    }
    if (temporary) /* the log stays open without a name until we exit */
        remove_made();
    outputs_open(&c.outputs, &conf, sizes);
    /* A crawl killed before its first commit has nothing but its options. */
    if (!goes_on || c.q.store->seen_count(&c.q) == 0 || c.q.repaired) {
        seeds_queue(&c, goes_on ? &conf.saved : &conf.seeds);
        c.q.store->commit(&c.q, true);
    }
    crawler_run(&c);

    status_server_stop(c.status);
    bool interrupted = stop != 0;
    summary_print(&c, interrupted);
    c.q.store->close(&c.q);
    outputs_close(&c.outputs);
    c.engine->free(c.engine);
    cookie_jar_close(c.jar);
    hosts_free(&c.q.hosts, c.q.spill);
    spill_free(c.q.spill);
    trap_detector_free(c.traps);
    session_ids_free(c.sessions);
    scope_free(c.q.scope);
    page_extractor_free(&c.extractor);
    found_links_free(&c.found);
    found_links_free(&c.extract.links);
    free(c.extract.kinds.p);
    bool nothing = c.stats.pages && !c.stats.good && !c.q.earlier;
    return interrupted ? 130 : nothing ? 1 : 0;
}
