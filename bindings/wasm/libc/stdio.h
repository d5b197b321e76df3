/* stdio.h - snprintf with words for arguments. */
#ifndef SN_WASM_STDIO_H
#define SN_WASM_STDIO_H
#include "words.h"
#include_next <stdio.h>
#define snprintf SN_PRINT
#endif
