/* error_texts.h - the error replies, letter by letter as clients know them. */
#ifndef SEEN_REDIS_ERROR_TEXTS_H
#define SEEN_REDIS_ERROR_TEXTS_H

#define SAY_WRONGTYPE                                                                  \
    "WRONGTYPE Operation against a key holding the wrong kind of value"
#define SAY_NOT_FOUND "ERR not found"
#define SAY_NOPERM "NOPERM No permissions to access a key"
#define SAY_EXISTS "ERR item exists"

/* BF.RESERVE */
#define SAY_BAD_ERROR "ERR bad error rate"
#define SAY_ERROR_RANGE "ERR error rate must be in the range (0.000000, 1.000000)"
#define SAY_BAD_CAPACITY "ERR bad capacity"
#define SAY_CAPACITY_RANGE "ERR capacity must be in the range [1, 1073741824]"
#define SAY_NO_EXPANSION "ERR no expansion"
#define SAY_BAD_EXPANSION "ERR bad expansion"
#define SAY_EXPANSION_RANGE "ERR expansion must be in the range [0, 32768]"
#define SAY_FIXED_EXPANDS "Nonscaling filters cannot expand"
#define SAY_NO_RANDOM "ERR the system has no random bytes for the secret of a filter"
#define SAY_NO_MEMORY "ERR Insufficient memory to create filter"
#define SAY_OVER_LIMIT "ERR operation exceeds bloom object memory limit"

/* BF.INSERT; the lower half is valkey-bloom's */
#define SAY_INSERT_ERROR "Bad error rate"
#define SAY_INSERT_EXPANSION "Bad expansion"
#define SAY_INSERT_CAPACITY "Bad capacity"
#define SAY_UNKNOWN "Unknown argument received"
#define SAY_BAD_TIGHTENING "ERR bad tightening ratio"
#define SAY_TIGHTENING_RANGE "ERR (0 < tightening ratio range < 1)"
#define SAY_BAD_SEED "ERR invalid seed"
#define SAY_BAD_SCALE_TO "ERR bad VALIDATESCALETO"
#define SAY_SCALE_MEMORY                                                               \
    "ERR provided VALIDATESCALETO causes bloom object to exceed memory limit"
#define SAY_SCALE_ERROR                                                                \
    "ERR provided VALIDATESCALETO causes false positive to degrade to 0"
#define SAY_SCALE_FIXED "ERR cannot use NONSCALING and VALIDATESCALETO options together"

/* BF.ADD and the like */
#define SAY_FULL "ERR non scaling filter is full"
#define SAY_PROBLEM "ERR problem inserting into filter"
#define SAY_BAD_INFO "Invalid information value"
#define SAY_SCAN_NUMERIC "Second argument must be numeric"
#define SAY_LOAD_NUMERIC "ERR Second argument must be numeric"
#define SAY_BAD_DATA "ERR received bad data"
#define SAY_NO_LINK "ERR invalid offset - no link found"
#define SAY_CHUNK_BIG "ERR invalid chunk - Too big for current filter"

/* ours */
#define SAY_BAD_WINDOW "ERR window must be in the range [1, 315360000] seconds"
#define SAY_WINDOW_FAST "ERR a window needs the fast layout"
#define SAY_BAD_LAYOUT "ERR layout must be fast or compat"
#define SAY_DIFFER                                                                     \
    "ERR filters cannot be merged: their layouts or secret seeds differ (reserve "     \
    "both "                                                                            \
    "on one server, or with the same SEED), or one has a window"

#define SAY_MERGE_LAYERS                                                               \
    "ERR the union would have more than 64 layers: reserve one filter for all items"

#define SAY_BAD_PIECES "ERR pieces must be in the range [2, 1024]"
#define SAY_PIECE_FAST "ERR pieces need the fast layout and no window"
#define SAY_PIECE_NAME                                                                 \
    "ERR this name cannot have pieces in its slot: avoid { and }, or use a {tag}"
#define SAY_PIECE_SIZE "ERR too few pieces: each must be smaller than 480 MB"
#define SAY_PIECE_LOST                                                                 \
    "ERR a piece of this filter is missing: it was deleted or evicted"
#define SAY_PIECE_AGAIN                                                                \
    "TRYAGAIN a piece of this filter is not here: its slot moves, or it is lost"
#define SAY_PIECE_DENIED                                                               \
    "NOPERM this user has no permissions to access the keys of this filter's pieces"
#define SAY_PIECE_NO                                                                   \
    "ERR not for a filter in pieces: use its pieces, or BF.DROP to delete it"

/* CF.* */
#define SAY_CF_CAPACITY "Bad capacity"
#define SAY_CF_PARSE "Couldn't parse "
#define SAY_CF_BUCKETSIZE "BUCKETSIZE: value must be in the range [1, 255]"
#define SAY_CF_ITERATIONS "MAXITERATIONS: value must be in the range [1, 65535]"
#define SAY_CF_EXPANSION "EXPANSION: value must be in the range [0, 32768]"
#define SAY_CF_RANGE "Capacity must be in the range [2 * BUCKETSIZE, 1073741824]"
#define SAY_CF_INSERT_RANGE                                                            \
    "Capacity must be in the range [cf-bucket-size * 2, 1073741824]"
