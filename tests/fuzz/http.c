/* http.c - fuzz target: any bytes as the answer of a web server, whole and in pieces.
 *
 * Promises of the plain engine: no overrun, limits kept, and the same answer however
 * the bytes are cut. The first byte says how. */
#include "crawl/fetch_plain.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int ends;

static void on_done(fetch *f)
{
    (void)f;
    ends++;
}

static void feed(plain_engine *e, fetch *f, const uint8_t *p, size_t n, size_t piece)
{
    conn *k = kit_alloc(sizeof *k);
    k->w = (watch){on_ready, -1, 0};
    k->e = e;
    k->f = f;
    k->state = CONN_HEAD;
    e->in_flight = k;
    f->done = on_done;
    f->limit = 3000;
    ends = 0;
    bool more = true;
    while (n && more) {
        size_t m = n < piece ? n : piece;
        /* On the heap, so that a step behind the piece is seen. */
        uint8_t *copy = malloc(m);
        memcpy(copy, p, m);
        more = take(k, copy, m);
        free(copy);
        p += m;
        n -= m;
    }
    if (more && f->outcome == OUT_OK && !ends) {
        k->got_any = true;
        ended(k);
    }
    if (ends != 1 || f->body.len > f->limit || e->in_flight)
        abort();
    while (e->kept_count)
        evict_one(e);
    e->free_list = NULL;
    if (k->z_ready)
        inflateEnd(&k->z);
    free(k->request.p);
    free(k);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static config c = {.product = (char *)"seen-crawl", .connections = 4};
    static plain_engine e;
    fetch a = {0}, b = {0};
    if (size < 2)
        return 0;
    e.c = &c;
    fetch_clear(&a);
    fetch_clear(&b);
    feed(&e, &a, data + 1, size - 1, size);
    feed(&e, &b, data + 1, size - 1, 1 + data[0] % 7);
    if (a.outcome != b.outcome || a.status != b.status || a.truncated != b.truncated ||
        a.dropped != b.dropped ||
        (a.outcome == OUT_OK && !a.truncated && !a.dropped &&
         (a.body.len != b.body.len ||
          (a.body.len && memcmp(a.body.p, b.body.p, a.body.len)))))
        abort();
    fetch_free(&a);
    fetch_free(&b);
    return 0;
}
