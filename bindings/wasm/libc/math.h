/* math.h - the engine's mathematics instead of wasi-libc's: 18 kB of tables and code
 * that every engine has already. Both are within one unit of the last place. */
#ifndef SN_WASM_MATH_H
#define SN_WASM_MATH_H
/* A name of its own, or the linker would take wasi-libc's. */
#define SN_MATH(name)                                                                  \
    __asm__("engine_" #name) __attribute__((import_module("math"), import_name(#name)))

double exp(double x) SN_MATH(exp);
double expm1(double x) SN_MATH(expm1);
double log(double x) SN_MATH(log);
double log1p(double x) SN_MATH(log1p);
double log2(double x) SN_MATH(log2);
double pow(double x, double y) SN_MATH(pow);

/* Instructions of the machine, or exact. */
#define ceil __builtin_ceil
#define floor __builtin_floor
#define trunc __builtin_trunc
#define sqrt __builtin_sqrt
#define fabs __builtin_fabs
#define isfinite(x) __builtin_isfinite(x)
#define isnan(x) __builtin_isnan(x)
#undef INFINITY
#undef NAN
#define INFINITY __builtin_inf()
#define NAN __builtin_nan("")
double fmin(double x, double y);
double fmax(double x, double y);
double round(double x);
static inline double ldexp(double x, int power) /* of at most 1022 */
{
    union {
        unsigned long long bits;
        double number;
    } two = {(1023ull + (unsigned long long)power) << 52};
    return x * two.number;
}
double exp2(double x);
#endif
