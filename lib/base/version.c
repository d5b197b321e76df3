/* version.c - the version of libseen at run time; seen.h has it at compile time. */
#include "seen.h"

const char *seen_version(void)
{
    return SEEN_VERSION;
}

unsigned seen_version_number(void)
{
    return SEEN_VERSION_NUMBER;
}