#define SAY_CF_FULL "Filter is full"
#define SAY_CF_EXPANDED "Maximum expansions reached"
#define SAY_CF_NO_MEMORY "ERR Insufficient memory"
#define SAY_CF_ABSENT "Not found"
#define SAY_CF_NONE "Cuckoo filter was not found"
#define SAY_CF_POSITION "Invalid position"
#define SAY_CF_HEADER "Invalid header"
#define SAY_CF_CREATE "Couldn't create filter!"
#define SAY_CF_CHUNK "Couldn't load chunk!"

/* CMS.* */
#define SAY_CMS_EXISTS "CMS: key already exists"
#define SAY_CMS_MISSING "CMS: key does not exist"
#define SAY_CMS_WIDTH "CMS: invalid width"
#define SAY_CMS_DEPTH "CMS: invalid depth"
#define SAY_CMS_ERROR "CMS: invalid overestimation value"
#define SAY_CMS_PROB "CMS: invalid prob value"
#define SAY_CMS_INIT "CMS: invalid init arguments"
#define SAY_CMS_NO_MEMORY "CMS: Insufficient memory to create the key"
#define SAY_CMS_NUMBER "CMS: Cannot parse number"
#define SAY_CMS_NEGATIVE "CMS: Number cannot be negative"
#define SAY_CMS_OVERFLOW "CMS: INCRBY overflow"
#define SAY_CMS_NUMKEYS "CMS: invalid numkeys"
#define SAY_CMS_NO_KEYS "CMS: Number of keys must be positive"
#define SAY_CMS_KEYS "CMS: wrong number of keys"
#define SAY_CMS_KEYS_WEIGHTS "CMS: wrong number of keys/weights"
#define SAY_CMS_WEIGHT "CMS: invalid weight value"
#define SAY_CMS_DIFFER "CMS: width/depth is not equal"
#define SAY_CMS_MERGE_OVERFLOW "CMS: MERGE overflow"

/* TOPK.* */
#define SAY_TOPK_EXISTS "TopK: key already exists"
#define SAY_TOPK_MISSING "TopK: key does not exist"
#define SAY_TOPK_K "TopK: invalid k"
#define SAY_TOPK_WIDTH "TopK: invalid width"
#define SAY_TOPK_DEPTH "TopK: invalid depth"
#define SAY_TOPK_DECAY "TopK: invalid decay value. must be '<= 1' & '> 0'"
#define SAY_TOPK_NO_MEMORY "ERR Insufficient memory to create topk data structure"
#define SAY_TOPK_INCREMENT                                                             \
    "TopK: increment must be an integer greater or equal to 0"                         \
    "                            and smaller or equal to 100,000"
#define SAY_TOPK_WITHCOUNT "WITHCOUNT keyword expected"

/* TDIGEST.* */
#define SAY_TD "ERR T-Digest: "
#define SAY_TD_EXISTS SAY_TD "key already exists"
#define SAY_TD_MISSING SAY_TD "key does not exist"
#define SAY_TD_KEYWORD SAY_TD "wrong keyword"
#define SAY_TD_PARSE_COMPRESSION SAY_TD "error parsing compression parameter"
#define SAY_TD_COMPRESSION SAY_TD "compression parameter needs to be a positive integer"
#define SAY_TD_NO_MEMORY SAY_TD "allocation failed"
#define SAY_TD_PARSE_VALUE SAY_TD "error parsing val parameter"
#define SAY_TD_FINITE SAY_TD "val parameter needs to be a finite number"
#define SAY_TD_OVERFLOW SAY_TD "overflow detected"
#define SAY_TD_PARSE_QUANTILE SAY_TD "error parsing quantile"
#define SAY_TD_QUANTILE SAY_TD "quantile should be in [0,1]"
#define SAY_TD_PARSE_CDF SAY_TD "error parsing cdf"
#define SAY_TD_PARSE_RANKED SAY_TD "error parsing value"
#define SAY_TD_PARSE_RANK SAY_TD "error parsing rank"
#define SAY_TD_RANK SAY_TD "rank needs to be non negative"
#define SAY_TD_PARSE_LOW SAY_TD "error parsing low_cut_percentile"
#define SAY_TD_PARSE_HIGH SAY_TD "error parsing high_cut_percentile"
#define SAY_TD_CUTS                                                                    \
    SAY_TD "low_cut_percentile and high_cut_percentile should be in [0,1]"
#define SAY_TD_CUT_ORDER                                                               \
    SAY_TD "low_cut_percentile should be lower than high_cut_percentile"
#define SAY_TD_PARSE_NUMKEYS SAY_TD "error parsing numkeys"
#define SAY_TD_NUMKEYS SAY_TD "numkeys needs to be a positive integer"
#define SAY_TD_MERGE_NO_MEMORY SAY_TD "allocation of destination digest failed"

#endif
