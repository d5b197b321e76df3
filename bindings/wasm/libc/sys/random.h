/* random.h - random bytes from the engine that runs the module. */
#ifndef SN_WASM_RANDOM_H
#define SN_WASM_RANDOM_H
#include <sys/types.h>

ssize_t getrandom(void *to, size_t len, unsigned flags);
#endif
