/* ngx_http_seen_module.c - requests refused by a filter before any work is done.
 *
 *     http {
 *         seen_filter ids /var/lib/seen/ids.seen;
 *         server { location /item { seen_require ids $arg_id; ... } } }
 *
 * One question to mapped memory per rule and request; no locks, no system calls.
 * Each worker looks once a second whether the file was replaced (watched.h). Rules
 * run in the preaccess phase: after rewrites, before authentication and content. */
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "watched.h"

typedef struct {
    ngx_str_t name;
    ngx_str_t path, list, format; /* NUL-terminated */
    ngx_msec_t check;
    ngx_flag_t closed; /* without a usable file: refuse instead of pass */
    ngx_flag_t verify, load;
    watched file;
    ngx_event_t timer;
    ngx_flag_t bad; /* the file as it is now cannot be used */
    time_t told;    /* when the log last said so */
} seen_source;

typedef struct {
    ngx_array_t sources; /* of seen_source pointers: timers must not move */
} seen_main_conf;

typedef struct {
    seen_source *source;
    ngx_http_complex_value_t key;
    ngx_int_t
        variable;      /* the key is this variable alone; NGX_ERROR: a text with some */
    ngx_flag_t refuse; /* seen_refuse; otherwise seen_require */
} seen_rule;

typedef struct {
    ngx_array_t *rules; /* of seen_rule; NULL: inherit */
    ngx_uint_t status;  /* 0: 404 and 403 */
    ngx_flag_t dry_run;
} seen_loc_conf;

/* What became of a request, for $seen_result; later is stronger. */
typedef enum {
    RESULT_NONE,
    RESULT_PASS,
    RESULT_OPEN,
    RESULT_DRY,
    RESULT_REFUSED,
    RESULT_CLOSED
} seen_verdict;
static ngx_str_t verdict_name[] = {ngx_string("-"),       ngx_string("pass"),
                                   ngx_string("open"),    ngx_string("dry"),
                                   ngx_string("refused"), ngx_string("closed")};

typedef struct {
    seen_verdict verdict;
    ngx_str_t by; /* the filter that decided */
} seen_note;

