/* module_api.h - the part of the Redis and Valkey module interface that we use.
 *
 * Our own declarations of a binary interface: handles are opaque, and every function is
 * a pointer fetched by name when the module is loaded. Those in RM_MUST exist in
 * Redis 7.0 and Valkey 8; those in RM_MAY are NULL in older servers, and callers test
 * them. Nothing is linked, so one binary loads in both servers. */
#ifndef SEEN_MODULE_API_H
#define SEEN_MODULE_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rm_ctx rm_ctx;
typedef struct rm_str rm_str;
typedef struct rm_key rm_key;
typedef struct rm_io rm_io;
typedef struct rm_type rm_type;
typedef struct rm_digest rm_digest;
typedef struct rm_info rm_info;
typedef struct rm_defrag rm_defrag;
typedef struct rm_cmd rm_cmd;
typedef struct rm_server_info rm_server_info;
typedef struct rm_user rm_user;

typedef int rm_command(rm_ctx *ctx, rm_str **argv, int argc);

enum { RM_OK = 0, RM_ERR = 1 };
enum { RM_READ = 1, RM_WRITE = 2 };
enum { RM_KEY_EMPTY = 0, RM_KEY_MODULE = 6 };
enum { RM_FLAG_REPLICA = 1 << 3, RM_FLAG_CLUSTER = 1 << 5 };
enum { RM_FLAG_FROM_MASTER = 1 << 12 };
enum { RM_FLAG_LOADING = 1 << 13, RM_FLAG_RESP3 = 1 << 22 };
enum { RM_CONFIG_MEMORY = 1 << 7 };
enum { RM_EVENT_GENERIC = 1 << 2 };
enum { RM_HANDLE_IO_ERRORS = 1 };

/* What the server may do with a value of ours; version 3 of the structure. */
typedef struct rm_methods {
    uint64_t version;
    void *(*rdb_load)(rm_io *io, int encver);
    void (*rdb_save)(rm_io *io, void *value);
    void (*aof_rewrite)(rm_io *io, rm_str *key, void *value);
    size_t (*mem_usage)(const void *value);
    void (*digest)(rm_digest *md, void *value);
    void (*free)(void *value);
    int (*aux_load)(rm_io *io, int encver, int when);
    void (*aux_save)(rm_io *io, int when);
    int aux_save_triggers;
    size_t (*free_effort)(rm_str *key, const void *value);
    void (*unlink)(rm_str *key, const void *value);
    void *(*copy)(rm_str *from, rm_str *to, const void *value);
    int (*defrag)(rm_defrag *d, rm_str *key, void **value);
} rm_methods;

/* What COMMAND DOCS shows. The server strides by the sizes in rm_info_version. */
typedef struct rm_arg {
    const char *name;
    int type; /* RM_ARG_... */
    int key_spec;
    const char *token, *summary, *since;
    int flags; /* RM_ARG_OPTIONAL, RM_ARG_MULTIPLE */
    const char *deprecated_since;
    const struct rm_arg *subargs;
} rm_arg;

enum { RM_ARG_STRING, RM_ARG_INTEGER, RM_ARG_DOUBLE, RM_ARG_KEY };
enum { RM_ARG_TOKEN = 6, RM_ARG_ONEOF = 7, RM_ARG_BLOCK = 8 };
enum { RM_ARG_OPTIONAL = 1, RM_ARG_MULTIPLE = 2 };

typedef struct rm_key_spec {
    const char *notes;
    uint64_t flags;
    int begin, pad0; /* 2: at an index */
    int pos, pad1[3];
    int find; /* 2: a range; RM_FIND_KEYNUM: lastkey is where the number of keys stands,
               * keystep where the first key, limit the step */
    int lastkey, keystep, limit;
} rm_key_spec;

enum { RM_SPEC_RO = 1, RM_SPEC_RW = 2, RM_SPEC_ACCESS = 16, RM_SPEC_UPDATE = 32 };
enum { RM_SPEC_INSERT = 64, RM_SPEC_DELETE = 128 };
enum { RM_FIND_KEYNUM = 3 };

