/* acl_categories.c - puts commands into ACL categories.
 *
 * Redis 7.2 and Valkey have a function for it. Redis 7.0 has none, and its +@read and
 * +@write pass over the commands of modules whatever category they are in: there an ACL
 * names each command, as docs/redis.md shows. */
#include "server/acl_categories.h"
#include "server/settings.h"
#include <stdio.h>
#include <string.h>

static const struct {
    const char *prefix, *category;
} families[] = {
    {"bf.", "bloom"},  {"cf.", "cuckoo"},       {"cms.", "cms"},
    {"topk.", "topk"}, {"tdigest.", "tdigest"},
};
enum { FAMILIES = sizeof families / sizeof *families };

static bool own_categories;

void acl_categories_register(rm_ctx *ctx)
{
    own_categories = RM_AddACLCategory != NULL;
    for (int i = 0; i < FAMILIES && own_categories; i++)
        own_categories = RM_AddACLCategory(ctx, families[i].category) == RM_OK;
}

void acl_categories_set(rm_cmd *cmd, const char *name, const char *flags)
{
    if (!RM_SetCommandACLCategories)
        return;
    const char *own = "";
    for (int i = 0; i < FAMILIES && own_categories; i++)
        if (!strncmp(name, families[i].prefix, strlen(families[i].prefix)))
            own = families[i].category;
    char all[64];
    snprintf(all, sizeof all, "%s %s %s", own,
             strstr(flags, "write") ? "write" : "read",
             strstr(flags, "fast") ? "fast" : "slow");
    RM_SetCommandACLCategories(cmd, *own ? all : all + 1);
}

rm_user *acl_user(rm_ctx *ctx)
{
    if (!RM_GetCurrentUserName || !RM_GetModuleUserFromUserName || !RM_FreeModuleUser ||
        !RM_ACLCheckKeyPermissions || is_replayed(ctx))
        return NULL;
    rm_str *name = RM_GetCurrentUserName(ctx);
    rm_user *u = name ? RM_GetModuleUserFromUserName(name) : NULL;
    if (name)
        RM_FreeString(ctx, name);
    return u;
}
