/* server_request.h - a command to a server, and its reply. */
#ifndef SEEN_REMOTE_SERVER_REQUEST_H
#define SEEN_REMOTE_SERVER_REQUEST_H
#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLUSTER_SLOTS = 16384 };

typedef struct request {
    unsigned slot; /* of its key: slot_of() */
    char *bytes;   /* the command as sent, from request_* below */
    size_t len, room;
    redisReply *reply; /* when done; free with requests_free() */
    bool unsure; /* sent again after a connection broke: may have been done twice */
    void *ask;   /* private to nodes.c */
} request;

/* The slot of a cluster that KEY belongs to. */
unsigned slot_of(const char *key, size_t len);

/* Builds a command word by word; request_start takes the number of words to follow. */
void request_start(request *r, size_t words);
void request_word(request *r, const void *p, size_t len);
void request_text(request *r, const char *s);
void request_number(request *r, uint64_t n);
void requests_free(request *r, size_t n);

/* A whole command of texts, as in request_words(r, WORDS("GET", name)). */
void request_words(request *r, size_t n, const char *const *words);
#define WORDS(...)                                                                     \
    sizeof WORD_LIST(__VA_ARGS__) / sizeof(char *), WORD_LIST(__VA_ARGS__)
#define WORD_LIST(...) ((const char *[]){__VA_ARGS__})

#endif
