/* command_table.c - the commands as data. */
#include "command_table.h"
#include "server/acl_categories.h"
#include "server/module_commands.h"
#include <ctype.h>
#include <string.h>

/* Arguments of COMMAND DOCS, as the server wants them: arrays that end with zeroes. */
#define KEY {.name = "key", .type = RM_ARG_KEY}
#define ITEM {.name = "item", .type = RM_ARG_STRING}
#define ITEMS {.name = "item", .type = RM_ARG_STRING, .flags = RM_ARG_MULTIPLE}
#define NUMBER(n) {.name = n, .type = RM_ARG_INTEGER}
#define OPTION(n, t, k) {.name = n, .type = k, .token = t, .flags = RM_ARG_OPTIONAL}
#define WORD(n, t) OPTION(n, t, RM_ARG_TOKEN)
#define END {0}

static const rm_arg a_key[] = {KEY, END};
static const rm_arg a_item[] = {KEY, ITEM, END};
static const rm_arg a_items[] = {KEY, ITEMS, END};
static const rm_arg a_iter[] = {KEY, NUMBER("iterator"), END};
static const rm_arg a_load[] = {KEY, NUMBER("iterator"),
                                {.name = "data", .type = RM_ARG_STRING}, END};
static const rm_arg layouts[] = {
    {.name = "fast", .type = RM_ARG_TOKEN, .token = "FAST"},
    {.name = "compat", .type = RM_ARG_TOKEN, .token = "COMPAT"},
    END,
};
#define LAYOUT                                                                         \
    {.name = "layout", .type = RM_ARG_ONEOF, .token = "LAYOUT",                        \
     .flags = RM_ARG_OPTIONAL, .subargs = layouts}
#define COMMON                                                                         \
    OPTION("seconds", "WINDOW", RM_ARG_INTEGER),                                       \
        OPTION("ratio", "TIGHTENING", RM_ARG_DOUBLE),                                  \
        OPTION("seed", "SEED", RM_ARG_STRING),                                         \
        OPTION("pieces", "PIECES", RM_ARG_INTEGER), LAYOUT

static const rm_arg a_bf_reserve[] = {
    KEY,
    {.name = "error_rate", .type = RM_ARG_DOUBLE},
    NUMBER("capacity"),
    OPTION("expansion", "EXPANSION", RM_ARG_INTEGER),
    WORD("nonscaling", "NONSCALING"),
    COMMON,
    END,
};
static const rm_arg item_block[] = {ITEMS, END};
#define ITEMS_BLOCK                                                                    \
    {.name = "items", .type = RM_ARG_BLOCK, .token = "ITEMS", .subargs = item_block}
static const rm_arg a_bf_insert[] = {
    KEY,
    OPTION("capacity", "CAPACITY", RM_ARG_INTEGER),
    OPTION("error", "ERROR", RM_ARG_DOUBLE),
    OPTION("expansion", "EXPANSION", RM_ARG_INTEGER),
    WORD("nocreate", "NOCREATE"),
    WORD("nonscaling", "NONSCALING"),
    COMMON,
    OPTION("capacity", "VALIDATESCALETO", RM_ARG_INTEGER),
    ITEMS_BLOCK,
    END,
};
static const rm_arg info_fields[] = {
    {.name = "capacity", .type = RM_ARG_TOKEN, .token = "CAPACITY"},
    {.name = "size", .type = RM_ARG_TOKEN, .token = "SIZE"},
    {.name = "filters", .type = RM_ARG_TOKEN, .token = "FILTERS"},
    {.name = "items", .type = RM_ARG_TOKEN, .token = "ITEMS"},
    {.name = "expansion", .type = RM_ARG_TOKEN, .token = "EXPANSION"},
    {.name = "error", .type = RM_ARG_TOKEN, .token = "ERROR"},
    {.name = "tightening", .type = RM_ARG_TOKEN, .token = "TIGHTENING"},
    {.name = "maxscaledcapacity", .type = RM_ARG_TOKEN, .token = "MAXSCALEDCAPACITY"},
    END,
};
static const rm_arg a_bf_info[] = {
    KEY,
    {.name = "field", .type = RM_ARG_ONEOF, .flags = RM_ARG_OPTIONAL,
     .subargs = info_fields},
    END,
};
static const rm_arg a_merge[] = {
    {.name = "destination", .type = RM_ARG_KEY},
    {.name = "source", .type = RM_ARG_KEY, .key_spec = 1, .flags = RM_ARG_MULTIPLE},
    END,
};
static const rm_arg a_rotate[] = {KEY, NUMBER("milliseconds"), END};
static const rm_arg a_cf_reserve[] = {
    KEY,
    NUMBER("capacity"),
    OPTION("bucketsize", "BUCKETSIZE", RM_ARG_INTEGER),
    OPTION("maxiterations", "MAXITERATIONS", RM_ARG_INTEGER),
    OPTION("expansion", "EXPANSION", RM_ARG_INTEGER),
    OPTION("seed", "SEED", RM_ARG_STRING),
    LAYOUT,
    END,
};
static const rm_arg a_cf_insert[] = {
    KEY, OPTION("capacity", "CAPACITY", RM_ARG_INTEGER), WORD("nocreate", "NOCREATE"),
    ITEMS_BLOCK, END,
};

