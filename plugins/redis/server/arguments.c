/* arguments.c - reads the arguments of a command. */
#include "server/arguments.h"
#include <string.h>
#include <strings.h>

bool arg_is(const rm_str *s, const char *word)
{
    size_t len;
    const char *p = RM_StringPtrLen(s, &len);
    return len == strlen(word) && !strncasecmp(p, word, len);
}

seen_key arg_key(const rm_str *s)
{
    seen_key k;
    k.data = RM_StringPtrLen(s, &k.len);
    return k;
}

void arg_items_get(arg_items *it, rm_str **argv, size_t n)
{
    it->n = n;
    it->keys = n <= FEW_ITEMS ? it->few_keys : RM_Alloc(n * sizeof *it->keys);
    it->answer = n <= FEW_ITEMS ? it->few_answers : RM_Alloc(n * sizeof *it->answer);
    for (size_t i = 0; i < n; i++)
        it->keys[i] = arg_key(argv[i]);
}

void arg_items_free(arg_items *it)
{
    if (it->keys != it->few_keys) {
        RM_Free(it->keys);
        RM_Free(it->answer);
    }
}
