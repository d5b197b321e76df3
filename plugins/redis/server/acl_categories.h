/* acl_categories.h - the ACL categories of our commands (+@read, +@write, +@bloom), and
 * who gave a command. */
#ifndef SEEN_REDIS_ACL_CATEGORIES_H
#define SEEN_REDIS_ACL_CATEGORIES_H
#include "server/module_api.h"

/* Registers the categories of all families of commands, where the server can. To be
 * called before any command is registered. */
void acl_categories_register(rm_ctx *ctx);

/* Puts command NAME, which is registered with FLAGS, into its categories. */
void acl_categories_set(rm_cmd *cmd, const char *name, const char *flags);

/* The user who gave the command, for RM_ACLCheckKeyPermissions; the caller gives it to
 * RM_FreeModuleUser. NULL: the command is replayed, or there are no users. */
rm_user *acl_user(rm_ctx *ctx);

#endif
