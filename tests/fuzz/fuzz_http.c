/* fuzz_http.c - fuzz target: any bytes as the answer of a web server, whole and in pieces.
 *
 * Promises of the reader: no overrun, limits kept, and the same answer however the
 * bytes are cut. The first byte says how. */
#include "crawl/net/http1.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void feed(fetch *f, const uint8_t *p, size_t n, size_t piece)
{
    static config c = {.product = (char *)"seen-crawl"};
    http1 a = {0};
    int rc = HTTP1_MORE;
    fetch_clear(f);
    f->limit = 3000;
    http1_begin(&a, f, &c);
    while (n && rc == HTTP1_MORE) {
        size_t m = n < piece ? n : piece;
        /* On the heap, so that a step behind the piece is seen. */
        uint8_t *copy = malloc(m);
        memcpy(copy, p, m);
        rc = http1_parse(&a, copy, m);
        free(copy);
        p += m;
        n -= m;
    }
    bool good = rc == HTTP1_DONE || (rc == HTTP1_MORE && http1_may_end(&a));
    f->outcome = good ? OUT_OK : OUT_BROKEN;
    if (f->body.len > f->limit || (rc == HTTP1_BROKEN && !a.why))
        abort();
    http1_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fetch a = {0}, b = {0};
    if (size < 2)
        return 0;
    feed(&a, data + 1, size - 1, size);
    feed(&b, data + 1, size - 1, 1 + data[0] % 7);
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
