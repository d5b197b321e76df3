/* ngx_seen_page.c - counters of all workers, shown as JSON or as Prometheus text.
 *
 * The counters are found by the name of the filter, so they survive a reload. The other
 * fields (age, keys, error) describe the file that the answering worker has open. */
#include "ngx_seen.h"

enum { ZONE_SIZE = 1 << 17, LINE_ROOM = 512 };

static const char *const count_name[COUNTS] = {"pass", "refused", "dry", "open",
                                               "closed"};

/* ---- counters -------------------------------------------------------------------- */

/* The counters of S in the zone, created if they are new. */
static seen_counts *find_or_make(ngx_slab_pool_t *pool, const seen_source *s)
{
    for (seen_counts *c = pool->data; c; c = c->next)
        if (c->name_len == s->name.len &&
            ngx_memcmp(c->name, s->name.data, s->name.len) == 0)
            return c;
    seen_counts *c = ngx_slab_calloc(pool, sizeof *c + s->name.len);
    if (!c)
        return NULL;
    c->name_len = s->name.len;
    ngx_memcpy(c->name, s->name.data, s->name.len);
    c->next = pool->data;
    pool->data = c;
    return c;
}

static ngx_int_t init_zone(ngx_shm_zone_t *zone, void *old)
{
    seen_main_conf *m = zone->data;
    ngx_slab_pool_t *pool = (ngx_slab_pool_t *)zone->shm.addr;
    seen_source **s = m->sources.elts;
    if (!old && !zone->shm.exists)
        pool->data = NULL;
    for (ngx_uint_t i = 0; i < m->sources.nelts; i++)
        if (!(s[i]->counts = find_or_make(pool, s[i])))
            return NGX_ERROR;
    return NGX_OK;
}

char *ngx_seen_add_counters(ngx_conf_t *cf, seen_main_conf *m)
{
    static ngx_str_t name = ngx_string("seen_counters");
    m->zone = ngx_shared_memory_add(cf, &name, ZONE_SIZE, &ngx_http_seen_module);
    if (!m->zone)
        return NGX_CONF_ERROR;
    m->zone->init = init_zone;
    m->zone->data = m;
    return NGX_CONF_OK;
}

/* ---- the page -------------------------------------------------------------------- */

/* S between quotes; the escapes of JSON strings serve for labels of Prometheus, too. */
static u_char *quoted(u_char *p, const u_char *s, size_t len)
{
    *p++ = '"';
    for (size_t i = 0; i < len; i++) {
        if (s[i] == '"' || s[i] == '\\')
            *p++ = '\\';
        *p++ = s[i] < 32 ? ' ' : s[i];
    }
    *p++ = '"';
    return p;
}

static size_t room_for(const seen_source *s)
{
    return 2 * (10 * s->name.len + s->path.len + sizeof s->file.why) + 4 * LINE_ROOM;
}

static u_char *json_source(u_char *p, const seen_source *s)
{
    const watched *f = &s->file;
    p = ngx_sprintf(p, "{\"name\":");
    p = quoted(p, s->name.data, s->name.len);
    p = ngx_sprintf(p, ",\"file\":");
    p = quoted(p, s->path.data, s->path.len);
    p = ngx_sprintf(p, ",\"usable\":%s,\"current\":%s", f->filter ? "true" : "false",
                    f->filter && !s->bad ? "true" : "false");
    if (f->filter)
        p = ngx_sprintf(p, ",\"age\":%T,\"keys\":%uL,\"error\":%.9f,\"bytes\":%uL",
                        ngx_time() - f->written.tv_sec,
                        (uint64_t)(f->stats.keys_estimate + 0.5), f->stats.error_now,
                        f->stats.bytes);
    if (s->bad) {
        p = ngx_sprintf(p, ",\"reason\":");
        p = quoted(p, (const u_char *)f->why, ngx_strlen(f->why));
    }
    uint64_t asked = 0;
    for (int i = 0; i < COUNTS; i++)
        asked += s->counts->of[i];
    p = ngx_sprintf(p, ",\"asked\":%uL", asked);
    for (int i = 0; i < COUNTS; i++)
        p = ngx_sprintf(p, ",\"%s\":%uA", count_name[i], s->counts->of[i]);
    *p++ = '}';
    return p;
}

static u_char *json(u_char *p, seen_main_conf *m)
{
    seen_source **s = m->sources.elts;
    p = ngx_sprintf(p, "{\"worker\":%P,\"filters\":[", ngx_pid);
    for (ngx_uint_t i = 0; i < m->sources.nelts; i++) {
        if (i)
            *p++ = ',';
        p = json_source(p, s[i]);
    }
    return ngx_sprintf(p, "]}\n");
}

