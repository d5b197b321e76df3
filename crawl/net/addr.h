/* addr.h - which addresses a crawler may connect to.
 *
 * A page can link to, redirect to, or resolve to anything: the router, a metadata
 * service, a database on this machine. Only addresses of the public internet pass,
 * unless the user says otherwise; asked for each address actually connected to. */
#ifndef CRAWL_ADDR_H
#define CRAWL_ADDR_H

#include <stdbool.h>
#include <sys/socket.h>

/* Whether SA is an address of the public internet. Addresses that carry an IPv4
 * address inside (mapped, NAT64, 6to4) are judged by that one. */
bool addr_is_public(const struct sockaddr *sa);

#endif
