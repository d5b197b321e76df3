/* module.c - where the server enters: name, types, commands, settings, INFO.
 *
 * The module calls itself "bf", as RedisBloom and valkey-bloom do: settings and INFO
 * fields keep their names, and two of the three can never be loaded together. */
#include "server/module_api.h"
#include "bf/bf_value.h"
#include "cf/cf_value.h"
#include "command_table.h"
#include "server/settings.h"
#include "sketches/sketch_types.h"
#include <stdio.h>

#define MODULE_VERSION                                                                 \
    (SEEN_VERSION_MAJOR * 10000 + SEEN_VERSION_MINOR * 100 + SEEN_VERSION_PATCH)

/* Everything that keys can hold. */
static value_family *const families[] = {&bloom_family, &cuckoo_family, &cms_family,
                                         &topk_family, &tdigest_family};
enum { FAMILIES = sizeof families / sizeof *families };

static void info(rm_info *i, int for_crash_report)
{
    for (size_t n = 0; n < FAMILIES; n++)
        value_family_info(i, families[n]);
}

/* Redis looks for this name; Valkey tries its own first and then this one. */
__attribute__((visibility("default"))) int RedisModule_OnLoad(void *ctx, void **argv,
                                                              int argc);

int RedisModule_OnLoad(void *ctx, void **argv, int argc)
{
    const char *missing = rm_load(ctx);
    if (missing) {
        fprintf(stderr, "seen: this server is too old: it has no RedisModule_%s\n",
                missing);
        return RM_ERR;
    }
    if (RM_IsModuleNameBusy("bf")) {
        fprintf(stderr, "seen: a module with BF commands is already loaded\n");
        return RM_ERR;
    }
    RM_SetModuleAttribs(ctx, "bf", MODULE_VERSION, 1);
    RM_SetModuleOptions(ctx, RM_HANDLE_IO_ERRORS);
    for (size_t n = 0; n < FAMILIES; n++)
        if (value_family_register(ctx, families[n]) != RM_OK)
            return RM_ERR;
    if (commands_register(ctx) != RM_OK)
        return RM_ERR;
    RM_RegisterInfoFunc(ctx, info);
    return settings_load(ctx, (rm_str **)argv, argc);
}
