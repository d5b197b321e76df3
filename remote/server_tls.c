/* server_tls.c - TLS through hiredis_ssl. It has a file of its own so that programs
 * without TLS need not link OpenSSL. */
#include "server_tls.h"
#ifdef SEEN_REDIS_TLS
#include <hiredis/hiredis_ssl.h>

bool sn_tls_start(sn_conn *c, const char *host, void **shared)
{
    redisContext *context = sn_conn_context(c);
    if (!*shared) {
        redisSSLContextError bad;
        redisInitOpenSSL();
        *shared = redisCreateSSLContext(NULL, "/etc/ssl/certs", NULL, NULL, host, &bad);
    }
    if (!*shared || redisInitiateSSLWithContext(context, *shared) != REDIS_OK)
        return sn_conn_fail("%s: TLS: %s", host,
                            *shared ? context->errstr : "cannot be set up");
    return true;
}

void sn_tls_free(void *shared)
{
    if (shared)
        redisFreeSSLContext(shared);
}

#else

bool sn_tls_start(sn_conn *c, const char *host, void **shared)
{
    return sn_conn_fail(
        "rediss:// needs a build with hiredis 1.0 or newer, which has TLS");
}

void sn_tls_free(void *shared) {}

#endif
