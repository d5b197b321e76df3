/* untrusted_header.h - helpers for numbers in the headers of untrusted files. */
#ifndef SN_UNTRUSTED_HEADER_H
#define SN_UNTRUSTED_HEADER_H
#include "base/fail.h"
#include "seen.h"

/* Fails like sn_fail(SEEN_EFORMAT, ...) if only the length is wrong. CUT: there are too
 * few bytes, so that the file may be reported as truncated. */
#define sn_wrong_length(cut, ...)                                                      \
    (sn_is_cut = (cut), sn_fail(SEEN_EFORMAT, __VA_ARGS__))
extern _Thread_local bool sn_is_cut;
/* Saturates instead of wrapping, because the counter comes from the header of a
 * file. */
static inline void sn_count_up(uint64_t *counter, uint64_t by)
{
    *counter = *counter + by < by ? UINT64_MAX : *counter + by;
}
#endif
