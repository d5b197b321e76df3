/* words.h - what printf takes behind its format, as 64-bit words.
 *
 * A function with ... finds its arguments in memory, and every caller has a stack frame for
 * them: twenty bytes a call in WebAssembly. Words are ordinary arguments, and all of one
 * size, so that nothing asks how long a number was. (The compiler of the native library
 * checks the formats.) */
#ifndef SN_WASM_WORDS_H
#define SN_WASM_WORDS_H
#include <stddef.h>
#include <stdint.h>

static inline uint64_t sn_word_number(double x)
{
    union {
        double x;
        uint64_t word;
    } both = {x};
    return both.word;
}
static inline uint64_t sn_word_text(const char *s)
{
    return (uintptr_t)s;
}
static inline uint64_t sn_word_integer(uint64_t x)
{
    return x;
}
#define SN_WORD(x)                                                                     \
    _Generic((x), double                                                               \
             : sn_word_number, float                                                   \
             : sn_word_number, char *                                                  \
             : sn_word_text, const char *                                              \
             : sn_word_text, default                                                   \
             : sn_word_integer)(x)

/* The words of the up to twelve arguments behind a format, with commas between them. */
#define SN_WORDS(...)                                                                  \
    SN_WORDS_COUNT(__VA_ARGS__, SN_WORDS_12, SN_WORDS_11, SN_WORDS_10, SN_WORDS_9,     \
                   SN_WORDS_8, SN_WORDS_7, SN_WORDS_6, SN_WORDS_5, SN_WORDS_4,         \
                   SN_WORDS_3, SN_WORDS_2, SN_WORDS_1, SN_WORDS_0)                     \
    (__VA_ARGS__)
#define SN_WORDS_COUNT(fmt, a, b, c, d, e, f, g, h, i, j, k, l, counted, ...) counted
#define SN_WORDS_0(fmt) 0
#define SN_WORDS_1(fmt, x) SN_WORD(x)
#define SN_WORDS_2(fmt, x, ...) SN_WORD(x), SN_WORDS_1(fmt, __VA_ARGS__)
#define SN_WORDS_3(fmt, x, ...) SN_WORD(x), SN_WORDS_2(fmt, __VA_ARGS__)
#define SN_WORDS_4(fmt, x, ...) SN_WORD(x), SN_WORDS_3(fmt, __VA_ARGS__)
#define SN_WORDS_5(fmt, x, ...) SN_WORD(x), SN_WORDS_4(fmt, __VA_ARGS__)
#define SN_WORDS_6(fmt, x, ...) SN_WORD(x), SN_WORDS_5(fmt, __VA_ARGS__)
#define SN_WORDS_7(fmt, x, ...) SN_WORD(x), SN_WORDS_6(fmt, __VA_ARGS__)
#define SN_WORDS_8(fmt, x, ...) SN_WORD(x), SN_WORDS_7(fmt, __VA_ARGS__)
#define SN_WORDS_9(fmt, x, ...) SN_WORD(x), SN_WORDS_8(fmt, __VA_ARGS__)
#define SN_WORDS_10(fmt, x, ...) SN_WORD(x), SN_WORDS_9(fmt, __VA_ARGS__)
#define SN_WORDS_11(fmt, x, ...) SN_WORD(x), SN_WORDS_10(fmt, __VA_ARGS__)
#define SN_WORDS_12(fmt, x, ...) SN_WORD(x), SN_WORDS_11(fmt, __VA_ARGS__)

/* snprintf with its arguments at WORDS. */
int sn_print(char *to, size_t size, const char *fmt, const uint64_t *words);
#define SN_PRINT(to, size, fmt, ...)                                                   \
    sn_print(to, size, fmt, (const uint64_t[]){SN_WORDS(fmt, ##__VA_ARGS__)})

/* sn_fail with few arguments, and with more of them at WORDS. */
int sn_fail_0(int code, const char *fmt);
int sn_fail_1(int code, const char *fmt, uint64_t a);
int sn_fail_2(int code, const char *fmt, uint64_t a, uint64_t b);
int sn_fail_3(int code, const char *fmt, uint64_t a, uint64_t b, uint64_t c);
int sn_fail_at(int code, const char *fmt, const uint64_t *words);
#define SN_FAIL(code, ...)                                                             \
    SN_WORDS_COUNT(__VA_ARGS__, SN_FAIL_AT, SN_FAIL_AT, SN_FAIL_AT, SN_FAIL_AT,        \
                   SN_FAIL_AT, SN_FAIL_AT, SN_FAIL_AT, SN_FAIL_AT, SN_FAIL_AT,         \
                   SN_FAIL_3, SN_FAIL_2, SN_FAIL_1, SN_FAIL_0)                         \
    (code, __VA_ARGS__)
#define SN_FAIL_0(code, fmt) sn_fail_0(code, fmt)
#define SN_FAIL_1(code, fmt, ...) sn_fail_1(code, fmt, SN_WORDS(fmt, __VA_ARGS__))
#define SN_FAIL_2(code, fmt, ...) sn_fail_2(code, fmt, SN_WORDS(fmt, __VA_ARGS__))
#define SN_FAIL_3(code, fmt, ...) sn_fail_3(code, fmt, SN_WORDS(fmt, __VA_ARGS__))
#define SN_FAIL_AT(code, fmt, ...)                                                     \
    sn_fail_at(code, fmt, (const uint64_t[]){SN_WORDS(fmt, __VA_ARGS__)})
#endif
