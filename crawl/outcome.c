/* outcome.c - the names of outcomes, as outputs and reports show them. */
#include "outcome.h"

const char *outcome_name(int outcome)
{
    static const char *const names[] = {
        "ok",      "robots",    "dns",  "connect", "tls",  "timeout", "broken",
        "private", "redirects", "host", "limit",   "trap", "session"};
    return outcome >= 0 && outcome < OUT_KINDS ? names[outcome] : "unknown";
}
