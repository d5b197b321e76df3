/* ngx_http_seen_module.c - refuses requests by a filter before any work is done.
 *
 *     http {
 *         seen_filter ids /var/lib/seen/ids.seen;
 *         server { location /item { seen_require ids $arg_id; ... } } }
 *
 * A rule costs one lookup in mapped memory per request; no locks, no system calls.
 * Each worker checks once a second whether the file was replaced (watched.h). Rules
 * run in the preaccess phase: after rewrites, before authentication and content. This
 * file has the directives and manages the files; ngx_seen_rules.c handles requests. */
#include "ngx_seen.h"

static char *set_filter(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
static char *set_rule(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
static char *set_status(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
static char *set_page(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
static ngx_int_t add_handler(ngx_conf_t *cf);
static void *create_main(ngx_conf_t *cf);
static void *create_loc(ngx_conf_t *cf);
static char *merge_loc(ngx_conf_t *cf, void *parent, void *child);
static ngx_int_t master_start(ngx_cycle_t *cycle);
static ngx_int_t worker_start(ngx_cycle_t *cycle);
static void worker_stop(ngx_cycle_t *cycle);

#define ANYWHERE NGX_HTTP_MAIN_CONF | NGX_HTTP_SRV_CONF | NGX_HTTP_LOC_CONF

static ngx_command_t commands[] = {
    {ngx_string("seen_filter"), NGX_HTTP_MAIN_CONF | NGX_CONF_2MORE, set_filter,
     NGX_HTTP_MAIN_CONF_OFFSET, 0, NULL},
    {ngx_string("seen_require"), ANYWHERE | NGX_CONF_TAKE23, set_rule,
     NGX_HTTP_LOC_CONF_OFFSET, 0, NULL},
    {ngx_string("seen_refuse"), ANYWHERE | NGX_CONF_TAKE23, set_rule,
     NGX_HTTP_LOC_CONF_OFFSET, 1, NULL},
    {ngx_string("seen_status"), ANYWHERE | NGX_CONF_TAKE1, set_status,
     NGX_HTTP_LOC_CONF_OFFSET, 0, NULL},
    {ngx_string("seen_dry_run"), ANYWHERE | NGX_CONF_FLAG, ngx_conf_set_flag_slot,
     NGX_HTTP_LOC_CONF_OFFSET, offsetof(seen_loc_conf, dry_run), NULL},
    {ngx_string("seen_status_page"),
     NGX_HTTP_LOC_CONF | NGX_CONF_NOARGS | NGX_CONF_TAKE1, set_page,
     NGX_HTTP_LOC_CONF_OFFSET, 0, NULL},
    ngx_null_command};

static ngx_http_module_t context = {ngx_seen_add_variables,
                                    add_handler,
                                    create_main,
                                    NULL,
                                    NULL,
                                    NULL,
                                    create_loc,
                                    merge_loc};

/* nginx finds the module by this name. */
ngx_module_t ngx_http_seen_module = {
    NGX_MODULE_V1, &context, commands, NGX_HTTP_MODULE, NULL, master_start,
    worker_start,  NULL,     NULL,     worker_stop,     NULL, NGX_MODULE_V1_PADDING};

/* ---- files ----------------------------------------------------------------------- */

/* Checks the file and logs: once when it changes, and each minute while it cannot be
 * used. */
static void look(seen_source *s, ngx_log_t *log)
{
    enum watched_news news = watched_look(&s->file);
    if (news == WATCHED_NEW) {
        ngx_log_error(NGX_LOG_NOTICE, log, 0, "seen: filter \"%V\" is %V: %s", &s->name,
                      &s->path, s->file.why);
        s->bad = 0;
    } else if (news != WATCHED_SAME) {
        s->bad = 1;
        s->reported = 0;
    }
    if (s->bad && ngx_time() - s->reported >= 60) {
        s->reported = ngx_time();
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

static seen_source *source_named(seen_main_conf *m, const ngx_str_t *name)
{
    seen_source **s = m->sources.elts;
    for (ngx_uint_t i = 0; i < m->sources.nelts; i++)
        if (s[i]->name.len == name->len &&
            ngx_memcmp(s[i]->name.data, name->data, name->len) == 0)
            return s[i];
    return NULL;
}

static void close_last_good(void *data)
{
    seen_source *s = data;
    last_good_close(&s->file.shared);
}

/* Runs before workers are forked: makes the socket for the last good files. After a
 * reload it takes that of the old configuration, if the file is the same. */
static ngx_int_t master_start(ngx_cycle_t *cycle)
{
    seen_main_conf *m = main_of(cycle), *before = NULL;
    if (!m)
        return NGX_OK;
    if (cycle->old_cycle && cycle->old_cycle->conf_ctx &&
        cycle->old_cycle->modules_n > ngx_http_seen_module.index &&
        cycle->old_cycle->modules[ngx_http_seen_module.index] == &ngx_http_seen_module)
        before = main_of(cycle->old_cycle);
    seen_source **s = m->sources.elts;
    for (ngx_uint_t i = 0; i < m->sources.nelts; i++) {
        seen_source *old = before ? source_named(before, &s[i]->name) : NULL;
        if (old && ngx_strcmp(old->path.data, s[i]->path.data) == 0 &&
            old->list.len == s[i]->list.len) {
            s[i]->file.shared = old->file.shared;
            old->file.shared = (last_good){-1, -1}; /* now ours to close */
        } else if (last_good_open(&s[i]->file.shared) < 0) {
            ngx_log_error(NGX_LOG_WARN, cycle->log, ngx_errno,
                          "seen: workers cannot share the last good file");
        }
        ngx_pool_cleanup_t *c = ngx_pool_cleanup_add(cycle->pool, 0);
        if (!c)
            return NGX_ERROR;
        c->handler = close_last_good;
        c->data = s[i];
    }
    return NGX_OK;
}

/* Checks every file before the first request of this worker. */
static ngx_int_t worker_start(ngx_cycle_t *cycle)
{
    seen_main_conf *m = main_of(cycle);
    if (!m || ngx_process == NGX_PROCESS_HELPER)
        return NGX_OK;
    seen_source **s = m->sources.elts;
    for (ngx_uint_t i = 0; i < m->sources.nelts; i++) {
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
        l->prometheus = NGX_CONF_UNSET;
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
    ngx_conf_merge_value(c->prometheus, p->prometheus, 0);
    return NGX_CONF_OK;
}

/* True if WORD is NAME=...; VALUE gets the value. */
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

/* True if WORD names a known format; WORD becomes its name, NUL-terminated. */
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
    s->file.verify = 1;
    s->file.shared = (last_good){-1, -1};
    for (ngx_uint_t i = 3; i < cf->args->nelts; i++) {
        if (option(word + i, "fail", &value) &&
            (is(&value, "open") || is(&value, "closed"))) {
            s->closed = is(&value, "closed");
        } else if (option(word + i, "verify", &value) &&
                   (is(&value, "on") || is(&value, "off"))) {
            s->file.verify = is(&value, "on");
        } else if (option(word + i, "load", &value) &&
                   (is(&value, "on") || is(&value, "off"))) {
            s->file.load = is(&value, "on");
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
    s->file.path = (const char *)s->path.data;
    s->file.list = (const char *)s->list.data;
    s->file.format = (const char *)s->format.data;
    if (watched_check(&s->file) < 0)
        ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                           "seen: filter \"%V\" cannot be used yet (%s)", &s->name,
                           s->file.why);
    return m->zone ? NGX_CONF_OK : ngx_seen_add_counters(cf, m);
}

/* True if TEXT is a single variable. */
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

/* Compiles KEY into RULE. */
static char *set_key(ngx_conf_t *cf, seen_rule *rule, ngx_str_t *key)
{
    rule->variable = NGX_ERROR;
    if (is_variable(key)) {
        ngx_str_t name = {key->len - 1, key->data + 1};
        rule->variable = ngx_http_get_variable_index(cf, &name);
        return rule->variable == NGX_ERROR ? NGX_CONF_ERROR : NGX_CONF_OK;
    }
    ngx_http_compile_complex_value_t c;
    ngx_memzero(&c, sizeof c);
    c.cf = cf;
    c.value = key;
    c.complex_value = &rule->key;
    return ngx_http_compile_complex_value(&c) == NGX_OK ? NGX_CONF_OK : NGX_CONF_ERROR;
}

/* seen_require FILTER KEY [all]; seen_refuse FILTER KEY [all] */
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
    if (cf->args->nelts > 3) {
        if (!is(word + 3, "all") || !is_variable(word + 2) || word[2].len <= 5 ||
            ngx_strncmp(word[2].data, "$arg_", 5) != 0)
            return "takes \"all\" after a key of the form $arg_NAME";
        rule->every = (ngx_str_t){word[2].len - 5, word[2].data + 5};
    }
    return set_key(cf, rule, word + 2);
}

/* seen_status_page [json|prometheus] */
static char *set_page(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    seen_loc_conf *l = conf;
    ngx_str_t *word = cf->args->elts;
    ngx_http_core_loc_conf_t *core =
        ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);
    if (l->prometheus != NGX_CONF_UNSET)
        return "is duplicate";
    l->prometheus = cf->args->nelts > 1 && is(word + 1, "prometheus");
    if (cf->args->nelts > 1 && !l->prometheus && !is(word + 1, "json"))
        return "must be json or prometheus";
    core->handler = ngx_seen_show_page;
    return NGX_CONF_OK;
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

static ngx_int_t add_handler(ngx_conf_t *cf)
{
    ngx_http_core_main_conf_t *core =
        ngx_http_conf_get_module_main_conf(cf, ngx_http_core_module);
    ngx_http_handler_pt *h =
        ngx_array_push(&core->phases[NGX_HTTP_PREACCESS_PHASE].handlers);
    if (!h)
        return NGX_ERROR;
    *h = ngx_seen_apply_rules;
    return NGX_OK;
}
