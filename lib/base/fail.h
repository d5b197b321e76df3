/* fail.h - a code for the program, a sentence for the person. */
#ifndef SN_FAIL_H
#define SN_FAIL_H

/* Keeps the sentence for seen_reason() and returns CODE. */
__attribute__((format(printf, 2, 3))) int sn_fail(int code, const char *fmt, ...);
/* Puts the name of a file before the reason that stands; returns CODE. */
int sn_fail_named(int code, const char *path);
#endif
