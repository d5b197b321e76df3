/* sizing.h - how many keys, how sure, how much memory: options that several commands
 * share. */
#ifndef CLI_SIZING_H
#define CLI_SIZING_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"
#include "seen.h"

typedef struct sizing {
    uint64_t keys, memory;
    double error; /* 0: not given */
    seen_kind kind;
} sizing;

enum { OPT_KIND = 0x420 };

#define OPTION_EXPECT                                                                  \
    {                                                                                  \
        'n', "expect", "N",                                                            \
            "Expect N distinct keys (20M, 2e7). More may come: the filter grows."      \
    }
#define OPTION_ERROR                                                                   \
    {                                                                                  \
        'e', "error", "P",                                                             \
            "Use a filter in which an absent key is found with probability P (0.001, " \
            "0.1%, 1/1000)."                                                           \
    }

/* Takes -n, -e, -m and --kind; returns whether KEY was one of them. */
bool sizing_option(sizing *s, const kit_parse *p, int key);

/* Makes a new filter with a fresh seed, or reports why not and ends the program. */
seen_filter *sizing_make(const seen_spec *spec);
#endif
