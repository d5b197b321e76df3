/* math.h - wasi-libc's, but logarithms and powers are the engine's: every engine has
 * them, and their tables would be a tenth of the module. Both are within one unit of
 * the last place. */
#ifndef SN_WASM_MATH_H
#define SN_WASM_MATH_H
#include_next <math.h>

#define SN_MATH(name)                                                                  \
    __attribute__((import_module("math"), import_name(#name))) double engine_##name
SN_MATH(exp)(double x);
SN_MATH(expm1)(double x);
SN_MATH(log)(double x);
SN_MATH(log1p)(double x);
SN_MATH(log2)(double x);
SN_MATH(pow)(double x, double y);
#define exp engine_exp
#define expm1 engine_expm1
#define log engine_log
#define log1p engine_log1p
#define log2 engine_log2
#define pow engine_pow
#endif
