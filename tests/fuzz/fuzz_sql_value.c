/* fuzz_sql_value.c - any bytes as a filter value of a database: opened, asked,
 * described, kept and opened again, or refused. */
#include "plugins/sql/sql_filter.h"
#include <stdlib.h>
#include <string.h>

static void *plain(void *ctx, size_t size)
{
    return calloc(1, size);
}

static void *allocate(void *ctx, size_t size, size_t align)
{
    return sql_align(plain, NULL, size, align);
}

static void release(void *ctx, void *p, size_t size)
{
    free(sql_unalign(p));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const seen_allocator a = {allocate, release, NULL};
    sql_kept kept = {.f = NULL};
    const seen_filter *f, *again;
    if (sql_open(&kept, &a, data, len, &f) == 0) {
        char json[512];
        sql_key key;
        sql_info(f, json, sizeof json);
        sql_integer_key(&key, SEEN_KEYS_INT64, 5);
        int had = sql_has(f, &key);
        if (sql_open(&kept, &a, data, len, &again) < 0 || again != f ||
            sql_has(again, &key) != had)
            abort();
    }
    sql_forget(&kept);
    return 0;
}
