/* url.h - one spelling for each web address.
 *
 * Parses as browsers do (the WHATWG URL standard: spaces around, tabs and newlines
 * inside, backslashes, missing slashes, IPv4 in any notation) and then normalises
 * as RFC 3986 section 6.2.2 says: scheme and host in small letters, no default
 * port, no dot segments, %7E as ~, hex digits in capitals, no fragment. Two
 * spellings of one address come out as the same bytes; normalising twice changes
 * nothing. Never allocates. About 0.1 us a link. */
#ifndef KIT_URL_H
#define KIT_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest result, with its NUL; also the longest input. */
#define URL_ROOM 8192

enum url_code {
    URL_OK = 0,
    URL_ERELATIVE = -1, /* no scheme, and no base to resolve against */
    URL_ESCHEME = -2,   /* not http, https, ws, wss or ftp */
    URL_EHOST = -3,     /* no host, or an impossible one */
    URL_EPORT = -4,     /* not a port number */
    URL_ELONG = -5,     /* longer than the room given, or than URL_ROOM */
    URL_EIDNA = -6      /* a host beyond ASCII, and url_idna is not set */
};

enum url_scheme { URL_HTTP = 1, URL_HTTPS, URL_WS, URL_WSS, URL_FTP };

/* A normalised URL: text and where its parts are. The text lies in the buffer that
 * the caller gave and ends with a NUL. */
typedef struct url {
    const char *text;
    uint32_t len;
    uint32_t user;     /* offset of "user:password@", equal to host if there is none */
    uint32_t host;     /* offset of the host; IPv6 in its brackets */
    uint32_t host_len; /* without the port */
    uint32_t path;     /* offset of the path's first slash; always there */
    uint32_t query;    /* offset of '?', or len if there is none */
    uint16_t port;     /* given or by default */
    uint8_t scheme;    /* enum url_scheme */
    bool ip;           /* the host is an address, not a name */
} url;

/* Normalises the absolute URL of LEN bytes at IN into OUT, which has ROOM bytes
 * (URL_ROOM is always enough). Returns URL_OK and fills U, or a negative code; OUT
 * may then hold anything. IN and OUT must not overlap. */
int url_normalise(const char *in, size_t len, char *out, size_t room, url *u);

/* The same for a link found in the document BASE: IN may be absolute or relative.
 * BASE's text must not lie in OUT. */
int url_resolve(const url *base, const char *in, size_t len, char *out, size_t room,
                url *u);

/* The code in words; never NULL. */
const char *url_strerror(int code);

/* Translates a host beyond ASCII (LEN bytes of UTF-8) into its ASCII form, such as
 * "xn--bcher-kva.example": writes it to OUT of ROOM bytes and returns its length, or a
 * negative number if the name is not valid. While it is NULL such hosts are URL_EIDNA;
 * programs that want them set it once, before they start threads. */
extern int (*url_idna)(const char *host, size_t len, char *out, size_t room);

#endif
