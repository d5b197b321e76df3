/* version.c - which libseen this is: seen.h says it to the compiler, these at run time. */
#include "seen.h"

const char *seen_version(void)
{
    return SEEN_VERSION;
}

unsigned seen_version_number(void)
{
    return SEEN_VERSION_NUMBER;
}