/* One metric of Prometheus: a value for each filter that has one. */
typedef struct metric {
    const char *name, *help;
    double (*value)(const seen_source *s);
    ngx_flag_t open_only; /* only filters that are open have it */
} metric;

static double usable(const seen_source *s)
{
    return s->file.filter != NULL;
}
static double current(const seen_source *s)
{
    return s->file.filter && !s->bad;
}
static double age(const seen_source *s)
{
    return (double)(ngx_time() - s->file.written.tv_sec);
}
static double keys(const seen_source *s)
{
    return s->file.stats.keys_estimate;
}
static double false_positives(const seen_source *s)
{
    return s->file.stats.error_now;
}
static const metric metrics[] = {
    {"seen_filter_usable", "1 if there is a filter to ask", usable, 0},
    {"seen_filter_current", "1 if it is the file at the path", current, 0},
    {"seen_filter_age_seconds", "since the file was written", age, 1},
    {"seen_filter_keys", "estimated from the bits", keys, 1},
    {"seen_filter_error", "share of absent keys that pass", false_positives, 1}};

static u_char *prometheus(u_char *p, seen_main_conf *m)
{
    seen_source **s = m->sources.elts;
    p = ngx_sprintf(p, "# HELP seen_questions_total by filter and outcome\n"
                       "# TYPE seen_questions_total counter\n");
    for (ngx_uint_t i = 0; i < m->sources.nelts; i++)
        for (int c = 0; c < COUNTS; c++) {
            p = ngx_sprintf(p, "seen_questions_total{filter=");
            p = quoted(p, s[i]->name.data, s[i]->name.len);
            p = ngx_sprintf(p, ",result=\"%s\"} %uA\n", count_name[c],
                            s[i]->counts->of[c]);
        }
    for (size_t k = 0; k < sizeof metrics / sizeof *metrics; k++) {
        const metric *t = metrics + k;
        p = ngx_sprintf(p, "# HELP %s %s\n# TYPE %s gauge\n", t->name, t->help,
                        t->name);
        for (ngx_uint_t i = 0; i < m->sources.nelts; i++) {
            if (t->open_only && !s[i]->file.filter)
                continue;
            p = ngx_sprintf(p, "%s{filter=", t->name);
            p = quoted(p, s[i]->name.data, s[i]->name.len);
            p = ngx_sprintf(p, "} %.9f\n", t->value(s[i]));
        }
    }
    return p;
}

/* ?format=json or ?format=prometheus; otherwise what the directive says. */
static ngx_flag_t wants_prometheus(ngx_http_request_t *r, ngx_flag_t otherwise)
{
    ngx_str_t v;
    if (ngx_http_arg(r, (u_char *)"format", 6, &v) != NGX_OK)
        return otherwise;
    return v.len == 10 && ngx_strncmp(v.data, "prometheus", 10) == 0;
}

ngx_int_t ngx_seen_show_page(ngx_http_request_t *r)
{
    seen_main_conf *m = ngx_http_get_module_main_conf(r, ngx_http_seen_module);
    seen_loc_conf *conf = ngx_http_get_module_loc_conf(r, ngx_http_seen_module);
    if (!(r->method & (NGX_HTTP_GET | NGX_HTTP_HEAD)))
        return NGX_HTTP_NOT_ALLOWED;
    ngx_int_t rc = ngx_http_discard_request_body(r);
    if (rc != NGX_OK)
        return rc;
    size_t room = 4 * LINE_ROOM;
    seen_source **s = m->sources.elts;
    for (ngx_uint_t i = 0; i < m->sources.nelts; i++)
        room += room_for(s[i]);
    ngx_buf_t *b = ngx_create_temp_buf(r->pool, room);
    if (!b)
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    if (wants_prometheus(r, conf->prometheus)) {
        ngx_str_set(&r->headers_out.content_type, "text/plain; version=0.0.4");
        b->last = prometheus(b->last, m);
    } else {
        ngx_str_set(&r->headers_out.content_type, "application/json");
        b->last = json(b->last, m);
    }
    r->headers_out.content_type_len = r->headers_out.content_type.len;
    b->last_buf = r == r->main;
    b->last_in_chain = 1;
    r->headers_out.status = NGX_HTTP_OK;
    r->headers_out.content_length_n = b->last - b->pos;
    rc = ngx_http_send_header(r);
    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only)
        return rc;
    ngx_chain_t out = {b, NULL};
    return ngx_http_output_filter(r, &out);
}
