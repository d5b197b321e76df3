/* value_type.c - what the server calls for a value of any type, and totals for INFO. */
#include "server/value_type.h"
#include "server/error_texts.h"
#include "server/server_memory.h"
#include <stdio.h>

/* ---- totals ------------------------------------------------------------------ */

static void count(value_family *f, const value_facts *before, const value_facts *after)
{
    f->layers += (long long)(after->layers - before->layers);
    f->items += (long long)(after->items - before->items);
    f->capacity += (long long)(after->capacity - before->capacity);
    f->bytes += (long long)(after->bytes - before->bytes);
}

void value_recount(value *v)
{
    value_facts now = v->type->facts(v->body);
    count(v->type->family, &v->counted, &now);
    v->counted = now;
}

value *value_new(value_type *type, void *body)
{
    if (!body)
        return NULL;
    value *v = RM_Calloc(1, sizeof *v);
    v->type = type;
    v->body = body;
    type->family->objects++;
    value_recount(v);
    return v;
}

value_bytes value_to_bytes(const value *v)
{
    return v->type->bytes(v->body);
}

void value_family_info(rm_info *info, value_family *f)
{
    const struct {
        const char *field;
        long long n;
    } rows[] = {
        {"total_memory_bytes", f->bytes},
        {"num_objects", f->objects},
        {"num_filters_across_objects", f->layers},
        {"num_items_across_objects", f->items},
        {"capacity_across_objects", f->capacity},
    };
    char name[64];
    snprintf(name, sizeof name, "%s_core_metrics", f->name);
    RM_InfoAddSection(info, name);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(name, sizeof name, "%s_%s", f->name, rows[i].field);
        RM_InfoAddFieldULongLong(info, name, (unsigned long long)rows[i].n);
    }
}

/* ---- what the server calls --------------------------------------------------- */

static void on_save(rm_io *io, void *held)
{
    const value *v = held;
    if (v->type->save)
        v->type->save(io, v->body);
    else
        value_bytes_save(io, value_to_bytes(v));
}

static void on_rewrite(rm_io *io, rm_str *key, void *held)
{
    const value *v = held;
    if (v->type->rewrite)
        v->type->rewrite(io, key, v->body);
    else
        value_bytes_aof(io, key, v->type->load_command, value_to_bytes(v));
}

static size_t on_usage(const void *held)
{
    const value *v = held;
    return sizeof *v + v->type->facts(v->body).bytes;
}

static void on_digest(rm_digest *md, void *held)
{
    const value *v = held;
    value_bytes_digest(md, value_to_bytes(v));
}

/* Runs in any thread. */
static void on_free(void *held)
{
    static const value_facts none;
    value *v = held;
    v->type->family->objects--;
    count(v->type->family, &v->counted, &none);
    v->type->free(v->body);
    RM_Free(v);
}

static size_t on_effort(rm_str *key, const void *held)
{
    return free_effort(((const value *)held)->counted.bytes);
}

static void *on_copy(rm_str *from, rm_str *to, const void *held)
{
    const value *v = held;
    return value_new(v->type, v->type->copy(v->body));
}

int value_family_register(rm_ctx *ctx, value_family *f)
{
    enum { MOST = sizeof f->types / sizeof *f->types };
    for (int i = 0; i < MOST && f->types[i]; i++) {
        value_type *t = f->types[i];
        rm_methods methods = {
            .version = 3,
            .rdb_load = t->load,
            .rdb_save = on_save,
            .aof_rewrite = on_rewrite,
            .mem_usage = on_usage,
            .digest = on_digest,
            .free = on_free,
            .free_effort = on_effort,
            .copy = t->copy ? on_copy : NULL,
        };
        t->handle = RM_CreateDataType(ctx, t->name, t->version, &methods);
        if (!t->handle)
            return RM_ERR;
    }
    return RM_OK;
}

/* ---- keys -------------------------------------------------------------------- */

value_key value_open(rm_ctx *ctx, rm_str *name, int mode, const value_family *f)
{
    enum { MOST = sizeof f->types / sizeof *f->types };
    value_key k = {.key = RM_OpenKey(ctx, name, mode), .state = KEY_MISSING};
    if (!k.key || RM_KeyType(k.key) == RM_KEY_EMPTY)
        return k;
    k.state = KEY_WRONG;
    if (RM_KeyType(k.key) != RM_KEY_MODULE)
        return k;
    const rm_type *t = RM_ModuleTypeGetType(k.key);
    for (int i = 0; i < MOST && f->types[i]; i++)
        if (f->types[i]->handle == t) {
            k.value = RM_ModuleTypeGetValue(k.key);
            k.state = KEY_FOUND;
        }
    return k;
}

void value_close(value_key *k)
{
    if (k->key)
        RM_CloseKey(k->key);
    k->key = NULL;
}

void *value_body_of(const value_key *k, const value_type *type)
{
    return k->value && k->value->type == type ? k->value->body : NULL;
}

int value_refuse(rm_ctx *ctx, value_key *k, const char *why)
{
    value_close(k);
    return RM_ReplyWithError(ctx, why);
}

const char *value_state_error(const value_key *k)
{
    return k->state == KEY_WRONG ? SAY_WRONGTYPE : SAY_NOT_FOUND;
}

void value_put(value_key *k, value_type *type, void *body)
{
    k->value = value_new(type, body);
    k->state = KEY_FOUND;
    RM_ModuleTypeSetValue(k->key, type->handle, k->value);
}
