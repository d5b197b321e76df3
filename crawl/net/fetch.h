/* fetch.h - one request and its answer, and the engine that exchanges them.
 *
 * An engine takes requests and calls back when they are done; it knows nothing of
 * queues, robots.txt or politeness. libcurl fetches everything. */
#ifndef CRAWL_FETCH_H
#define CRAWL_FETCH_H

#include "buf.h"
#include "config.h"
#include "cookie_jar.h"
#include "loop.h"
#include "outcome.h"
#include "url.h"

typedef struct fetch fetch;
struct fetch {
    /* the request; the text of U must stay valid until it is done */
    url u;
    bool all_types;    /* take a body of any type (robots.txt, sitemaps) */
    bool is_page;      /* if it is HTML, it is to be read */
    bool want_links;   /* with its links */
    unsigned lane;     /* which thread fetches it, of many */
    uint64_t limit;    /* bytes of the body that are kept */
    const char *etag;  /* ask only for what changed since; NULL: not known */
    uint64_t modified; /* the same by date, in seconds since 1970; 0: not known */
    void (*done)(fetch *f);
    void *ctx;

    /* the answer */
    int outcome; /* enum outcome */
    int status;
    buf head;         /* status line and fields, as they came, with the empty line */
    buf body;         /* decoded */
    buf sent;         /* the request as sent, if the engine was asked to keep it */
    bool truncated;   /* the body went on beyond LIMIT */
    bool dropped;     /* the body is not of a type we keep */
    bool decoded;     /* the body was compressed or chunked on the wire */
    bool two_lengths; /* Content-Length contradicts itself */
    uint64_t size;    /* bytes of the body seen */
    uint64_t wire;    /* bytes of the answer as they came: head and packed body */
    uint64_t took;    /* milliseconds */
    char address[48];
    char why[WHY_ROOM]; /* in words, for an outcome other than OUT_OK */

    /* read from the head by fetch_read_head */
    char type[64];  /* "text/html" */
    char *location; /* NUL-terminated, in LOCATION_ROOM */
    buf location_room;
    double retry_after; /* seconds; negative: not said */
    bool nofollow, noindex;

    /* with -j: the page, as the thread that fetched it read it */
    struct page_extract *extract;
    bool extracted;

    void *engine; /* the engine's own */
    fetch *next;
    void *fetcher; /* of fetch_threads.c, as the next */
    void (*answer)(fetch *f);
};

/* Makes F ready for the next request; its buffers stay. */
void fetch_clear(fetch *f);
void fetch_free(fetch *f);

/* Reads the fields a crawler needs from f->head: type, location, retry-after. */
void fetch_read_head(fetch *f);

/* The conditions of the request F as header fields, with their line ends, in OUT. */
enum { FETCH_CONDITIONS = ETAG_ROOM + 120 };
void fetch_conditions(const fetch *f, char out[FETCH_CONDITIONS]);

/* An HTTP date in seconds since 1970; 0 if it is not a date. */
uint64_t fetch_date(const char *p, size_t len);

/* The value of the field NAME (lower case) in a head; NULL if there is none. Start
 * with *FROM = 0; call again with the same FROM to find the next field of that name. */
const char *fetch_field(const buf *head, const char *name, size_t *len, size_t *from);

/* Seconds until the next request: OURS, or what the answer asked for if that is more,
 * but at most an hour. */
double fetch_wait(const fetch *f, double ours);

/* A longer head, interim answers and trailers included, is refused. */
enum { FETCH_HEAD_MOST = 256 << 10 };

/* Whether to keep the body of F, whose type is known. */
bool fetch_wants_body(const fetch *f, const config *c);

/* Keeps N unpacked bytes of the body of the fetch F; false when no more are wanted. */
bool fetch_keep_body(void *f, const void *p, size_t n);

/* How many idle connections an engine keeps. A new connection costs as much as a
 * page, so it is four times --connections, or as many as the limit of descriptors
 * allows. fetch_raise_limit raises that limit as far as it may. */
unsigned fetch_keeps(const config *c);
void fetch_raise_limit(const config *c);

/* Gives the buffer of the body back. The next page of this thread reuses it while it
 * is still in the cache. */
void fetch_drop_body(fetch *f);

/* Whether we can read links from pages of this type. */
bool fetch_is_html(const char *type);

typedef struct engine engine;
struct engine {
    void (*start)(engine *e, fetch *f);
    void (*cancel_all)(engine *e); /* all transfers end as OUT_BROKEN */
    int (*timeout)(engine *e);     /* milliseconds until tick is due; -1: never */
    void (*tick)(engine *e);
    void (*free)(engine *e);
};

/* JAR: NULL for no cookies. */
engine *engine_curl(const config *c, int loop, cookie_jar *jar);

/* What a thread does with an answer before it hands it back. Each thread has STATE
 * bytes, zero at first, which READ may use and FREE releases. */
typedef struct fetch_reader {
    size_t state;
    void (*read)(void *state, const config *c, fetch *f);
    void (*free)(void *state);
} fetch_reader;

/* -j: one engine in each of several threads. */
engine *engine_threads(const config *c, int loop, cookie_jar *jar,
                       const fetch_reader *reader);

#endif
