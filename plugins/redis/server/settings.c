/* settings.c - CONFIG settings and module arguments; knows no filters. */
#include "server/settings.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

settings conf = {
    .layout = LAYOUT_FAST,
    .error = 0.01,
    .capacity = 100,
    .expansion = 2,
    .tightening = 0.5,
    .defrag = 1,
    .cf_bucket_size = 2,
    .cf_capacity = 1024,
    .cf_max_iterations = 20,
    .cf_expansion = 1,
    .cf_max_expansions = 32,
};

/* One row per name. Names that share a target are aliases: while the server applies
 * the defaults, an alias must not undo what its twin was set to, so a default is
 * ignored until `loaded`. */
typedef struct setting {
    const char *name;
    enum { WHOLE, RATE, YESNO, BYTES } form;
    void *target;
    long long def, min, max;
    const char *def_rate;
    rm_str *shown;
} setting;

static bool loaded;

static setting all[] = {
    {"bf-error-rate", RATE, &conf.error, 0, 0, 0, "0.01", 0},
    {"bloom-fp-rate", RATE, &conf.error, 0, 0, 0, "0.01", 0},
    {"bloom-tightening-ratio", RATE, &conf.tightening, 0, 0, 0, "0.5", 0},
    {"bf-initial-size", WHOLE, &conf.capacity, 100, 1, MAX_CAPACITY, 0, 0},
    {"bloom-capacity", WHOLE, &conf.capacity, 100, 1, MAX_CAPACITY, 0, 0},
    {"bf-expansion-factor", WHOLE, &conf.expansion, 2, 0, MAX_EXPANSION, 0, 0},
    {"bloom-expansion", WHOLE, &conf.expansion, 2, 0, MAX_EXPANSION, 0, 0},
    {"bloom-memory-usage-limit", BYTES, &conf.memory_limit, 0, 0, INT64_MAX, 0, 0},
    {"bloom-use-random-seed", YESNO, &conf.random_seed, 0, 0, 1, 0, 0},
    {"bloom-defrag-enabled", YESNO, &conf.defrag, 1, 0, 1, 0, 0},
    {"cf-bucket-size", WHOLE, &conf.cf_bucket_size, 2, 1, 255, 0, 0},
    {"cf-initial-size", WHOLE, &conf.cf_capacity, 1024, 2, MAX_CAPACITY, 0, 0},
    {"cf-max-iterations", WHOLE, &conf.cf_max_iterations, 20, 1, 65535, 0, 0},
    {"cf-expansion-factor", WHOLE, &conf.cf_expansion, 1, 0, MAX_EXPANSION, 0, 0},
    {"cf-max-expansions", WHOLE, &conf.cf_max_expansions, 32, 1, 65536, 0, 0},
};
enum { SETTINGS = sizeof all / sizeof *all };

static const char *layout_names[] = {"fast", "compat"};
static const int layout_values[] = {LAYOUT_FAST, LAYOUT_COMPAT};

static void say(rm_str **err, const char *text)
{
    if (err)
        *err = RM_CreateString(NULL, text, strlen(text));
}

static long long get_num(const char *name, void *priv)
{
    return *(long long *)((setting *)priv)->target;
}

static int set_num(const char *name, long long v, void *priv, rm_str **err)
{
    setting *s = priv;
    if (loaded || v != s->def)
        *(long long *)s->target = v;
    return RM_OK;
}

static int get_bool(const char *name, void *priv)
{
    return get_num(name, priv) != 0;
}

static int set_bool(const char *name, int v, void *priv, rm_str **err)
{
    return set_num(name, v, priv, err);
}

static int get_layout(const char *name, void *priv)
{
    return (int)conf.layout;
}

static int set_layout(const char *name, int v, void *priv, rm_str **err)
{
    conf.layout = v;
    return RM_OK;
}

static bool parse_rate(const char *text, double *out)
{
    char *end;
    double v = strtod(text, &end);
    if (*end || end == text || !(v > 0 && v < 1))
        return false;
    *out = v;
    return true;
}

static rm_str *get_rate(const char *name, void *priv)
{
    setting *s = priv;
    char text[32];
    /* The shortest text that reads back as the same number. */
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, *(double *)s->target);
        if (strtod(text, NULL) == *(double *)s->target)
            break;
    }
    if (s->shown)
        RM_FreeString(NULL, s->shown);
    return s->shown = RM_CreateString(NULL, text, strlen(text));
}

static int set_rate(const char *name, rm_str *v, void *priv, rm_str **err)
{
    setting *s = priv;
    size_t len;
    const char *text = RM_StringPtrLen(v, &len);
    double rate;
    if (!parse_rate(text, &rate)) {
        say(err, "a number between 0 and 1 is needed");
        return RM_ERR;
    }
    if (loaded || rate != strtod(s->def_rate, NULL))
        *(double *)s->target = rate;
    return RM_OK;
}

