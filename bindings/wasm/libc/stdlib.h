/* stdlib.h - with mkostemp, which wasi-libc does not declare. */
#include_next <stdlib.h>
int mkostemp(char *name, int flags);
