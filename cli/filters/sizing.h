/* sizing.h - how many keys, how sure, how much memory: options that several commands
 * share. */
#ifndef CLI_SIZING_H
#define CLI_SIZING_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"
#include "scratch_hashes.h"
#include "seen.h"

typedef struct sizing {
    uint64_t keys, memory;
    double error; /* 0: not given */
    seen_kind kind;
    bool no_scratch; /* never a scratch file for a filter that grows */
} sizing;

enum { OPT_KIND = 0x420, OPT_NO_SCRATCH };

#define OPTION_EXPECT                                                                  \
    {                                                                                  \
        'n', "expect", "N",                                                            \
            "Expect N distinct keys (20M, 2e7). More may come: the filter grows.",     \
            .brief = "expect N distinct keys (20M)"                                    \
    }
#define OPTION_ERROR                                                                   \
    {                                                                                  \
        'e', "error", "P",                                                             \
            "Use a filter in which an absent key is found with probability P (0.001, " \
            "0.1%, 1/1000).",                                                          \
            .brief = "allow this share of false positives (0.001)"                     \
    }

#define OPTION_NO_SCRATCH                                                              \
    {                                                                                  \
        OPT_NO_SCRATCH, "no-scratch", NULL,                                            \
            "Write no scratch file. With -e and without -n the hashes of the keys go " \
            "to TMPDIR, eight bytes each, and a filter that is full is made again "    \
            "from them, a quarter larger; without the file it grows in place, to " \
            "twice the memory."                                               \
    }

/* Takes -n, -e, -m, --kind and --no-scratch; returns whether KEY was one of them. */
bool sizing_option(sizing *s, const kit_parse *p, int key);

/* Makes a new filter with a fresh seed, or reports why not and ends the program. */
seen_filter *sizing_make(const seen_spec *spec);

/* Has F, a new filter that S describes, made again from a scratch file when it is full.
 * NULL if it is not to be, or is better grown by the library. */
kit_scratch *sizing_scratch(const sizing *s, seen_filter *f);

/* The PROBES of a filter of KIND that errs with ERROR. Those of a ribbon need not be
 * whole: some keys have a bit, or a trit, more. */
double fingerprint_bits(seen_kind kind, uint32_t probes, double error);

/* Says, once, that there is no scratch file any more. */
void sizing_say_ended(kit_scratch *s);
#endif
