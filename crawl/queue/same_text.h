/* same_text.h - which pages show the same text: the first page of each text, and how
 * many others followed it. 32 bytes for each text, or a little more. */
#ifndef CRAWL_SAME_TEXT_H
#define CRAWL_SAME_TEXT_H

#include <stddef.h>
#include <stdint.h>

typedef struct text_seen {
    uint64_t hash;  /* of the text; 0: none */
    uint64_t at;    /* of its first page in the log */
    uint64_t pages; /* that show it */
} text_seen;

/* All zero at first. */
typedef struct same_text {
    text_seen *texts; /* ROOM of them, in places of their own */
    size_t count, room;
} same_text;

/* The page at AT shows the text HASH. Returns where the first page with it is, or 0 if
 * it is this one. */
uint64_t same_text_add(same_text *s, uint64_t hash, uint64_t at);

void same_text_free(same_text *s);

#endif
