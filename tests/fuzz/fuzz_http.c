/* fuzz_http.c - fuzz target: any bytes as the head and the packed body of an answer.
 *
 * libcurl parses HTTP; what we read ourselves is the fields of the head and the packed
 * body. No overrun, limits kept, and the same body however the bytes are cut. The first
 * byte says how. */
#include "crawl/net/fetch.h"
#include "crawl/net/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Unpacks a body in pieces; the last result of unpack_feed. */
static int feed(fetch *f, const uint8_t *p, size_t n, size_t piece)
{
    unpack u = {0};
    size_t len, from = 0;
    int rc = UNPACK_MORE;
    const char *coding = fetch_field(&f->head, "content-encoding", &len, &from);
    f->dropped = !unpack_begin(&u, coding, len);
    while (n && rc == UNPACK_MORE) {
        size_t m = n < piece ? n : piece;
        /* On the heap, so that a step behind the piece is seen. */
        uint8_t *copy = malloc(m);
        memcpy(copy, p, m);
        rc = unpack_feed(&u, copy, m, fetch_keep_body, f);
        free(copy);
        p += m;
        n -= m;
    }
    if (f->body.len > f->limit)
        abort();
    if (rc == UNPACK_MORE && !unpack_complete(&u))
        rc = UNPACK_BAD;
    unpack_free(&u);
    return rc;
}

static int answer(fetch *f, const uint8_t *data, size_t size, size_t piece)
{
    const uint8_t *end = memmem(data, size, "\r\n\r\n", 4);
    size_t head = end ? (size_t)(end - data) + 4 : size;
    fetch_clear(f);
    f->limit = 3000;
    buf_add(&f->head, data, head);
    fetch_read_head(f);
    if (strlen(f->type) >= sizeof f->type || f->retry_after > 1e9)
        abort();
    return feed(f, data + head, size - head, piece);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fetch a = {0}, b = {0};
    if (size < 2)
        return 0;
    int whole = answer(&a, data + 1, size - 1, size);
    int cut = answer(&b, data + 1, size - 1, 1 + data[0] % 7);
    if (whole != cut || a.truncated != b.truncated || a.dropped != b.dropped ||
        (whole == UNPACK_MORE && !a.dropped &&
         (a.body.len != b.body.len ||
          (a.body.len && memcmp(a.body.p, b.body.p, a.body.len)))))
        abort();
    fetch_free(&a);
    fetch_free(&b);
    return 0;
}