static char *set_filter(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
static char *set_rule(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
static char *set_status(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
static ngx_int_t add_variables(ngx_conf_t *cf);
static ngx_int_t add_handler(ngx_conf_t *cf);
static void *create_main(ngx_conf_t *cf);
static void *create_loc(ngx_conf_t *cf);
static char *merge_loc(ngx_conf_t *cf, void *parent, void *child);
static ngx_int_t worker_start(ngx_cycle_t *cycle);
static void worker_stop(ngx_cycle_t *cycle);

#define ANYWHERE NGX_HTTP_MAIN_CONF | NGX_HTTP_SRV_CONF | NGX_HTTP_LOC_CONF

static ngx_command_t commands[] = {
    {ngx_string("seen_filter"), NGX_HTTP_MAIN_CONF | NGX_CONF_2MORE, set_filter,
     NGX_HTTP_MAIN_CONF_OFFSET, 0, NULL},
    {ngx_string("seen_require"), ANYWHERE | NGX_CONF_TAKE2, set_rule,
     NGX_HTTP_LOC_CONF_OFFSET, 0, NULL},
    {ngx_string("seen_refuse"), ANYWHERE | NGX_CONF_TAKE2, set_rule,
     NGX_HTTP_LOC_CONF_OFFSET, 1, NULL},
    {ngx_string("seen_status"), ANYWHERE | NGX_CONF_TAKE1, set_status,
     NGX_HTTP_LOC_CONF_OFFSET, 0, NULL},
    {ngx_string("seen_dry_run"), ANYWHERE | NGX_CONF_FLAG, ngx_conf_set_flag_slot,
     NGX_HTTP_LOC_CONF_OFFSET, offsetof(seen_loc_conf, dry_run), NULL},
    ngx_null_command};

static ngx_http_module_t context = {add_variables, add_handler, create_main, NULL,
                                    NULL,          NULL,        create_loc,  merge_loc};

/* nginx finds the module by this name. */
extern ngx_module_t ngx_http_seen_module;
ngx_module_t ngx_http_seen_module = {
    NGX_MODULE_V1, &context, commands, NGX_HTTP_MODULE, NULL, NULL,
    worker_start,  NULL,     NULL,     worker_stop,     NULL, NGX_MODULE_V1_PADDING};

/* ---- requests -------------------------------------------------------------------- */

static void note_done(void *data)
{
    (void)data;
}

/* The note of R. It hangs on the pool, not on the context: an internal redirect, as
 * to an error page, wipes contexts before the log asks for the variable. */
static seen_note *note_of(ngx_http_request_t *r, ngx_flag_t make)
{
    seen_note *note = ngx_http_get_module_ctx(r, ngx_http_seen_module);
    if (note)
        return note;
    for (ngx_pool_cleanup_t *c = r->pool->cleanup; c && r->internal; c = c->next)
        if (c->handler == note_done) {
            ngx_http_set_ctx(r, c->data, ngx_http_seen_module);
            return c->data;
        }
    if (!make)
        return NULL;
    ngx_pool_cleanup_t *c = ngx_pool_cleanup_add(r->pool, sizeof(seen_note));
    if (!c)
        return NULL;
    c->handler = note_done;
    note = c->data;
    ngx_memzero(note, sizeof *note);
    ngx_http_set_ctx(r, note, ngx_http_seen_module);
    return note;
}

static void decide(seen_note *note, seen_verdict verdict, seen_source *by)
{
    if (note->verdict < verdict) {
        note->verdict = verdict;
        note->by = by->name;
    }
}

/* The key of RULE for R. A variable alone, the usual case, is not copied. */
static ngx_int_t key_of(ngx_http_request_t *r, seen_rule *rule, ngx_str_t *key)
{
    if (rule->variable == NGX_ERROR)
        return ngx_http_complex_value(r, &rule->key, key);
    ngx_http_variable_value_t *v = ngx_http_get_flushed_variable(r, rule->variable);
    if (!v)
        return NGX_ERROR;
    key->data = v->not_found ? (u_char *)"" : v->data;
    key->len = v->not_found ? 0 : v->len;
    return NGX_OK;
}

static ngx_int_t handle(ngx_http_request_t *r)
{
    seen_loc_conf *conf = ngx_http_get_module_loc_conf(r, ngx_http_seen_module);
    if (!conf->rules || r != r->main)
        return NGX_DECLINED;
    seen_note *note = note_of(r, 1);
    if (!note)
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    if (note->verdict >= RESULT_REFUSED)
        return NGX_DECLINED; /* on its way to an error page */
    seen_rule *rule = conf->rules->elts;
    for (ngx_uint_t i = 0; i < conf->rules->nelts; i++, rule++) {
        ngx_str_t key;
        seen_source *s = rule->source;
        if (key_of(r, rule, &key) != NGX_OK)
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        ngx_int_t status;
        if (!s->file.filter) {
            if (!s->closed) {
                decide(note, RESULT_OPEN, s);
                continue;
            }
            status = NGX_HTTP_SERVICE_UNAVAILABLE;
        } else {
            if (watched_has(&s->file, key.data, key.len) != rule->refuse) {
                decide(note, RESULT_PASS, s);
                continue;
            }
            status = conf->status   ? (ngx_int_t)conf->status
                     : rule->refuse ? NGX_HTTP_FORBIDDEN
                                    : NGX_HTTP_NOT_FOUND;
        }
        if (conf->dry_run) {
            decide(note, RESULT_DRY, s);
            continue;
        }
        decide(note, s->file.filter ? RESULT_REFUSED : RESULT_CLOSED, s);
        ngx_log_error(NGX_LOG_INFO, r->connection->log, 0,
                      "seen: refused by filter \"%V\"", &s->name);
        return status;
    }
    return NGX_DECLINED;
}

/* DATA 0: $seen_result, 1: $seen_filter. */
static ngx_int_t variable(ngx_http_request_t *r, ngx_http_variable_value_t *v,
                          uintptr_t data)
{
    seen_note *note = note_of(r->main, 0);
    ngx_str_t s = data ? (note ? note->by : verdict_name[RESULT_NONE])
                       : verdict_name[note ? note->verdict : RESULT_NONE];
    if (s.len == 0)
        s = verdict_name[RESULT_NONE];
    v->valid = 1;
    v->no_cacheable = 1;
    v->not_found = 0;
    v->len = s.len;
    v->data = s.data;
    return NGX_OK;
}

/* ---- files ----------------------------------------------------------------------- */

/* Says what happened to the file: once when it changes, and each minute that there is
 * one that cannot be used. */
static void look(seen_source *s, ngx_log_t *log)
{
    enum watched_news news = watched_look(&s->file);
    if (news == WATCHED_NEW) {
        ngx_log_error(NGX_LOG_NOTICE, log, 0, "seen: filter \"%V\" is %V: %s", &s->name,
                      &s->path, s->file.why);
        s->bad = 0;
    } else if (news == WATCHED_BAD) {
        s->bad = 1;
        s->told = 0;
    }
    if (s->bad && ngx_time() - s->told >= 60) {
        s->told = ngx_time();
        ngx_log_error(NGX_LOG_ERR, log, 0,
                      "seen: filter \"%V\" cannot be used (%s): %s", &s->name,
                      s->file.why,
                      s->file.filter ? "the one before stays in use"
                      : s->closed    ? "its rules answer 503"
                                     : "its rules let every request pass");
    }
}

static void on_timer(ngx_event_t *ev)
{
    seen_source *s = ev->data;
    look(s, ev->log);
    if (!ngx_exiting && !ngx_quit)
        ngx_add_timer(ev, s->check);
}

static seen_main_conf *main_of(ngx_cycle_t *cycle)
{
    if (!ngx_get_conf(cycle->conf_ctx, ngx_http_module))
        return NULL; /* no http block */
    return ngx_http_cycle_get_module_main_conf(cycle, ngx_http_seen_module);
}

/* Before the first request of this worker every file has been looked at. */
static ngx_int_t worker_start(ngx_cycle_t *cycle)
{
    seen_main_conf *m = main_of(cycle);
    if (!m || ngx_process == NGX_PROCESS_HELPER)
        return NGX_OK;
    seen_source **s = m->sources.elts;
    for (ngx_uint_t i = 0; i < m->sources.nelts; i++) {
        s[i]->file.path = (const char *)s[i]->path.data;
        s[i]->file.list = (const char *)s[i]->list.data;
        s[i]->file.format = (const char *)s[i]->format.data;
        s[i]->file.verify = s[i]->verify;
        s[i]->file.load = s[i]->load;
        look(s[i], cycle->log);
        s[i]->timer.handler = on_timer;
        s[i]->timer.data = s[i];
        s[i]->timer.log = cycle->log;
        s[i]->timer.cancelable = 1; /* must not hold up a graceful exit */
        ngx_add_timer(&s[i]->timer, s[i]->check);
    }
    return NGX_OK;
}

static void worker_stop(ngx_cycle_t *cycle)
{
    seen_main_conf *m = main_of(cycle);
    seen_source **s = m ? m->sources.elts : NULL;
    for (ngx_uint_t i = 0; m && i < m->sources.nelts; i++)
        watched_close(&s[i]->file);
}

/* ---- configuration --------------------------------------------------------------- */

static void *create_main(ngx_conf_t *cf)
{
    seen_main_conf *m = ngx_pcalloc(cf->pool, sizeof *m);
    if (!m || ngx_array_init(&m->sources, cf->pool, 4, sizeof(seen_source *)) != NGX_OK)
        return NULL;
    return m;
}

static void *create_loc(ngx_conf_t *cf)
{
    seen_loc_conf *l = ngx_pcalloc(cf->pool, sizeof *l);
    if (l) {
        l->status = NGX_CONF_UNSET_UINT;
        l->dry_run = NGX_CONF_UNSET;
    }
    return l;
}

static char *merge_loc(ngx_conf_t *cf, void *parent, void *child)
{
    seen_loc_conf *p = parent, *c = child;
    if (!c->rules)
        c->rules = p->rules;
    ngx_conf_merge_uint_value(c->status, p->status, 0);
    ngx_conf_merge_value(c->dry_run, p->dry_run, 0);
    return NGX_CONF_OK;
}

static seen_source *source_named(seen_main_conf *m, const ngx_str_t *name)
{
    seen_source **s = m->sources.elts;
    for (ngx_uint_t i = 0; i < m->sources.nelts; i++)
        if (s[i]->name.len == name->len &&
            ngx_memcmp(s[i]->name.data, name->data, name->len) == 0)
            return s[i];
    return NULL;
}

/* Whether WORD is NAME=..., whose value goes to VALUE. */
static ngx_flag_t option(const ngx_str_t *word, const char *name, ngx_str_t *value)
{
    size_t n = ngx_strlen(name);
    if (word->len <= n || ngx_strncmp(word->data, name, n) != 0 || word->data[n] != '=')
        return 0;
    value->data = word->data + n + 1;
    value->len = word->len - n - 1;
    return 1;
}

static ngx_flag_t is(const ngx_str_t *s, const char *word)
{
    return s->len == ngx_strlen(word) && ngx_memcmp(s->data, word, s->len) == 0;
}

static char *full_path(ngx_conf_t *cf, ngx_str_t *path)
{
    return ngx_conf_full_name(cf->cycle, path, 1) == NGX_OK ? NGX_CONF_OK
                                                            : NGX_CONF_ERROR;
}

/* Whether a format of that name is known; WORD becomes its name, NUL-terminated. */
static ngx_flag_t known_format(ngx_str_t *word)
{
    size_t n;
    const seen_format *const *all = seen_formats(&n);
    while (n-- > 0)
        if (is(word, all[n]->name)) {
            word->data = (u_char *)all[n]->name;
            return 1;
        }
    return 0;
}

/* seen_filter NAME PATH [fail=open|closed] [check=1s] [verify=on|off] [load=on|off]
 *                       [list=PATH] [format=NAME] */
static char *set_filter(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    seen_main_conf *m = conf;
    ngx_str_t *word = cf->args->elts, value;
    if (source_named(m, word + 1))
        return "names a filter that exists already";
    seen_source *s = ngx_pcalloc(cf->pool, sizeof *s),
                **place = ngx_array_push(&m->sources);
    if (!s || !place)
        return NGX_CONF_ERROR;
    *place = s;
    s->name = word[1];
    s->path = word[2];
    s->check = 1000;
    s->verify = 1;
    for (ngx_uint_t i = 3; i < cf->args->nelts; i++) {
        if (option(word + i, "fail", &value) &&
            (is(&value, "open") || is(&value, "closed"))) {
            s->closed = is(&value, "closed");
        } else if (option(word + i, "verify", &value) &&
                   (is(&value, "on") || is(&value, "off"))) {
            s->verify = is(&value, "on");
        } else if (option(word + i, "load", &value) &&
                   (is(&value, "on") || is(&value, "off"))) {
            s->load = is(&value, "on");
        } else if (option(word + i, "format", &value) && known_format(&value)) {
            s->format = value;
        } else if (option(word + i, "check", &value)) {
            ngx_int_t ms = ngx_parse_time(&value, 0);
            if (ms == NGX_ERROR || ms < 10)
                return "needs a time of 10ms or more after check=";
            s->check = (ngx_msec_t)ms;
        } else if (option(word + i, "list", &value)) {
            s->list = value;
            if (full_path(cf, &s->list) != NGX_CONF_OK)
                return NGX_CONF_ERROR;
        } else {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "seen_filter: \"%V\" is not understood", word + i);
            return NGX_CONF_ERROR;
        }
    }
    if (full_path(cf, &s->path) != NGX_CONF_OK)
        return NGX_CONF_ERROR;
    const char *path = (const char *)s->path.data;
    seen_filter *f;
    if ((s->format.len ? seen_open_foreign(path, (const char *)s->format.data, NULL,
                                           SEEN_READ, &f)
                       : seen_open(path, SEEN_READ, &f)) < 0)
        ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                           "seen: filter \"%V\" cannot be used yet (%s)", &s->name,
                           seen_reason());
    else
        seen_free(f);
    return NGX_CONF_OK;
}

/* Whether TEXT is one variable and nothing else. */
static ngx_flag_t is_variable(const ngx_str_t *text)
{
    for (size_t i = 1; i < text->len; i++) {
        u_char c = text->data[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
            !(c >= '0' && c <= '9') && c != '_')
            return 0;
    }
    return text->len > 1 && text->data[0] == '$' &&
           !(text->data[1] >= '0' && text->data[1] <= '9');
}

/* seen_require FILTER KEY; seen_refuse FILTER KEY */
static char *set_rule(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    seen_loc_conf *l = conf;
    seen_main_conf *m = ngx_http_conf_get_module_main_conf(cf, ngx_http_seen_module);
    ngx_str_t *word = cf->args->elts;
    seen_source *s = source_named(m, word + 1);
    if (!s) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "%V: no seen_filter is named \"%V\" (it must stand before)",
                           word, word + 1);
        return NGX_CONF_ERROR;
    }
    if (!l->rules && !(l->rules = ngx_array_create(cf->pool, 2, sizeof(seen_rule))))
        return NGX_CONF_ERROR;
    seen_rule *rule = ngx_array_push(l->rules);
    if (!rule)
        return NGX_CONF_ERROR;
    ngx_memzero(rule, sizeof *rule);
    rule->source = s;
    rule->refuse = cmd->offset == 1;
    rule->variable = NGX_ERROR;
    if (is_variable(word + 2)) {
        ngx_str_t name = {word[2].len - 1, word[2].data + 1};
        rule->variable = ngx_http_get_variable_index(cf, &name);
        return rule->variable == NGX_ERROR ? NGX_CONF_ERROR : NGX_CONF_OK;
    }
    ngx_http_compile_complex_value_t c;
    ngx_memzero(&c, sizeof c);
    c.cf = cf;
    c.value = word + 2;
    c.complex_value = &rule->key;
    return ngx_http_compile_complex_value(&c) == NGX_OK ? NGX_CONF_OK : NGX_CONF_ERROR;
}

