/* fail.h - a code for the program, a sentence for the person. */
#ifndef SN_FAIL_H
#define SN_FAIL_H

/* Keeps the sentence for seen_reason() and returns CODE. */
__attribute__((format(printf, 2, 3))) int sn_fail(int code, const char *fmt, ...);
#endif
