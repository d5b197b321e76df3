/* untrusted_header.h - numbers in the header of a file that anybody may have written. */
#ifndef SN_UNTRUSTED_HEADER_H
#define SN_UNTRUSTED_HEADER_H
#include "base/fail.h"
#include "seen.h"

/* Fails as sn_fail(SEEN_EFORMAT, ...) does, where only the length is wrong (if CUT: there
 * are too few bytes): then the file may be recognised as one that was cut short. */
#define sn_wrong_length(cut, ...)                                                      \
    (sn_is_cut = (cut), sn_fail(SEEN_EFORMAT, __VA_ARGS__))
extern _Thread_local bool sn_is_cut;
/* Saturates instead of wrapping, because the counters come from a file's header. */
static inline void sn_count_up(uint64_t *counter, uint64_t by)
{
    *counter = *counter + by < by ? UINT64_MAX : *counter + by;
}
#endif