static char *set_status(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    seen_loc_conf *l = conf;
    ngx_str_t *word = cf->args->elts;
    ngx_int_t code = ngx_atoi(word[1].data, word[1].len);
    if (l->status != NGX_CONF_UNSET_UINT)
        return "is duplicate";
    if (code < 400 || code > 599)
        return "must be 400 to 599";
    l->status = (ngx_uint_t)code;
    return NGX_CONF_OK;
}

static ngx_int_t add_variables(ngx_conf_t *cf)
{
    static ngx_str_t names[] = {ngx_string("seen_result"), ngx_string("seen_filter")};
    for (uintptr_t i = 0; i < 2; i++) {
        ngx_http_variable_t *v =
            ngx_http_add_variable(cf, names + i, NGX_HTTP_VAR_NOCACHEABLE);
        if (!v)
            return NGX_ERROR;
        v->get_handler = variable;
        v->data = i;
    }
    return NGX_OK;
}

static ngx_int_t add_handler(ngx_conf_t *cf)
{
    ngx_http_core_main_conf_t *core =
        ngx_http_conf_get_module_main_conf(cf, ngx_http_core_module);
    ngx_http_handler_pt *h =
        ngx_array_push(&core->phases[NGX_HTTP_PREACCESS_PHASE].handlers);
    if (!h)
        return NGX_ERROR;
    *h = handle;
    return NGX_OK;
}
