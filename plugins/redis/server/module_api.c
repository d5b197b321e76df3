/* module_api.c - fetches the module interface by name; knows no filters. */
#include "server/module_api.h"

#define RM_DEFINE(ret, name, args) ret(*RM_##name) args;
RM_MUST(RM_DEFINE)
RM_MAY(RM_DEFINE)

const char *rm_load(rm_ctx *ctx)
{
    /* The first word of the context is the look-up function. An unknown name
     * leaves the slot as it was, so optional functions stay NULL. */
    int (*get)(const char *, void *) = *(int (**)(const char *, void *))ctx;

#define RM_GET_MUST(ret, name, args)                                                   \
    if (get("RedisModule_" #name, (void *)&RM_##name) != RM_OK || !RM_##name)          \
        return #name;
#define RM_GET_MAY(ret, name, args) get("RedisModule_" #name, (void *)&RM_##name);
    RM_MUST(RM_GET_MUST)
    RM_MAY(RM_GET_MAY)
    return NULL;
}
