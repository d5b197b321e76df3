/* gate.h - this process's mapping of the filters that the control file names. */
#ifndef GUARD_GATE_H
#define GUARD_GATE_H
#include "control.h"

#include <pthread.h>
#include <seen.h>

typedef struct gate_filter {
    uint32_t number; /* 0: none */
    seen_filter *f;
} gate_filter;

typedef struct gate {
    control *c;
    char *path; /* filter N is the file PATH.N */
    pthread_rwlock_t lock;
    gate_filter live, next;
    _Atomic uint32_t cannot; /* this process cannot map that one ... */
    _Atomic int64_t until;   /* ... and tries again then (milliseconds) */
} gate;

enum gate_answer { GATE_NO, GATE_MAYBE, GATE_OPEN };

int sn_gate_open(gate *g, control *c, const char *path);
void sn_gate_close(gate *g);

/* Whether the key of HASH may exist: GATE_NO is certain, GATE_OPEN means that there is
 * no filter to ask. */
enum gate_answer sn_gate_ask(gate *g, uint64_t hash);

/* Adds HASH to the filter in use and to the one being built. Cannot fail: a filter that
 * cannot take the key is taken out of use (or its building given up) instead. */
void sn_gate_add(gate *g, uint64_t hash);

/* Bytes of the filter in use, as far as this process has it. */
uint64_t sn_gate_bytes(gate *g);

/* Writes PATH.NUMBER into BUF. */
void sn_gate_name(const gate *g, uint32_t number, char *buf, size_t size);
#endif
