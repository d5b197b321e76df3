/* fail.h - a code for the program, a sentence for the person. */
#ifndef SN_FAIL_H
#define SN_FAIL_H
#include "seen.h"

#define SN_REASON 512 /* bytes of a sentence */

/* Keeps the sentence for seen_reason() and returns CODE. */
__attribute__((format(printf, 2, 3))) int sn_fail(int code, const char *fmt, ...);
/* sn_fail() with SEEN_ENOMEM behind an allocation that failed. */
#define sn_no_memory(...) sn_fail(SEEN_ENOMEM, __VA_ARGS__)
/* Puts the name of a file before the last reason; returns CODE. */
int sn_fail_named(int code, const char *path);

/* A failure to pass from one thread to another: each thread has its own reason. */
typedef struct sn_failure {
    int code, error; /* enum seen_code, 0: none; errno */
    char reason[SN_REASON];
} sn_failure;
/* Stores CODE with this thread's reason and errno. */
void sn_failure_keep(sn_failure *to, int code);
/* Makes it the failure of this thread; returns its code. */
int sn_failure_tell(const sn_failure *from);
#endif
