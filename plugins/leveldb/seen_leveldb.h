/* seen_leveldb.h - filter policies for LevelDB's C API.
 *
 *     leveldb_options_t *o = leveldb_options_create();
 *     leveldb_filterpolicy_t *p = seen_leveldb_policy(10);
 *     leveldb_options_set_filter_policy(o, p);
 *     ... leveldb_open, use, leveldb_close ...
 *     leveldb_filterpolicy_destroy(p);
 *
 * A policy must outlive the database that uses it: close first, then destroy.
 * Policies are immutable and may be shared by databases and threads. Iterators do
 * not ask filters, leveldb_get does. A database with its own comparator can use
 * these policies only if keys that compare equal are equal bytes.
 */
#ifndef SEEN_LEVELDB_H
#define SEEN_LEVELDB_H

#include <leveldb/c.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SEEN_LEVELDB_API __attribute__((visibility("default")))
#else
#define SEEN_LEVELDB_API
#endif

/* The name under which seen_leveldb_policy stores its filters in table files. */
#define SEEN_LEVELDB_NAME "seen.TableFilter2"

/* Our own encoding: never larger than the builtin's at the same BITS_PER_KEY
 * (clamped to 2 .. 40), and it lets through about 1 absent key in
 * 2^(BITS_PER_KEY - 1), for any pattern of keys. A damaged filter, which its check byte
 * reveals, lets all keys through.
 *
 * It opens databases that were written with another policy, or none: their old tables
 * are read unfiltered until compaction rewrites them. NULL if out of memory. */
SEEN_LEVELDB_API leveldb_filterpolicy_t *seen_leveldb_policy(int bits_per_key);

/* The builtin's encoding under the builtin's name, bit for bit: a database can switch
 * freely between this policy and leveldb_filterpolicy_create_bloom. For databases that
 * other programs read, too; it has the builtin's weakness. NULL if out of memory. */
SEEN_LEVELDB_API leveldb_filterpolicy_t *seen_leveldb_policy_builtin(int bits_per_key);

#ifdef __cplusplus
}
#endif
#endif