/* CMS, TOPK and TDIGEST */
#define REAL(n) {.name = n, .type = RM_ARG_DOUBLE}
#define REALS(n) {.name = n, .type = RM_ARG_DOUBLE, .flags = RM_ARG_MULTIPLE}
#define DESTINATION {.name = "destination", .type = RM_ARG_KEY}

static const rm_arg a_cms_dim[] = {KEY, NUMBER("width"), NUMBER("depth"), END};
static const rm_arg a_cms_prob[] = {KEY, REAL("error"), REAL("probability"), END};
static const rm_arg pair_block[] = {ITEM, NUMBER("increment"), END};
static const rm_arg a_pairs[] = {
    KEY,
    {.name = "items", .type = RM_ARG_BLOCK, .flags = RM_ARG_MULTIPLE,
     .subargs = pair_block},
    END,
};
static const rm_arg weight_block[] = {
    {.name = "weight", .type = RM_ARG_INTEGER, .flags = RM_ARG_MULTIPLE}, END};
static const rm_arg a_cms_merge[] = {
    DESTINATION, NUMBER("numkeys"),
    /* No key to the server: see may_read() in cms_commands.c. */
    {.name = "source", .type = RM_ARG_STRING, .flags = RM_ARG_MULTIPLE},
    {.name = "weights", .type = RM_ARG_BLOCK, .token = "WEIGHTS",
     .flags = RM_ARG_OPTIONAL, .subargs = weight_block},
    END,
};
static const rm_arg shape_block[] = {NUMBER("width"), NUMBER("depth"), REAL("decay"),
                                     END};
static const rm_arg a_topk_reserve[] = {
    KEY, NUMBER("topk"),
    {.name = "params", .type = RM_ARG_BLOCK, .flags = RM_ARG_OPTIONAL,
     .subargs = shape_block},
    END,
};
static const rm_arg a_topk_list[] = {KEY, WORD("withcount", "WITHCOUNT"), END};
static const rm_arg a_td_create[] = {
    KEY, OPTION("compression", "COMPRESSION", RM_ARG_INTEGER), END};
static const rm_arg a_td_merge[] = {
    DESTINATION, NUMBER("numkeys"),
    {.name = "source", .type = RM_ARG_KEY, .key_spec = 1, .flags = RM_ARG_MULTIPLE},
    OPTION("compression", "COMPRESSION", RM_ARG_INTEGER),
    WORD("override", "OVERRIDE"), END,
};
static const rm_arg a_td_values[] = {KEY, REALS("value"), END};
static const rm_arg a_td_quantiles[] = {KEY, REALS("quantile"), END};
static const rm_arg a_td_ranks[] = {
    KEY, {.name = "rank", .type = RM_ARG_INTEGER, .flags = RM_ARG_MULTIPLE}, END};
static const rm_arg a_td_cuts[] = {KEY, REAL("low_cut_percentile"),
                                   REAL("high_cut_percentile"), END};

static const rm_key_spec reads[] = {
    {.flags = RM_SPEC_RO | RM_SPEC_ACCESS,
     .begin = 2,
     .pos = 1,
     .find = 2,
     .keystep = 1},
    {0},
};
static const rm_key_spec writes[] = {
    {.flags = RM_SPEC_RW | RM_SPEC_INSERT, .begin = 2, .pos = 1,
     .find = 2, .keystep = 1},
    {0},
};
/* The keys of pieces cannot be found in the arguments. */
#define PIECES_NOTE                                                                    \
    .notes = "a filter in pieces also lives in other keys of its slot; the command "   \
             "checks that the user may access them"
