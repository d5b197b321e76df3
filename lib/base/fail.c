/* fail.c - messages for error codes, and the reason of each thread's last failure. */
#include "base/fail.h"
#include "seen.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char reason[SN_REASON] = "no call has failed";

int sn_fail(int code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(reason, sizeof reason, fmt, ap);
    va_end(ap);
    return code;
}

int sn_fail_named(int code, const char *path)
{
    char why[sizeof reason];
    memcpy(why, reason, sizeof why);
    return sn_fail(code, "%s: %s", path, why);
}

void sn_failure_keep(sn_failure *to, int code)
{
    to->code = code;
    to->error = errno;
    memcpy(to->reason, reason, sizeof reason);
}

int sn_failure_tell(const sn_failure *from)
{
    if (from->code < 0) {
        memcpy(reason, from->reason, sizeof reason);
        errno = from->error;
    }
    return from->code;
}

const char *seen_reason(void)
{
    return reason;
}

const char *seen_strerror(int code)
{
    switch (code) {
    case SEEN_OK:
        return "done";
    case SEEN_NEW:
        return "new";
    case SEEN_EINVAL:
        return "invalid argument";
    case SEEN_ENOMEM:
        return "out of memory";
    case SEEN_ETOOBIG:
        return "too big";
    case SEEN_EFULL:
        return "the filter is full";
    case SEEN_ERANGE:
        return "outside the range of the bitmap";
    case SEEN_EKIND:
        return "this kind of filter cannot do that";
    case SEEN_EMISMATCH:
        return "the filters differ in shape or seed";
    case SEEN_EREADONLY:
        return "the filter is read-only";
    case SEEN_EIO:
        return "input/output error";
    case SEEN_EFORMAT:
        return "not a filter file, or one that contradicts itself";
    case SEEN_EVERSION:
        return "made by a newer version";
    case SEEN_EDAMAGED:
        return "damaged file";
    case SEEN_ECANCEL:
        return "stopped";
    case SEEN_EBUSY:
        return "another process is writing to the file";
    case SEEN_EFOREVER:
        return "the key was added too often to be removed";
    }
    return "unknown error";
}
