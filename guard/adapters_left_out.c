/* adapters_left_out.c - the adapters that this build has no package for.
 *
 * Each still has its function, so that a program links the same everywhere; it refuses
 * and names the package. */
#include "guard_internal.h"

#ifndef HAVE_cache_redis
int seen_guard_redis(const char *host, int port, const char *prefix,
                     unsigned connections, seen_guard_cache *out)
{
    return sn_guard_fail(SEEN_EIO, "this build has no Redis: build it again with "
                                   "libhiredis-dev installed");
}
#endif

#ifndef HAVE_shared_backend
const guard_backend sn_shared_backend;
int sn_shared_backend_open(seen_guard *g, const seen_guard_config *config)
{
    return sn_guard_fail(SEEN_EIO, "this build has no Redis: build it again with "
                                   "libhiredis-dev installed");
}
#endif

#ifndef HAVE_db_sqlite
int seen_guard_sqlite(const char *path, const seen_guard_sql *sql, unsigned connections,
                      seen_guard_db *out)
{
    return sn_guard_fail(SEEN_EIO, "this build has no SQLite: build it again with "
                                   "libsqlite3-dev installed");
}
#endif

#ifndef HAVE_db_postgres
int seen_guard_postgres(const char *conninfo, const seen_guard_sql *sql,
                        unsigned connections, seen_guard_db *out)
{
    return sn_guard_fail(SEEN_EIO, "this build has no PostgreSQL: build it again with "
                                   "libpq-dev installed");
}
#endif
