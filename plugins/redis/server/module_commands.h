/* module_commands.h - every command of the module, for the table in command_table.c. */
#ifndef SEEN_REDIS_MODULE_COMMANDS_H
#define SEEN_REDIS_MODULE_COMMANDS_H
#include "server/module_api.h"

rm_command bf_reserve, bf_add, bf_madd, bf_insert, bf_exists, bf_mexists, bf_has;
rm_command bf_info, bf_card, bf_scandump, bf_loadchunk, bf_debug;
rm_command bf_merge, bf_rotate, bf_drop;

rm_command cf_reserve, cf_add, cf_addnx, cf_insert, cf_insertnx, cf_exists, cf_mexists;
rm_command cf_count, cf_del, cf_compact, cf_info, cf_scandump, cf_loadchunk;
rm_command cf_debug;

rm_command cms_initbydim, cms_initbyprob, cms_incrby, cms_query, cms_merge, cms_info;

rm_command topk_reserve, topk_add, topk_incrby, topk_query, topk_count, topk_list;
rm_command topk_info;

rm_command tdigest_create, tdigest_reset, tdigest_add, tdigest_merge, tdigest_min;
rm_command tdigest_max, tdigest_quantile, tdigest_cdf, tdigest_rank, tdigest_revrank;
rm_command tdigest_byrank, tdigest_byrevrank, tdigest_trimmed_mean, tdigest_info;

#endif
