/* ngx_seen_rules.c - asks the filters about a request and refuses it, or not.
 *
 * Subrequests are checked too: a rule in the location of auth_request must have an
 * effect. Each request is judged by itself; the log shows the strongest verdict of the
 * main request and its subrequests. */
#include "ngx_seen.h"

/* The result of a request, for $seen_result; later ones are stronger. */
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
    ngx_http_request_t *of;
    ngx_flag_t refused; /* on its way to an error page: not asked again */
    seen_verdict verdict;
    ngx_str_t by; /* the filter that decided */
} seen_note;

static void note_done(void *data)
{
    (void)data;
}

/* The note of R. It is attached to the pool, which R shares with its subrequests, and
 * not only to the context: an internal redirect, for example to an error page, clears
 * contexts before the log reads the variable. */
static seen_note *note_of(ngx_http_request_t *r, ngx_flag_t make)
{
    seen_note *note = ngx_http_get_module_ctx(r, ngx_http_seen_module);
    if (note)
        return note;
    for (ngx_pool_cleanup_t *c = r->pool->cleanup; c && r->internal; c = c->next)
        if (c->handler == note_done && ((seen_note *)c->data)->of == r) {
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
    note->of = r;
    ngx_http_set_ctx(r, note, ngx_http_seen_module);
    return note;
}

static void decide(seen_note *note, seen_verdict verdict, seen_source *by)
{
    if (note && note->verdict < verdict) {
        note->verdict = verdict;
        note->by = by->name;
    }
}

/* Counts the outcome of a question and keeps it for the log. */
static void record(ngx_http_request_t *r, seen_note *note, seen_source *s,
                   seen_count count)
{
    static const seen_verdict verdict[COUNTS] = {
        RESULT_PASS, RESULT_REFUSED, RESULT_DRY, RESULT_OPEN, RESULT_CLOSED};
    if (s->counts)
        ngx_atomic_fetch_add(&s->counts->of[count], 1);
    decide(note, verdict[count], s);
    if (r != r->main)
        decide(note_of(r->main, 1), verdict[count], s);
}

/* One question: NGX_DECLINED lets pass, a status refuses. */
static ngx_int_t judge(ngx_http_request_t *r, seen_loc_conf *conf, seen_rule *rule,
                       const ngx_str_t *key, seen_note *note)
{
    seen_source *s = rule->source;
    ngx_int_t status = NGX_HTTP_SERVICE_UNAVAILABLE;
    if (!s->file.filter && !s->closed) {
        record(r, note, s, COUNT_OPEN);
        return NGX_DECLINED;
    }
    if (s->file.filter) {
        if (watched_has(&s->file, key->data, key->len) != rule->refuse) {
            record(r, note, s, COUNT_PASS);
            return NGX_DECLINED;
        }
        status = conf->status   ? (ngx_int_t)conf->status
                 : rule->refuse ? NGX_HTTP_FORBIDDEN
                                : NGX_HTTP_NOT_FOUND;
    }
    if (conf->dry_run) {
        record(r, note, s, COUNT_DRY);
        return NGX_DECLINED;
    }
    record(r, note, s, s->file.filter ? COUNT_REFUSED : COUNT_CLOSED);
    note->refused = 1;
    ngx_log_error(NGX_LOG_INFO, r->connection->log, 0, "seen: refused by filter \"%V\"",
                  &s->name);
    return status;
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

/* The next argument called NAME at or after *AT, which moves past it: 1, or 0 if there
 * is none. As in $arg_NAME, names are compared without case and not unescaped. */
static ngx_flag_t next_argument(const ngx_str_t *name, u_char **at, u_char *end,
                                ngx_str_t *value)
{
    while (*at < end) {
        u_char *from = *at, *to = ngx_strlchr(from, end, '&');
        to = to ? to : end;
        *at = to + 1;
        if ((size_t)(to - from) > name->len && from[name->len] == '=' &&
            ngx_strncasecmp(from, name->data, name->len) == 0) {
            value->data = from + name->len + 1;
            value->len = (size_t)(to - value->data);
            return 1;
        }
    }
    return 0;
}

/* Judges every argument that the rule names; if there is none, the empty key. */
static ngx_int_t judge_every(ngx_http_request_t *r, seen_loc_conf *conf,
                             seen_rule *rule, seen_note *note)
{
    u_char *at = r->args.data, *end = at + r->args.len;
    ngx_str_t key = ngx_null_string;
    ngx_int_t rc = NGX_DECLINED;
    ngx_flag_t some = 0;
    while (rc == NGX_DECLINED && at && next_argument(&rule->every, &at, end, &key)) {
        some = 1;
        rc = judge(r, conf, rule, &key, note);
    }
    return some ? rc : judge(r, conf, rule, &key, note);
}

ngx_int_t ngx_seen_apply_rules(ngx_http_request_t *r)
{
    seen_loc_conf *conf = ngx_http_get_module_loc_conf(r, ngx_http_seen_module);
    if (!conf->rules)
        return NGX_DECLINED;
    seen_note *note = note_of(r, 1);
    if (!note)
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    if (note->refused)
        return NGX_DECLINED;
    seen_rule *rule = conf->rules->elts;
    for (ngx_uint_t i = 0; i < conf->rules->nelts; i++, rule++) {
        ngx_str_t key;
        ngx_int_t rc;
        if (rule->every.len)
            rc = judge_every(r, conf, rule, note);
        else if (key_of(r, rule, &key) == NGX_OK)
            rc = judge(r, conf, rule, &key, note);
        else
            rc = NGX_HTTP_INTERNAL_SERVER_ERROR;
        if (rc != NGX_DECLINED)
            return rc;
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

ngx_int_t ngx_seen_add_variables(ngx_conf_t *cf)
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
