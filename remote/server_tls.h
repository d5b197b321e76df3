/* server_tls.h - TLS on a connection to a server, if hiredis has it. */
#ifndef SEEN_REMOTE_SERVER_TLS_H
#define SEEN_REMOTE_SERVER_TLS_H
#include "server_connection.h"

/* Starts TLS on C; the certificate must be valid for HOST. *SHARED starts as NULL and
 * serves all connections to one host; sn_tls_free() frees it. False: sn_conn_reason().
 */
bool sn_tls_start(sn_conn *c, const char *host, void **shared);
void sn_tls_free(void *shared);

#endif
