/* error_texts.h - what the commands say, letter by letter as clients know it. */
#ifndef SEEN_REDIS_ERROR_TEXTS_H
#define SEEN_REDIS_ERROR_TEXTS_H

#define SAY_WRONGTYPE                                                                  \
    "WRONGTYPE Operation against a key holding the wrong kind of value"
#define SAY_NOT_FOUND "ERR not found"
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
    "ERR filters cannot be merged: layout, seed or hashing differ, or one has a "      \
    "window"

#define SAY_MERGE_LAYERS                                                               \
    "ERR the union would have more than 64 layers: reserve one filter for all items"

#define SAY_BAD_PIECES "ERR pieces must be in the range [2, 1024]"
#define SAY_PIECE_FAST "ERR pieces need the fast layout and no window"
#define SAY_PIECE_NAME                                                                  \
    "ERR this name cannot have pieces in its slot: avoid { and }, or use a {tag}"
#define SAY_PIECE_SIZE "ERR too few pieces: each must be smaller than 480 MB"
#define SAY_PIECE_LOST "ERR a piece of this filter is missing: it was deleted or evicted"
#define SAY_PIECE_AGAIN                                                                 \
    "TRYAGAIN a piece of this filter is not here: its slot moves, or it is lost"
#define SAY_PIECE_DENIED                                                               \
    "NOPERM this user has no permissions to access the keys of this filter's pieces"
#define SAY_PIECE_NO                                                                    \
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

#endif
