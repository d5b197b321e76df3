/* addr.c - the special-purpose address registries (RFC 6890) as two tables. */
#include "addr.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static const struct {
    uint32_t net;
    uint8_t bits;
} private4[] = {
    {0x00000000, 8},  /* this network */
    {0x0a000000, 8},  /* private */
    {0x64400000, 10}, /* carrier-grade NAT */
    {0x7f000000, 8},  /* loopback */
    {0xa9fe0000, 16}, /* link-local, cloud metadata */
    {0xac100000, 12}, /* private */
    {0xc0000000, 24}, /* protocol assignments */
    {0xc0000200, 24}, /* documentation */
    {0xc0586300, 24}, /* 6to4 relays */
    {0xc0a80000, 16}, /* private */
    {0xc6120000, 15}, /* benchmarks */
    {0xc6336400, 24}, /* documentation */
    {0xcb007100, 24}, /* documentation */
    {0xe0000000, 4},  /* multicast */
    {0xf0000000, 4},  /* reserved, broadcast */
};

static bool public4(uint32_t a)
{
    for (size_t i = 0; i < sizeof private4 / sizeof *private4; i++)
        if ((a ^ private4[i].net) >> (32 - private4[i].bits) == 0)
            return false;
    return true;
}

static uint32_t word(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static bool public6(const uint8_t *a)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    static const uint8_t nat64[12] = {0, 0x64, 0xff, 0x9b};
    if (!memcmp(a, mapped, 12) || !memcmp(a, nat64, 12))
        return public4(word(a + 12));
    if ((a[0] & 0xe0) != 0x20) /* all that is global lies in 2000::/3 */
        return false;
    uint32_t high = word(a);
    if (high >> 9 == 0x20010000 >> 9) /* protocol assignments, Teredo, ORCHID */
        return false;
    if (high == 0x20010db8) /* documentation */
        return false;
    if (high >> 12 == 0x3fff0000 >> 12) /* 3fff::/20, documentation */
        return false;
    if (high >> 16 == 0x2002) /* 6to4 */
        return public4(word(a + 2));
    return true;
}

bool addr_is_public(const struct sockaddr *sa)
{
    if (sa->sa_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, sa, sizeof in);
        return public4(ntohl(in.sin_addr.s_addr));
    }
    if (sa->sa_family == AF_INET6) {
        struct sockaddr_in6 in6;
        memcpy(&in6, sa, sizeof in6);
        return public6(in6.sin6_addr.s6_addr);
    }
    return false;
}
