/* scripts.h - the steps of a shared crawl, each atomic inside Redis.
 *
 * A crawl NAME is spread over SHARDS shards by host; all keys of a shard lie in one
 * slot and begin with "seen:NAME:{shard}:".
 *
 *   q:ORIGIN   list  addresses that wait
 *   w:ORIGIN   list  addresses that a worker has taken and not finished
 *   ready      zset  hosts with waiting addresses, by the time they may be asked
 *   lease      zset  hosts that a worker has, by the time that ends
 *   owner      hash  which worker
 *   rest       hash  hosts with nothing to do, and when they may be asked again
 *   n          hash  counts: found, done, and of the seen-set's layers
 *   set, bf, bits:I  the seen-set: fingerprints, the module's filter, or bitmaps
 *
 * Every script may run twice (a connection may break before its reply): the second time
 * finds done what the first did. */
#ifndef CRAWL_SCRIPTS_H
#define CRAWL_SCRIPTS_H

enum script {
    SCRIPT_PUSH,  /* mode, capacity, error, then origin, item, fingerprint ... */
    SCRIPT_CLAIM, /* worker, lease ms, hosts, addresses of each -> {origin, item...}...
                   */
    SCRIPT_DONE,  /* worker, lease ms, then origin, item ... */
    SCRIPT_RELEASE, /* worker, then origin, wait ms ... */
    SCRIPT_RENEW,   /* worker, lease ms, then origin ... -> 1 or 0 (lost) for each */
    SCRIPT_STATUS,  /* -> {hosts ready, hosts leased, found, done, bytes} */
    SCRIPTS
};

extern const char *const script_text[SCRIPTS];

#endif
