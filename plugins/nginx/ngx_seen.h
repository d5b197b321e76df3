/* ngx_seen.h - filters, rules and counters, shared by the files of the nginx module. */
#ifndef NGX_SEEN_H
#define NGX_SEEN_H
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "watched.h"

/* The outcomes counted for each filter, in all workers since nginx started. */
typedef enum {
    COUNT_PASS,
    COUNT_REFUSED,
    COUNT_DRY,
    COUNT_OPEN,
    COUNT_CLOSED,
    COUNTS
} seen_count;

typedef struct seen_counts {
    ngx_atomic_t of[COUNTS];
    struct seen_counts *next; /* of another filter */
    size_t name_len;
    u_char name[];
} seen_counts;

typedef struct {
    ngx_str_t name;
    ngx_str_t path, list, format; /* NUL-terminated */
    ngx_msec_t check;
    ngx_flag_t closed; /* without a usable file: refuse instead of pass */
    watched file;
    seen_counts *counts; /* in shared memory */
    ngx_event_t timer;
    ngx_flag_t bad;  /* the file as it is now cannot be used */
    time_t reported; /* when the log last said so */
} seen_source;

typedef struct {
    ngx_array_t sources;  /* of seen_source pointers: timers must not move */
    ngx_shm_zone_t *zone; /* of the counters; NULL: no filter */
} seen_main_conf;

typedef struct {
    seen_source *source;
    ngx_http_complex_value_t key;
    ngx_int_t variable; /* the key is this variable alone; NGX_ERROR: text with some */
    ngx_str_t every;    /* every argument of this name is a key; empty: see above */
    ngx_flag_t refuse;  /* seen_refuse; otherwise seen_require */
} seen_rule;

typedef struct {
    ngx_array_t *rules; /* of seen_rule; NULL: inherit */
    ngx_uint_t status;  /* 0: 404 and 403 */
    ngx_flag_t dry_run;
    ngx_flag_t prometheus; /* of a status page, unless the request says otherwise */
} seen_loc_conf;

extern ngx_module_t ngx_http_seen_module;

/* ngx_seen_rules.c: the handler of the preaccess phase, and the two variables. */
ngx_int_t ngx_seen_apply_rules(ngx_http_request_t *r);
ngx_int_t ngx_seen_add_variables(ngx_conf_t *cf);

/* ngx_seen_page.c: the counters' shared memory, and the content handler that shows
 * them. */
char *ngx_seen_add_counters(ngx_conf_t *cf, seen_main_conf *m);
ngx_int_t ngx_seen_show_page(ngx_http_request_t *r);
#endif
