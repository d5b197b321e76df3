/* shared_scripts.h - the steps that the server runs atomically, as Lua scripts.
 *
 * All state is one hash, KEYS[1], so that it is lost as a whole or not at all:
 *     srv          run id and replication id of the server for which it is true
 *     born         when that server adopted it (milliseconds of its clock); with rep,
 *                  when replicas first confirmed that it is their master
 *     conf         whether they have
 *     tag epoch
 *     secret       how keys are hashed: "3:" and 128 bits, keyed. States made before
 *                  have and keep `seed`, 64 bits for XXH3; a program that knows only
 *                  that one finds none in a new state, and neither asks nor writes
 *     live next    ids of the filter in use and of the one being built, '' for none
 *     fl fn        their shapes, "bits:probes"
 *     why susp gen built added deleted cap
 *     rep e l      replicas needed; lease to enforce, lease to write (milliseconds)
 *     until        until when the filter may refuse keys, if rep is not 0
 *     lock lockt   the builder, and until when it is
 *     touched      written for replicas to confirm
 *     m<hash>      a key being written: "token@deadline;" for each writer
 * Beside it are KEYS[1]:bits:ID (a bitmap with one byte more, which is 1), :part:ID
 * (what a builder has scanned) and :c:EPOCH:KEY (cache entries).
 *
 * Every script gets the ids that its connection began with. A state that another server
 * left, or the same one before a restart, may lack confirmed writes: the script returns
 * 'S', and the state is adopted, without a filter and with a new epoch. A deleted state
 * is made again, with another secret: BEGIN and ANNOUNCE carry the epoch, so that no
 * mark and no filter is hashed with the old one. Marks may be lost then, too, so for
 * `l` nothing is built and no cache entry is trusted: after that, all writes that were
 * marked elsewhere are decided.
 *
 * Two masters at once. `rep` replicas and their master are more than half of all
 * servers and a replica follows one master, so from the moment that replicas have
 * confirmed to the new master, the old one can have nothing confirmed: neither a write,
 * nor that it may refuse keys, or believe its cache, for `e` longer. The new one takes
 * no write before that `e` is over. */
#ifndef GUARD_SHARED_SCRIPTS_H
#define GUARD_SHARED_SCRIPTS_H

enum shared_script {
    SCRIPT_STATE,    /* adopts the state if it must, and reads it */
    SCRIPT_ASK,      /* filter and cache: 'S', 'R'efused, or two answers */
    SCRIPT_FILL,     /* an entry, by the holder of its lease */
    SCRIPT_BEGIN,    /* marks and adds: 'S', 'W'ait, 'C'onfirm first, 'K' done */
    SCRIPT_END,      /* drops entries and unmarks */
    SCRIPT_ANNOUNCE, /* a filter to be built: 'S', 'B'usy, 'N'o, 'W'ait, 'K' and marks
                      */
    SCRIPT_RENEW,    /* renews or gives up the builder's lock: 'K', or 'G'one */
    SCRIPT_PUBLISH,  /* the swap: 'K' or 'G' */
    SCRIPT_SUSPEND,
    SCRIPT_TOUCH,   /* writes something for WAIT to wait for: the time, or 'S' */
    SCRIPT_ENFORCE, /* the filter may refuse keys until then */
    SHARED_SCRIPTS
};

extern const char *const sn_shared_script[SHARED_SCRIPTS];
#endif
