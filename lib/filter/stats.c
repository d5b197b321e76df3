/* stats.c - describes a filter: counts and errors. */
#include "filter/filter.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

seen_kind seen_kind_of(const seen_filter *f)
{
    return f->foreign ? SEEN_FOREIGN : sn_newest(f)->kind->id;
}

uint64_t seen_seed(const seen_filter *f)
{
    return f->hasher.seed;
}

/* Reads the count while other threads may add. */
static uint64_t added_to(const sn_layer *l)
{
    return __atomic_load_n(&l->added, __ATOMIC_RELAXED);
}

uint64_t seen_added(const seen_filter *f)
{
    if (f->foreign)
        return f->foreign->added;
    uint64_t n = 0;
    for (uint32_t i = 0; i < f->layers; i++)
        n += added_to(f->layer + i);
    return n - (uint64_t)f->late;
}

uint64_t seen_bytes(const seen_filter *f)
{
    if (f->foreign)
        return f->foreign->len;
    uint64_t n = 0;
    for (uint32_t i = 0; i < f->layers; i++)
        n += f->layer[i].len;
    return n;
}

/* Keys that were taken for others when they came are not counted, but a Bloom filter
 * errs as if all were in. */
static double error_of_layer(const sn_layer *l)
{
    double n = (double)added_to(l);
    return l->kind->error_at(&l->shape, sn_keeps_copies(l) ? n : sn_came(&l->shape, n));
}

double seen_error_predicted(const seen_filter *f)
{
    if (f->foreign) {
        const sn_bits *b = &f->foreign->bits;
        double n = (double)f->foreign->added;
        return b->m ? pow(-expm1(-(double)b->k * n / (double)b->m), b->k)
                    : f->foreign->error;
    }
    double clear = 1;
    for (uint32_t i = 0; i < f->layers; i++)
        clear *= 1 - error_of_layer(f->layer + i);
    return 1 - clear;
}

static void take_stats(const seen_filter *f, seen_stats *out)
{
    if (f->foreign) {
        sn_foreign_stats(f->foreign, out);
        out->mapped = f->map != NULL;
        return;
    }
    const sn_layer *newest = sn_newest(f);
    *out = (seen_stats){
        .kind = newest->kind->id,
        .probes = sn_probes(&newest->shape),
        .layers = f->layers,
        .flags = f->flags | (f->once ? SEEN_ONCE : 0),
        .seed = f->hasher.seed,
        .seed_high = f->hasher.seed_high,
        .hash = f->hasher.id,
        .added = seen_added(f),
        .bytes = seen_bytes(f),
        .error_wanted = f->error,
        .lost_expected = seen_lost_expected(f),
        .mapped = f->map != NULL,
        .writable = f->writable,
        .dirty = f->dirty,
        .removes_missed = f->missed,
    };
    double clear = 1;
    for (uint32_t i = 0; i < f->layers; i++) {
        sn_measure m;
        f->layer[i].kind->measure(f->layer + i, &m);
        out->bits += m.bits;
        out->bits_set += m.bits_set;
        out->keys_estimate += m.keys;
        out->capacity += f->layer[i].shape.capacity;
        clear *= 1 - m.error;
        out->error_now = m.error; /* exact for a single layer */
    }
    if (f->layers > 1)
        out->error_now = 1 - clear;
    out->fill = out->bits ? (double)out->bits_set / (double)out->bits : 0;
}

void seen_get_stats_sized(const seen_filter *f, seen_stats *out, size_t size)
{
    seen_stats all;
    memset(out, 0, size);
    take_stats(f, &all);
    memcpy(out, &all, size < sizeof all ? size : sizeof all);
}

/* Programs of 0.2.0 call this; their structure ends with the first reserved word. */
#undef seen_get_stats
void seen_get_stats(const seen_filter *f, seen_stats *out)
{
    seen_get_stats_sized(f, out, offsetof(seen_stats, reserved) + sizeof(uint64_t));
}

static void human(char *buf, size_t size, uint64_t bytes)
{
    static const char *const unit[] = {"bytes", "kB", "MB", "GB", "TB"};
    double x = (double)bytes;
    int u = 0;
    for (; x >= 1000 && u < 4; u++)
        x /= 1000;
    snprintf(buf, size, x < 10 && u ? "%.1f %s" : "%.0f %s", x, unit[u]);
}

int seen_describe(const seen_filter *f, char *buf, size_t size)
{
    if (f->foreign)
        return sn_foreign_describe(f->foreign, buf, size);
    seen_stats s;
    char bytes[32], keys[64];
    seen_get_stats(f, &s);
    human(bytes, sizeof bytes, s.bytes);
    unsigned long long added = s.added, cap = s.capacity;
    if (cap)
        snprintf(keys, sizeof keys, "%llu of %llu keys", added, cap);
    else
        snprintf(keys, sizeof keys, "%llu keys", added);
    char promised[48] = "";
    if (s.error_wanted > 0)
        snprintf(promised, sizeof promised, ", %g promised", s.error_wanted);
    /* Three digits, unless rounding could take them beyond what was promised. */
    char now[32];
    bool near = s.error_wanted > 0 && s.error_now * 1.005 > s.error_wanted;
    snprintf(now, sizeof now, "%.*g", near ? 6 : 3, s.error_now);
    return snprintf(
        buf, size, "%s, %u layer%s, k=%u, %s, %s, %.1f%% of bits set, error %s now%s",
        seen_kind_name(s.kind), s.layers, s.layers == 1 ? "" : "s", s.probes, keys,
        bytes, 100 * s.fill, now, promised);
}
