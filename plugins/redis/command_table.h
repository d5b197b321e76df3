/* command_table.h - every command once: function, flags, and what COMMAND DOCS says. */
#ifndef SEEN_REDIS_COMMAND_TABLE_H
#define SEEN_REDIS_COMMAND_TABLE_H
#include "server/module_api.h"

/* Registers all commands with their documentation and, where the server has them, ACL
 * categories. RM_ERR if the server refuses one. */
int commands_register(rm_ctx *ctx);

#endif