static const rm_key_spec bf_reads[] = {
    {PIECES_NOTE, .flags = RM_SPEC_RO | RM_SPEC_ACCESS, .begin = 2, .pos = 1, .find = 2,
     .keystep = 1},
    {0},
};
static const rm_key_spec bf_writes[] = {
    {PIECES_NOTE, .flags = RM_SPEC_RW | RM_SPEC_INSERT, .begin = 2, .pos = 1, .find = 2,
     .keystep = 1},
    {0},
};
static const rm_key_spec merges[] = {
    {.flags = RM_SPEC_RW | RM_SPEC_INSERT, .begin = 2, .pos = 1,
     .find = 2, .keystep = 1},
    {.flags = RM_SPEC_RO | RM_SPEC_ACCESS, .begin = 2, .pos = 2, .find = 2,
     .lastkey = -1, .keystep = 1},
    {0},
};

/* A destination, the number of sources, the sources. */
static const rm_key_spec counted[] = {
    {.flags = RM_SPEC_RW | RM_SPEC_INSERT, .begin = 2, .pos = 1,
     .find = 2, .keystep = 1},
    {.flags = RM_SPEC_RO | RM_SPEC_ACCESS, .begin = 2, .pos = 2, .find = RM_FIND_KEYNUM,
     .lastkey = 0, .keystep = 1, .limit = 1},
    {0},
};

#define READ "readonly fast"
#define READ_SLOW "readonly"
#define WRITE "write deny-oom fast"
#define WRITE_SLOW "write deny-oom"