typedef struct rm_info_version {
    int version;
    size_t history, key_spec, arg;
} rm_info_version;

typedef struct rm_command_info {
    const rm_info_version *version;
    const char *summary, *complexity, *since;
    const void *history;
    const char *tips;
    int arity;
    const rm_key_spec *key_specs;
    const rm_arg *args;
} rm_command_info;

_Static_assert(sizeof(rm_methods) == 112, "type methods, version 3");
_Static_assert(sizeof(rm_arg) == 64, "argument description");
_Static_assert(sizeof(rm_key_spec) == 56, "key specification");
_Static_assert(sizeof(rm_command_info) == 72, "command information");

typedef long long rm_get_num(const char *name, void *priv);
typedef int rm_set_num(const char *name, long long v, void *priv, rm_str **err);
typedef rm_str *rm_get_str(const char *name, void *priv);
typedef int rm_set_str(const char *name, rm_str *v, void *priv, rm_str **err);
typedef int rm_get_int(const char *name, void *priv);
typedef int rm_set_int(const char *name, int v, void *priv, rm_str **err);
typedef int rm_apply(rm_ctx *ctx, void *priv, rm_str **err);
typedef void rm_info_fn(rm_info *info, int for_crash_report);

#define RM_MUST(F)                                                                     \
    F(void *, Alloc, (size_t))                                                         \
    F(void *, Calloc, (size_t, size_t))                                                \
    F(void *, Realloc, (void *, size_t))                                               \
    F(void, Free, (void *))                                                            \
    F(void, SetModuleAttribs, (rm_ctx *, const char *, int, int))                      \
    F(int, IsModuleNameBusy, (const char *))                                           \
    F(void, SetModuleOptions, (rm_ctx *, int))                                         \
    F(int, CreateCommand,                                                              \
      (rm_ctx *, const char *, rm_command *, const char *, int, int, int))             \
    F(int, WrongArity, (rm_ctx *))                                                     \
    F(int, GetContextFlags, (rm_ctx *))                                                \
    F(void, Log, (rm_ctx *, const char *, const char *, ...))                          \
    F(int, ReplyWithLongLong, (rm_ctx *, long long))                                   \
    F(int, ReplyWithDouble, (rm_ctx *, double))                                        \
    F(int, ReplyWithError, (rm_ctx *, const char *))                                   \
    F(int, ReplyWithSimpleString, (rm_ctx *, const char *))                            \
    F(int, ReplyWithStringBuffer, (rm_ctx *, const char *, size_t))                    \
    F(int, ReplyWithArray, (rm_ctx *, long))                                           \
    F(int, ReplyWithMap, (rm_ctx *, long))                                             \
    F(int, ReplyWithBool, (rm_ctx *, int))                                             \
    F(int, ReplyWithNull, (rm_ctx *))                                                  \
    F(const char *, StringPtrLen, (const rm_str *, size_t *))                          \
    F(int, StringToLongLong, (const rm_str *, long long *))                            \
    F(int, StringToDouble, (const rm_str *, double *))                                 \
    F(rm_str *, CreateString, (rm_ctx *, const char *, size_t))                        \
    F(void, FreeString, (rm_ctx *, rm_str *))                                          \
    F(void *, OpenKey, (rm_ctx *, rm_str *, int))                                      \
    F(void, CloseKey, (rm_key *))                                                      \
    F(int, KeyType, (rm_key *))                                                        \
    F(int, DeleteKey, (rm_key *))                                                      \
    F(rm_type *, CreateDataType, (rm_ctx *, const char *, int, rm_methods *))          \
    F(rm_type *, ModuleTypeGetType, (rm_key *))                                        \
    F(void *, ModuleTypeGetValue, (rm_key *))                                          \
    F(int, ModuleTypeSetValue, (rm_key *, rm_type *, void *))                          \
    F(int, Replicate, (rm_ctx *, const char *, const char *, ...))                     \
    F(int, ReplicateVerbatim, (rm_ctx *))                                              \
    F(void, SaveUnsigned, (rm_io *, uint64_t))                                         \
    F(uint64_t, LoadUnsigned, (rm_io *))                                               \
    F(void, SaveDouble, (rm_io *, double))                                             \
    F(double, LoadDouble, (rm_io *))                                                   \
    F(void, SaveStringBuffer, (rm_io *, const char *, size_t))                         \
    F(char *, LoadStringBuffer, (rm_io *, size_t *))                                   \
    F(rm_ctx *, GetContextFromIO, (rm_io *))                                           \
    F(int, IsIOError, (rm_io *))                                                       \
    F(void, LogIOError, (rm_io *, const char *, const char *, ...))                    \
    F(void, EmitAOF, (rm_io *, const char *, const char *, ...))                       \
    F(void, DigestAddStringBuffer, (rm_digest *, const char *, size_t))                \
    F(void, DigestAddLongLong, (rm_digest *, long long))                               \
    F(void, DigestEndSequence, (rm_digest *))                                          \
    F(int, NotifyKeyspaceEvent, (rm_ctx *, int, const char *, rm_str *))               \
    F(int, RegisterInfoFunc, (rm_ctx *, rm_info_fn *))                                 \
    F(int, InfoAddSection, (rm_info *, const char *))                                  \
    F(int, InfoAddFieldULongLong, (rm_info *, const char *, unsigned long long))