static int register_all(rm_ctx *ctx)
{
    int bad =
        RM_RegisterEnumConfig(ctx, "layout", LAYOUT_FAST, 0, layout_names,
                              layout_values, 2, get_layout, set_layout, NULL, NULL);
    for (int i = 0; i < SETTINGS; i++) {
        setting *s = &all[i];
        if (s->form == RATE)
            bad |= RM_RegisterStringConfig(ctx, s->name, s->def_rate, 0, get_rate,
                                           set_rate, NULL, s);
        else if (s->form == YESNO)
            bad |= RM_RegisterBoolConfig(ctx, s->name, (int)s->def, 0, get_bool,
                                         set_bool, NULL, s);
        else
            bad |= RM_RegisterNumericConfig(ctx, s->name, s->def,
                                            s->form == BYTES ? RM_CONFIG_MEMORY : 0,
                                            s->min, s->max, get_num, set_num, NULL, s);
    }
    return bad ? RM_ERR : RM_LoadConfigs(ctx);
}

/* RedisBloom's old argument names. */
static const char *modern_name(const char *name)
{
    static const char *const old[][2] = {
        {"ERROR_RATE", "bf-error-rate"},
        {"INITIAL_SIZE", "bf-initial-size"},
        {"CF_MAX_EXPANSIONS", "cf-max-expansions"},
    };
    for (size_t i = 0; i < sizeof old / sizeof *old; i++)
        if (!strcasecmp(name, old[i][0]))
            return old[i][1];
    return name;
}

static bool set_argument(const char *name, rm_str *value)
{
    size_t len;
    const char *text = RM_StringPtrLen(value, &len);
    long long n;
    name = modern_name(name);
    if (!strcasecmp(name, "layout")) {
        for (int i = 0; i < 2; i++)
            if (!strcasecmp(text, layout_names[i])) {
                conf.layout = layout_values[i];
                return true;
            }
        return false;
    }
    for (int i = 0; i < SETTINGS; i++) {
        setting *s = &all[i];
        if (strcasecmp(name, s->name))
            continue;
        if (s->form == RATE)
            return parse_rate(text, s->target);
        if (s->form == YESNO) {
            *(long long *)s->target = !strcasecmp(text, "yes");
            return !strcasecmp(text, "yes") || !strcasecmp(text, "no");
        }
        if (RM_StringToLongLong(value, &n) != RM_OK || n < s->min || n > s->max)
            return false;
        *(long long *)s->target = n;
        return true;
    }
    return false;
}

int settings_load(rm_ctx *ctx, rm_str **argv, int argc)
{
    if (RM_LoadConfigs && RM_RegisterNumericConfig && RM_RegisterStringConfig &&
        RM_RegisterBoolConfig && RM_RegisterEnumConfig && register_all(ctx) != RM_OK)
        return RM_ERR;
    loaded = true;
    for (int i = 0; i < argc; i += 2) {
        size_t len;
        const char *name = RM_StringPtrLen(argv[i], &len);
        if (i + 1 == argc || !set_argument(name, argv[i + 1])) {
            RM_Log(ctx, "warning",
                   "module argument '%s' is unknown or its value is bad", name);
            return RM_ERR;
        }
    }
    return RM_OK;
}

static uint64_t server_maxmemory(rm_ctx *ctx)
{
    if (!RM_GetServerInfo || !RM_ServerInfoGetFieldUnsigned || !RM_FreeServerInfo)
        return 0;
    int bad = 0;
    rm_server_info *info = RM_GetServerInfo(ctx, "memory");
    uint64_t max = RM_ServerInfoGetFieldUnsigned(info, "maxmemory", &bad);
    RM_FreeServerInfo(ctx, info);
    return bad ? 0 : max;
}

bool is_replayed(rm_ctx *ctx)
{
    return RM_GetContextFlags(ctx) & (RM_FLAG_FROM_MASTER | RM_FLAG_LOADING);
}

bool default_is_compat(rm_ctx *ctx)
{
    return conf.layout == LAYOUT_COMPAT || is_replayed(ctx);
}

uint64_t memory_limit_io(rm_io *io)
{
    rm_ctx *ctx = RM_GetContextFromIO(io);
    return RM_GetContextFlags(ctx) & RM_FLAG_REPLICA ? UINT64_MAX : memory_limit(ctx);
}

uint64_t memory_limit(rm_ctx *ctx)
{
    if (is_replayed(ctx))
        return UINT64_MAX;
    if (conf.memory_limit)
        return (uint64_t)conf.memory_limit;
    uint64_t half =
        (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2;
    uint64_t max = server_maxmemory(ctx);
    return max && max < half ? max : half;
}