static const struct row {
    const char *name;
    rm_command *run;
    const char *flags;
    int arity;
    const rm_arg *args;
    const char *since, *complexity, *summary;
    const rm_key_spec *keys; /* NULL: the first argument alone */
} rows[] = {
    {"BF.RESERVE", bf_reserve, WRITE_SLOW, -4, a_bf_reserve, "0.1.0", "O(1)",
     "Creates an empty Bloom filter of a given capacity and error rate"},
    {"BF.ADD", bf_add, WRITE, 3, a_item, "0.1.0", "O(layers)",
     "Adds an item to a Bloom filter, which is created if it does not exist"},
    {"BF.MADD", bf_madd, WRITE, -3, a_items, "0.1.0", "O(items * layers)",
     "Adds items to a Bloom filter, which is created if it does not exist"},
    {"BF.INSERT", bf_insert, WRITE_SLOW, -3, a_bf_insert, "0.1.0", "O(items * layers)",
     "Adds items to a Bloom filter, which is created with the options if it does not "
     "exist"},
    {"BF.EXISTS", bf_exists, READ, 3, a_item, "0.1.0", "O(layers)",
     "Checks whether an item was added to a Bloom filter; 0 if there is no filter"},
    {"BF.MEXISTS", bf_mexists, READ, -3, a_items, "0.1.0", "O(items * layers)",
     "Checks for each item whether it was added; 0 if there is no filter"},
    {"BF.HAS", bf_has, READ, -3, a_items, "0.1.0", "O(items * layers)",
     "Does the same as BF.MEXISTS, but fails if there is no filter"},
    {"BF.INFO", bf_info, READ, -2, a_bf_info, "0.1.0", "O(layers)",
     "Describes a Bloom filter"},
    {"BF.CARD", bf_card, READ, 2, a_key, "0.1.0", "O(layers)",
     "Counts the items that were new when they were added"},
    {"BF.MERGE", bf_merge, WRITE_SLOW, -3, a_merge, "0.1.0", "O(bytes of all filters)",
     "Turns a Bloom filter into the union of itself and others"},
    {"BF.SCANDUMP", bf_scandump, READ_SLOW, 3, a_iter, "0.1.0", "O(bytes sent)",
     "Returns the next piece of a filter's bytes"},
    {"BF.LOADCHUNK", bf_loadchunk, WRITE_SLOW, 4, a_load, "0.1.0", "O(bytes received)",
     "Loads a piece that BF.SCANDUMP returned"},
    {"BF.DEBUG", bf_debug, READ, 2, a_key, "0.1.0", "O(layers)",
     "Describes every layer of a Bloom filter"},
    {"BF.DROP", bf_drop, "write fast", 2, a_key, "0.1.0", "O(pieces)",
     "Deletes a Bloom filter with all its pieces, in the background"},
    {"BF.ROTATE", bf_rotate, WRITE_SLOW, 3, a_rotate, "0.1.0", "O(layers)",
     "Begins the next generation of a filter with a window; masters send it to "
     "replicas"},
    {"CF.RESERVE", cf_reserve, WRITE_SLOW, -3, a_cf_reserve, "0.1.0", "O(1)",
     "Creates an empty cuckoo filter of a given capacity"},
    {"CF.ADD", cf_add, WRITE, 3, a_item, "0.1.0", "O(filters + iterations)",
     "Adds an item to a cuckoo filter, which is created if it does not exist"},
    {"CF.ADDNX", cf_addnx, WRITE, 3, a_item, "0.1.0", "O(filters + iterations)",
     "Adds an item to a cuckoo filter if it is not there"},
    {"CF.INSERT", cf_insert, WRITE_SLOW, -4, a_cf_insert, "0.1.0",
     "O(items * (filters + iterations))", "Adds items to a cuckoo filter"},
    {"CF.INSERTNX", cf_insertnx, WRITE_SLOW, -4, a_cf_insert, "0.1.0",
     "O(items * (filters + iterations))",
     "Adds the items that are not there yet to a cuckoo filter"},
    {"CF.EXISTS", cf_exists, READ, 3, a_item, "0.1.0", "O(filters)",
     "Checks whether an item is in a cuckoo filter"},
    {"CF.MEXISTS", cf_mexists, READ, -3, a_items, "0.1.0", "O(items * filters)",
     "Checks for each item whether it is in a cuckoo filter"},
    {"CF.COUNT", cf_count, READ, 3, a_item, "0.1.0", "O(filters)",
     "Counts how often an item was added to a cuckoo filter"},
    {"CF.DEL", cf_del, "write fast", 3, a_item, "0.1.0", "O(filters)",
     "Removes one occurrence of an item from a cuckoo filter"},
    {"CF.COMPACT", cf_compact, "write", 2, a_key, "0.1.0", "O(bytes of the filter)",
     "Moves items to older sub-filters and drops empty ones"},
    {"CF.INFO", cf_info, READ, 2, a_key, "0.1.0", "O(filters)",
     "Describes a cuckoo filter"},
    {"CF.SCANDUMP", cf_scandump, READ_SLOW, 3, a_iter, "0.1.0", "O(bytes sent)",
     "Returns the next piece of a filter's bytes"},
    {"CF.LOADCHUNK", cf_loadchunk, WRITE_SLOW, 4, a_load, "0.1.0", "O(bytes received)",
     "Loads a piece that CF.SCANDUMP returned"},
    {"CF.DEBUG", cf_debug, READ, 2, a_key, "0.1.0", "O(filters)",
     "Describes a cuckoo filter in one line"},
    {"CMS.INITBYDIM", cms_initbydim, WRITE_SLOW, 4, a_cms_dim, "2.0.0", "O(1)",
     "Creates a count-min sketch of a given width and depth"},
    {"CMS.INITBYPROB", cms_initbyprob, WRITE_SLOW, 4, a_cms_prob, "2.0.0", "O(1)",
     "Creates a count-min sketch for a given error and its probability"},
    {"CMS.INCRBY", cms_incrby, WRITE_SLOW, -4, a_pairs, "2.0.0", "O(items * depth)",
     "Raises the counts of items and answers with the new ones"},
    {"CMS.QUERY", cms_query, READ_SLOW, -3, a_items, "2.0.0", "O(items * depth)",
     "Tells how often each item was counted, or a little more"},
    {"CMS.MERGE", cms_merge, WRITE_SLOW, -4, a_cms_merge, "2.0.0", "O(cells * sources)",
     "Makes a sketch the weighted sum of others"},
    {"CMS.INFO", cms_info, READ_SLOW, 2, a_key, "2.0.0", "O(1)",
     "Tells width, depth and the sum of all counts"},
    {"TOPK.RESERVE", topk_reserve, WRITE_SLOW, -3, a_topk_reserve, "2.0.0",
     "O(k + width * depth)", "Creates a list of the k most frequent items"},
    {"TOPK.ADD", topk_add, WRITE_SLOW, -3, a_items, "2.0.0",
     "O(items * (depth + log k))",
     "Counts items and answers with those that left the list for them"},
    {"TOPK.INCRBY", topk_incrby, WRITE_SLOW, -4, a_pairs, "2.0.0",
     "O(items * (depth * count + log k))",
     "Raises the counts of items and answers with those that left the list for them"},
    {"TOPK.QUERY", topk_query, READ_SLOW, -3, a_items, "2.0.0", "O(items)",
     "Tells for each item whether it is in the list"},
    {"TOPK.COUNT", topk_count, READ_SLOW, -3, a_items, "2.0.0", "O(items * depth)",
     "Tells the count of each item, as the buckets know it"},
    {"TOPK.LIST", topk_list, READ_SLOW, -2, a_topk_list, "2.0.0", "O(k * log k)",
     "Sends the list, most frequent items first"},
    {"TOPK.INFO", topk_info, READ_SLOW, 2, a_key, "2.0.0", "O(1)",
     "Tells k, width, depth and decay of a list"},
    {"TDIGEST.CREATE", tdigest_create, WRITE_SLOW, -2, a_td_create, "2.4.0", "O(1)",
     "Creates an empty t-digest"},
    {"TDIGEST.RESET", tdigest_reset, WRITE_SLOW, 2, a_key, "2.4.0", "O(1)",
     "Empties a t-digest"},
    {"TDIGEST.ADD", tdigest_add, WRITE_SLOW, -3, a_td_values, "2.4.0", "O(values)",
     "Adds values to a t-digest"},
    {"TDIGEST.MERGE", tdigest_merge, WRITE_SLOW, -4, a_td_merge, "2.4.0",
     "O(nodes of all digests)", "Merges t-digests into one", counted},
    {"TDIGEST.MIN", tdigest_min, READ_SLOW, 2, a_key, "2.4.0", "O(1)",
     "Tells the smallest value"},
    {"TDIGEST.MAX", tdigest_max, READ_SLOW, 2, a_key, "2.4.0", "O(1)",
     "Tells the largest value"},
    {"TDIGEST.QUANTILE", tdigest_quantile, READ_SLOW, -3, a_td_quantiles, "2.4.0",
     "O(nodes)", "Tells the value below which a share of all values lies"},
    {"TDIGEST.CDF", tdigest_cdf, READ_SLOW, -3, a_td_values, "2.4.0",
     "O(values * nodes)", "Tells the share of values below each value"},
    {"TDIGEST.RANK", tdigest_rank, READ_SLOW, -3, a_td_values, "2.4.0",
     "O(values * nodes)", "Tells how many values are smaller"},
    {"TDIGEST.REVRANK", tdigest_revrank, READ_SLOW, -3, a_td_values, "2.4.0",
     "O(values * nodes)", "Tells how many values are larger"},
    {"TDIGEST.BYRANK", tdigest_byrank, READ_SLOW, -3, a_td_ranks, "2.4.0",
     "O(ranks * nodes)", "Tells the value at a rank, counted from the smallest"},
    {"TDIGEST.BYREVRANK", tdigest_byrevrank, READ_SLOW, -3, a_td_ranks, "2.4.0",
     "O(ranks * nodes)", "Tells the value at a rank, counted from the largest"},
    {"TDIGEST.TRIMMED_MEAN", tdigest_trimmed_mean, READ_SLOW, 4, a_td_cuts, "2.4.0",
     "O(nodes)", "Tells the mean of the values between two quantiles"},
    {"TDIGEST.INFO", tdigest_info, READ_SLOW, 2, a_key, "2.4.0", "O(1)",
     "Describes a t-digest"},
};