#define RM_MAY(F)                                                                      \
    F(int, UnlinkKey, (rm_key *))                                                      \
    F(void *, TryAlloc, (size_t))                                                      \
    F(void *, TryCalloc, (size_t, size_t))                                             \
    F(rm_str *, GetCurrentUserName, (rm_ctx *))                                        \
    F(rm_user *, GetModuleUserFromUserName, (rm_str *))                                \
    F(int, FreeModuleUser, (rm_user *))                                                \
    F(int, ACLCheckKeyPermissions, (rm_user *, rm_str *, int))                         \
    F(rm_cmd *, GetCommand, (rm_ctx *, const char *))                                  \
    F(int, SetCommandInfo, (rm_cmd *, const rm_command_info *))                        \
    F(int, AddACLCategory, (rm_ctx *, const char *))                                   \
    F(int, SetCommandACLCategories, (rm_cmd *, const char *))                          \
    F(int, RegisterNumericConfig,                                                      \
      (rm_ctx *, const char *, long long, unsigned, long long, long long,              \
       rm_get_num *, rm_set_num *, rm_apply *, void *))                                \
    F(int, RegisterStringConfig,                                                       \
      (rm_ctx *, const char *, const char *, unsigned, rm_get_str *, rm_set_str *,     \
       rm_apply *, void *))                                                            \
    F(int, RegisterBoolConfig,                                                         \
      (rm_ctx *, const char *, int, unsigned, rm_get_int *, rm_set_int *, rm_apply *,  \
       void *))                                                                        \
    F(int, RegisterEnumConfig,                                                         \
      (rm_ctx *, const char *, int, unsigned, const char **, const int *, int,         \
       rm_get_int *, rm_set_int *, rm_apply *, void *))                                \
    F(int, LoadConfigs, (rm_ctx *))                                                    \
    F(rm_server_info *, GetServerInfo, (rm_ctx *, const char *))                       \
    F(void, FreeServerInfo, (rm_ctx *, rm_server_info *))                              \
    F(unsigned long long, ServerInfoGetFieldUnsigned,                                  \
      (rm_server_info *, const char *, int *))                                         \
    F(void *, DefragAlloc, (rm_defrag *, void *))

#define RM_DECLARE(ret, name, args) extern ret(*RM_##name) args;
RM_MUST(RM_DECLARE)
RM_MAY(RM_DECLARE)
#undef RM_DECLARE

/* Fills the pointers from the context given to RedisModule_OnLoad. Returns NULL, or
 * the name of a function of RM_MUST that the server does not have. */
const char *rm_load(rm_ctx *ctx);

#endif
