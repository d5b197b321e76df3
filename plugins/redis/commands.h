/* commands.h - the BF.* and CF.* commands, for the table in command_table.c. */
#ifndef SEEN_REDIS_COMMANDS_H
#define SEEN_REDIS_COMMANDS_H
#include "module_api.h"

rm_command bf_reserve, bf_add, bf_madd, bf_insert, bf_exists, bf_mexists, bf_has;
rm_command bf_info, bf_card, bf_scandump, bf_loadchunk, bf_debug;
rm_command bf_merge, bf_rotate, bf_drop;

rm_command cf_reserve, cf_add, cf_addnx, cf_insert, cf_insertnx, cf_exists, cf_mexists;
rm_command cf_count, cf_del, cf_compact, cf_info, cf_scandump, cf_loadchunk;
rm_command cf_debug;

#endif