static bool is(const char *x, const char *y) { return !strcmp(x, y); }

static const rm_key_spec *key_specs_of(const struct row *r)
{
    bool write = !strncmp(r->flags, "write", 5);
    if (r->keys)
        return r->keys;
    if (is(r->name, "BF.MERGE"))
        return merges;
    if (!strncmp(r->name, "BF.", 3))
        return write ? bf_writes : bf_reads;
    return write ? writes : reads;
}

static int describe(rm_ctx *ctx, const struct row *r, const char *name)
{
    static const rm_info_version version = {1, 16, sizeof(rm_key_spec), sizeof(rm_arg)};
    rm_cmd *cmd = RM_GetCommand ? RM_GetCommand(ctx, name) : NULL;
    if (!cmd)
        return RM_OK;
    rm_command_info info = {
        .version = &version,
        .summary = r->summary,
        .complexity = r->complexity,
        .since = r->since,
        .arity = r->arity,
        .key_specs = key_specs_of(r),
        .args = r->args,
    };
    if (RM_SetCommandInfo && RM_SetCommandInfo(cmd, &info) != RM_OK)
        return RM_ERR;
    acl_categories_set(cmd, name, r->flags);
    return RM_OK;
}

/* Commands are registered in lower case, as the server's own are: that is how ACL LOG,
 * error messages and commandstats show them. */
static void lower_case(char *to, size_t size, const char *from)
{
    size_t i = 0;
    for (; from[i] && i + 1 < size; i++)
        to[i] = (char)tolower((unsigned char)from[i]);
    to[i] = 0;
}

int commands_register(rm_ctx *ctx)
{
    acl_categories_register(ctx);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        int last = is(r->name, "BF.MERGE") ? -1 : 1;
        char name[32];
        lower_case(name, sizeof name, r->name);
        if (RM_CreateCommand(ctx, name, r->run, r->flags, 1, last, 1) != RM_OK ||
            describe(ctx, r, name) != RM_OK) {
            RM_Log(ctx, "warning", "the server refuses command %s", r->name);
            return RM_ERR;
        }
    }
    return RM_OK;
}
