/* pyfilter.c - seen.Filter: a filter as a Python object, close to a set.
 *
 * The handle is NULL once closed; every method looks before it touches. Single keys
 * are asked and added with the GIL held, batches without it (pylock.c). */
#include "pyseen.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    PyObject_HEAD
    seen_filter *f;   /* NULL: closed */
    PyObject *origin; /* how to open it again: (path, mode, keywords), or NULL */
    py_numbers numbers; /* how integers become keys */
    py_lock lock;
} filter;

PyTypeObject *py_filter_type;

static seen_filter *open_of(filter *self)
{
    if (!self->f)
        PyErr_SetString(PyExc_ValueError, "the filter is closed");
    return self->f;
}

/* The handle, once no batch of another thread is in the way. NULL with an exception. */
static inline seen_filter *alone(filter *self, bool writing)
{
    if (self->lock.running)
        py_lock_wait(&self->lock, writing);
    return self->f ? self->f : open_of(self);
}

PyObject *py_filter_wrap(PyTypeObject *type, seen_filter *f)
{
    allocfunc make = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    filter *self = (filter *)make(type, 0);
    if (!self) {
        seen_free(f);
        return NULL;
    }
    self->f = f;
    py_lock_init(&self->lock);
    return (PyObject *)self;
}

static void dealloc(filter *self)
{
    PyTypeObject *type = Py_TYPE(self);
    seen_free(self->f);
    py_lock_destroy(&self->lock);
    Py_XDECREF(self->origin);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* ---- making ---------------------------------------------------------------------- */

/* A count such as 1000 or 1e6, or None for 0. */
static int count_of(PyObject *o, const char *what, uint64_t *out)
{
    *out = 0;
    if (!o || o == Py_None)
        return 0;
    PyObject *n = PyNumber_Long(o);
    unsigned long long v = n ? PyLong_AsUnsignedLongLong(n) : 0;
    Py_XDECREF(n);
    if (PyErr_Occurred()) {
        PyErr_Clear();
        PyErr_Format(PyExc_ValueError, "%s must be a number of 0 to 2**64 - 1, not %R",
                     what, o);
        return -1;
    }
    *out = v;
    return 0;
}

/* A number, or "random": a secret key for the hash that strangers cannot aim at. */
static int seed_of(PyObject *o, seen_spec *spec)
{
    if (o && PyUnicode_Check(o) && !PyUnicode_CompareWithASCIIString(o, "random")) {
        uint64_t secret[2];
        int rc = seen_random_bytes(secret, sizeof secret);
        if (rc < 0) {
            py_fail(rc, NULL);
            return -1;
        }
        spec->hash = SEEN_HASH_KEYED;
        spec->seed = secret[0], spec->seed_high = secret[1];
        return 0;
    }
    return count_of(o, "seed (or \"random\")", &spec->seed);
}

static PyObject *new_filter(PyTypeObject *type, PyObject *args, PyObject *named)
{
    static char *words[] = {"keys",  "error",  "memory", "kind",  "removes",
                            "fixed", "shared", "bits",   "probes", "seed", NULL};
    PyObject *keys = NULL, *memory = NULL, *bits = NULL, *seed = NULL;
    const char *kind = NULL;
    int removes = 0, fixed = 0, shared = 0;
    unsigned probes = 0;
    seen_spec spec = {.error = 0};
    if (!PyArg_ParseTupleAndKeywords(args, named, "|Od$OzpppOIO:Filter", words, &keys,
                                     &spec.error, &memory, &kind, &removes, &fixed,
                                     &shared, &bits, &probes, &seed) ||
        count_of(keys, "keys", &spec.keys) < 0 ||
        count_of(memory, "memory", &spec.memory) < 0 ||
        count_of(bits, "bits", &spec.bits) < 0 || seed_of(seed, &spec) < 0)
        return NULL;
    spec.probes = probes;
    spec.flags = (removes ? SEEN_REMOVES : 0) | (fixed ? SEEN_FIXED : 0) |
                 (shared ? SEEN_ATOMIC : 0);
    if (kind) {
        spec.kind = seen_kind_named(kind);
        if (!(seen_kind_can(spec.kind) & SEEN_CAN_ADD)) {
            PyErr_Format(PyExc_ValueError,
                         "kind \"%s\": there are classic, blocked, split, set and cuckoo "
                         "(and seen.Builder for static filters)",
                         kind);
            return NULL;
        }
    }
    seen_filter *f;
    int rc;
    Py_BEGIN_ALLOW_THREADS
    rc = seen_new(&spec, &f);
    Py_END_ALLOW_THREADS
    return rc < 0 ? py_fail(rc, NULL) : py_filter_wrap(type, f);
}

/* ---- one key --------------------------------------------------------------------- */

/* What CALL says to one key: SEEN_NEW, 1, 0; -1 with an exception. */
static inline int one_key(filter *self, PyObject *o, bool writing,
                          int (*call)(seen_filter *, const void *, size_t))
{
    seen_key key;
    uint64_t number;
    PyObject *temp;
    if (py_key(o, self->numbers, &key, &number, &temp) < 0)
        return -1;
    seen_filter *f = alone(self, writing);
    int rc = f ? call(f, key.data, key.len) : -1;
    Py_XDECREF(temp);
    if (f && rc < 0)
        py_fail(rc, NULL);
    return rc < 0 ? -1 : rc;
}

static int ask(seen_filter *f, const void *key, size_t len)
{
    return seen_has(f, key, len);
}

static PyObject *add(filter *self, PyObject *o)
{
    int rc = one_key(self, o, true, seen_add);
    return rc < 0 ? NULL : PyBool_FromLong(rc == SEEN_NEW);
}

static int contains(filter *self, PyObject *o)
{
    return one_key(self, o, false, ask);
}

static PyObject *remove_key(filter *self, PyObject *o)
{
    int rc = one_key(self, o, true, seen_remove);
    return rc < 0 ? NULL : PyBool_FromLong(rc);
}

/* ---- many keys ------------------------------------------------------------------- */

static int add_batch(void *ctx, const seen_key *keys, size_t n, bool *answers)
{
    filter *self = ctx;
    if (!alone(self, true))
        return SEEN_EINVAL; /* closed by another thread; the exception says so */
    int rc;
    py_lock_enter(&self->lock, true);
    Py_BEGIN_ALLOW_THREADS
    size_t taken;
    rc = seen_add_many(self->f, keys, n, answers, &taken);
    for (size_t i = 0; answers && i < taken; i++)
        answers[i] = !answers[i]; /* Python is told what is new */
    Py_END_ALLOW_THREADS
    py_lock_leave(&self->lock);
    return rc;
}

static int has_batch(void *ctx, const seen_key *keys, size_t n, bool *answers)
{
    filter *self = ctx;
    if (!alone(self, false))
        return SEEN_EINVAL;
    py_lock_enter(&self->lock, false);
    Py_BEGIN_ALLOW_THREADS
    seen_has_many(self->f, keys, n, answers);
    Py_END_ALLOW_THREADS
    py_lock_leave(&self->lock);
    return 0;
}

static PyObject *update(filter *self, PyObject *source)
{
    if (!open_of(self) || py_each_batch(source, self->numbers, add_batch, self, false, NULL) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *add_many(filter *self, PyObject *source)
{
    return open_of(self) ? py_answered(source, self->numbers, add_batch, self) : NULL;
}

static PyObject *has_many(filter *self, PyObject *source)
{
    return open_of(self) ? py_answered(source, self->numbers, has_batch, self) : NULL;
}

/* ---- whole filters ----------------------------------------------------------------- */

/* A call that works on the whole filter without the GIL. */
#define WHOLE(self, writing, call)                                                      \
    do {                                                                                \
        py_lock_enter(&(self)->lock, writing);                                          \
        Py_BEGIN_ALLOW_THREADS                                                          \
        call;                                                                           \
        Py_END_ALLOW_THREADS                                                            \
        py_lock_leave(&(self)->lock);                                                   \
    } while (0)

/* None, or what CALL on the whole filter failed with. */
static PyObject *whole(filter *self, bool writing, int (*call)(seen_filter *))
{
    int rc;
    if (!alone(self, writing))
        return NULL;
    WHOLE(self, writing, rc = call(self->f));
    if (rc < 0)
        return py_fail(rc, NULL);
    Py_RETURN_NONE;
}

static PyObject *clear(filter *self, PyObject *unused)
{
    return whole(self, true, seen_clear);
}

static PyObject *copy(filter *self, PyObject *unused)
{
    seen_filter *f;
    int rc;
    if (!alone(self, false))
        return NULL;
    WHOLE(self, false, rc = seen_copy(self->f, &f));
    return rc < 0 ? py_fail(rc, NULL) : py_filter_wrap(py_filter_type, f);
}

static bool is_filter(PyObject *o)
{
    return PyObject_TypeCheck(o, py_filter_type);
}

static PyObject *merge_in(PyObject *a, PyObject *b)
{
    if (!is_filter(b))
        Py_RETURN_NOTIMPLEMENTED;
    filter *to = (filter *)a, *from = (filter *)b;
    int rc = 0;
    /* Both must be free in the same moment: a thread that held one while it waited for
     * the other could wait for ever. */
    do {
        py_lock_wait(&from->lock, false);
        py_lock_wait(&to->lock, true);
    } while (from->lock.running < 0);
    if (!open_of(from) || !open_of(to))
        return NULL;
    if (to != from) {
        py_lock_enter(&from->lock, false);
        WHOLE(to, true, rc = seen_merge(to->f, from->f));
        py_lock_leave(&from->lock);
    }
    if (rc < 0)
        return py_fail(rc, NULL);
    Py_INCREF(a);
    return a;
}

static PyObject *merged(PyObject *a, PyObject *b)
{
    if (!is_filter(a) || !is_filter(b))
        Py_RETURN_NOTIMPLEMENTED;
    PyObject *sum = copy((filter *)a, NULL), *out = NULL;
    if (sum)
        out = merge_in(sum, b);
    Py_XDECREF(sum);
    return out;
}

static PyObject *close_filter(filter *self, PyObject *unused)
{
    int rc = 0;
    py_lock_wait(&self->lock, true);
    if (self->f) {
        rc = seen_flush(self->f);
        seen_free(self->f);
        self->f = NULL;
    }
    if (rc < 0)
        return py_fail(rc, NULL);
    Py_RETURN_NONE;
}

static PyObject *enter(PyObject *self, PyObject *unused)
{
    if (!open_of((filter *)self))
        return NULL;
    Py_INCREF(self);
    return self;
}

static PyObject *leave(filter *self, PyObject *args)
{
    return close_filter(self, NULL);
}

/* ---- files and bytes ---------------------------------------------------------------- */

static PyObject *save(filter *self, PyObject *where)
{
    PyObject *path;
    int rc;
    if (!PyUnicode_FSConverter(where, &path))
        return NULL;
    const char *name = PyBytes_AsString(path);
    if (alone(self, false)) {
        WHOLE(self, false, rc = seen_save(self->f, name));
        if (rc < 0)
            py_fail(rc, name);
    } else
        rc = -1;
    Py_DECREF(path);
    if (rc < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *flush(filter *self, PyObject *unused)
{
    return whole(self, true, seen_flush);
}

static int verify_all(seen_filter *f)
{
    return seen_verify(f);
}

static PyObject *verify(filter *self, PyObject *unused)
{
    return whole(self, false, verify_all);
}

/* Bytes that grow, for seen_write. */
typedef struct {
    char *p;
    size_t len, room;
} growing;

static int grow(void *ctx, const void *p, size_t len)
{
    growing *g = ctx;
    if (g->room - g->len < len) {
        size_t room = g->len + len + g->len / 2;
        char *more = realloc(g->p, room);
        if (!more)
            return SEEN_ENOMEM;
        g->p = more, g->room = room;
    }
    memcpy(g->p + g->len, p, len);
    g->len += len;
    return 0;
}

static PyObject *to_bytes(filter *self, PyObject *unused)
{
    growing g = {0};
    PyObject *out = NULL;
    int rc;
    if (!alone(self, false))
        return NULL;
    WHOLE(self, false, rc = seen_write(self->f, grow, &g));
    if (rc < 0)
        py_fail(rc, NULL);
    else
        out = PyBytes_FromStringAndSize(g.p, (Py_ssize_t)g.len);
    free(g.p);
    return out;
}

/* The keywords that say what a foreign file does not. */
typedef struct {
    const char *format;
    seen_params params;
    uint32_t seeds[64];
    bool foreign;
} foreign_words;

static int seeds_of(PyObject *o, foreign_words *w)
{
    PyObject *list = PySequence_List(o);
    Py_ssize_t n = list ? PyList_Size(list) : -1;
    if (n > 64) {
        PyErr_SetString(PyExc_ValueError, "at most 64 seeds");
        n = -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        unsigned long v = PyLong_AsUnsignedLong(PyList_GetItem(list, i));
        if (PyErr_Occurred() || v > UINT32_MAX) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_ValueError, "a seed has 32 bits");
            n = -1;
        } else
            w->seeds[i] = (uint32_t)v;
    }
    Py_XDECREF(list);
    if (n < 0)
        return -1;
    w->params.seeds = w->seeds;
    w->params.seeds_n = (uint32_t)n;
    return 0;
}

static int foreign_of(PyObject *named, foreign_words *w)
{
    static char *words[] = {"format", "type",   "column",       "row_group", "keys",
                            "error",  "bits",   "bits_per_key", "probes",    "seeds",
                            "expansion", "flags", NULL};
    PyObject *keys = NULL, *bits = NULL, *seeds = NULL, *none = PyTuple_New(0);
    *w = (foreign_words){.format = NULL};
    seen_params *p = &w->params;
    int ok = none && PyArg_ParseTupleAndKeywords(
                         none, named, "|$zzziOdOIIOII:open", words, &w->format,
                         &p->type, &p->column, &p->row_group, &keys, &p->error, &bits,
                         &p->bits_per_key, &p->probes, &seeds, &p->expansion, &p->flags);
    Py_XDECREF(none);
    if (!ok || count_of(keys, "keys", &p->keys) < 0 ||
        count_of(bits, "bits", &p->bits) < 0 ||
        (seeds && seeds != Py_None && seeds_of(seeds, w) < 0))
        return -1;
    w->foreign = named && PyDict_Size(named) > 0;
    return 0;
}

/* Types that the library makes from text. */
static py_numbers numbers_of(const foreign_words *w)
{
    const char *t = w->params.type;
    return t && strcmp(t, "bytes") && strncmp(t, "utf", 3) ? PY_DIGITS : PY_BINARY;
}

/* Native, or if it is none and might be another system's, that. */
static int open_any(const char *path, const foreign_words *w, unsigned mode,
                    seen_filter **f)
{
    int rc = w->foreign ? SEEN_EFORMAT : seen_open(path, mode, f);
    if (rc != SEEN_EFORMAT)
        return rc;
    return seen_open_foreign(path, w->format, &w->params, mode, f);
}

static PyObject *open_file(PyTypeObject *type, PyObject *args, PyObject *named)
{
    PyObject *where, *path = NULL;
    const char *word = "r";
    foreign_words w;
    if (!PyArg_ParseTuple(args, "O|s:open", &where, &word) || foreign_of(named, &w) < 0 ||
        !PyUnicode_FSConverter(where, &path))
        return NULL;
    static const struct {
        const char *word;
        unsigned mode;
    } modes[] = {{"r", SEEN_READ},
                 {"r+", SEEN_WRITE},
                 {"shared", SEEN_SHARED},
                 {"load", SEEN_LOAD}};
    PyObject *out = NULL;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (strcmp(word, modes[i].word))
            continue;
        seen_filter *f;
        int rc;
        const char *name = PyBytes_AsString(path);
        Py_BEGIN_ALLOW_THREADS
        rc = open_any(name, &w, modes[i].mode, &f);
        Py_END_ALLOW_THREADS
        out = rc < 0 ? py_fail(rc, name) : py_filter_wrap(type, f);
        if (out)
            ((filter *)out)->numbers = numbers_of(&w);
        if (out && modes[i].mode != SEEN_LOAD) {
            PyObject *keep = named ? PyDict_Copy(named) : PyDict_New();
            ((filter *)out)->origin =
                keep ? Py_BuildValue("(OsN)", where, word, keep) : NULL;
            if (!((filter *)out)->origin) {
                Py_DECREF(out);
                out = NULL;
            }
        }
        goto done;
    }
    PyErr_Format(PyExc_ValueError,
                 "mode \"%s\": there are \"r\", \"r+\", \"shared\" and \"load\"", word);
done:
    Py_DECREF(path);
    return out;
}

static PyObject *from_bytes(PyTypeObject *type, PyObject *args, PyObject *named)
{
    PyObject *data;
    foreign_words w;
    Py_buffer view;
    if (!PyArg_ParseTuple(args, "O:from_bytes", &data) || foreign_of(named, &w) < 0 ||
        PyObject_GetBuffer(data, &view, PyBUF_SIMPLE) < 0)
        return NULL;
    /* The library wants bytes on a cache line; then the filter becomes its own copy. */
    void *aligned = aligned_alloc(64, ((size_t)view.len + 64) / 64 * 64);
    seen_filter *f = NULL;
    int rc = SEEN_ENOMEM;
    if (aligned) {
        memcpy(aligned, view.buf, (size_t)view.len);
        Py_BEGIN_ALLOW_THREADS
        rc = w.foreign ? SEEN_EFORMAT
                       : seen_open_bytes(aligned, (size_t)view.len, SEEN_LOAD, NULL, &f);
        if (rc == SEEN_EFORMAT)
            rc = seen_open_foreign_bytes(aligned, (size_t)view.len, w.format, &w.params,
                                         SEEN_LOAD, &f);
        Py_END_ALLOW_THREADS
    }
    free(aligned);
    PyBuffer_Release(&view);
    PyObject *out = rc < 0 ? py_fail(rc, NULL) : py_filter_wrap(type, f);
    if (out)
        ((filter *)out)->numbers = numbers_of(&w);
    return out;
}

/* pickle: a filter in memory as its bytes; one that lies in a file as the file's name,
 * so that the processes of a pool share its pages. */
static PyObject *reduce(PyObject *o, PyObject *unused)
{
    filter *self = (filter *)o;
    if (!open_of(self))
        return NULL;
    PyObject *module = PyImport_ImportModule("seen"), *out = NULL;
    PyObject *again = module ? PyObject_GetAttrString(module, "_again") : NULL;
    if (again && self->origin)
        out = Py_BuildValue("(OO)", again, self->origin);
    else if (again) {
        const seen_format *format = seen_format_of(self->f);
        PyObject *bytes = to_bytes(self, NULL);
        if (bytes)
            out = Py_BuildValue("(O(Oz{}))", again, bytes, format ? format->name : NULL);
        Py_XDECREF(bytes);
    }
    Py_XDECREF(again);
    Py_XDECREF(module);
    return out;
}

/* ---- what is in it -------------------------------------------------------------------- */

static Py_ssize_t length(filter *self)
{
    seen_filter *f = alone(self, false);
    if (!f)
        return -1;
    if (!seen_format_of(f))
        return (Py_ssize_t)seen_added(f);
    seen_stats s; /* other systems' files rarely count: the bits tell */
    seen_get_stats(f, &s);
    return (Py_ssize_t)(s.keys_estimate + 0.5);
}

static PyObject *get_keys(filter *self, void *unused)
{
    Py_ssize_t n = length(self);
    return n < 0 ? NULL : PyLong_FromSsize_t(n);
}

static PyObject *get_error(filter *self, void *unused)
{
    seen_stats s;
    if (!alone(self, false))
        return NULL;
    WHOLE(self, false, seen_get_stats(self->f, &s));
    return PyFloat_FromDouble(s.error_now);
}

static PyObject *get_nbytes(filter *self, void *unused)
{
    seen_filter *f = alone(self, false);
    return f ? PyLong_FromUnsignedLongLong(seen_bytes(f)) : NULL;
}

static PyObject *get_lost(filter *self, void *unused)
{
    seen_filter *f = alone(self, false);
    return f ? PyFloat_FromDouble(seen_lost_expected(f)) : NULL;
}

static PyObject *get_kind(filter *self, void *unused)
{
    seen_filter *f = alone(self, false);
    return f ? PyUnicode_FromString(seen_kind_name(seen_kind_of(f))) : NULL;
}

static PyObject *get_closed(filter *self, void *unused)
{
    return PyBool_FromLong(!self->f);
}

static PyObject *info(filter *self, PyObject *unused)
{
    seen_stats s;
    if (!alone(self, false))
        return NULL;
    WHOLE(self, false, seen_get_stats(self->f, &s));
    const seen_format *format = seen_format_of(self->f);
    return Py_BuildValue(
        "{szszsIsIsKsKsKsKsKsdsdsdsdsdsOsO}", "kind", seen_kind_name(s.kind), "format",
        format ? format->name : NULL, "probes", s.probes, "layers", s.layers, "added",
        s.added, "capacity", s.capacity, "bits", s.bits, "bits_set", s.bits_set, "bytes",
        s.bytes, "fill", s.fill, "error_wanted", s.error_wanted, "error_now", s.error_now,
        "keys_estimate", s.keys_estimate, "lost_expected", s.lost_expected, "mapped",
        s.mapped ? Py_True : Py_False, "writable", s.writable ? Py_True : Py_False);
}

static PyObject *repr(filter *self)
{
    char line[512];
    if (!self->f)
        return PyUnicode_FromString("<seen.Filter, closed>");
    if (!alone(self, false))
        return NULL;
    seen_describe(self->f, line, sizeof line);
    return PyUnicode_FromFormat("<seen.Filter: %s>", line);
}

/* ---- the type --------------------------------------------------------------------------- */

static PyMethodDef methods[] = {
    {"add", (PyCFunction)add, METH_O,
     "add($self, key, /)\n--\n\nAdd a key. True if it was certainly not there before, "
     "False if it probably was."},
    {"update", (PyCFunction)update, METH_O,
     "update($self, keys, /)\n--\n\nAdd all keys of an iterable or an array of integers."},
    {"add_many", (PyCFunction)add_many, METH_O,
     "add_many($self, keys, /)\n--\n\nAdd keys in order; for each, True if it was "
     "certainly not there before."},
    {"has_many", (PyCFunction)has_many, METH_O,
     "has_many($self, keys, /)\n--\n\nFor each key, whether it was added; False is "
     "certain."},
    {"remove", (PyCFunction)remove_key, METH_O,
     "remove($self, key, /)\n--\n\nRemove one earlier add of a key, in kinds that can. "
     "True if\nsomething was removed. Removing a key that was never added may take away "
     "another."},
    {"clear", (PyCFunction)clear, METH_NOARGS,
     "clear($self, /)\n--\n\nForget every key; the size stays."},
    {"copy", (PyCFunction)copy, METH_NOARGS,
     "copy($self, /)\n--\n\nAn independent copy in memory, also of a mapped filter."},
    {"save", (PyCFunction)save, METH_O,
     "save($self, path, /)\n--\n\nWrite the filter to a file, which is replaced whole."},
    {"flush", (PyCFunction)flush, METH_NOARGS,
     "flush($self, /)\n--\n\nWrite back counts and checksums of a filter opened with "
     "\"r+\"."},
    {"verify", (PyCFunction)verify, METH_NOARGS,
     "verify($self, /)\n--\n\nRecompute the checksums of the file; DamagedError names "
     "the piece."},
    {"close", (PyCFunction)close_filter, METH_NOARGS,
     "close($self, /)\n--\n\nFlush and let go of memory and file. Later calls raise "
     "ValueError."},
    {"info", (PyCFunction)info, METH_NOARGS,
     "info($self, /)\n--\n\nA dict of what the filter is: kind, size, fill, errors."},
    {"from_bytes", (PyCFunction)(void (*)(void))from_bytes,
     METH_VARARGS | METH_KEYWORDS | METH_CLASS,
     "from_bytes(data, **foreign)\n--\n\nA filter from the bytes of its file, native or "
     "another system's."},
    {"_open", (PyCFunction)(void (*)(void))open_file,
     METH_VARARGS | METH_KEYWORDS | METH_CLASS, NULL},
    {"__bytes__", (PyCFunction)to_bytes, METH_NOARGS, NULL},
    {"__reduce__", (PyCFunction)reduce, METH_NOARGS, NULL},
    {"__copy__", (PyCFunction)copy, METH_NOARGS, NULL},
    {"__deepcopy__", (PyCFunction)copy, METH_O, NULL},
    {"__enter__", (PyCFunction)enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)leave, METH_VARARGS, NULL},
    {NULL}};

static PyGetSetDef properties[] = {
    {"keys", (getter)get_keys, NULL, "Distinct keys in it, estimated; len() is the same.",
     NULL},
    {"error", (getter)get_error, NULL, "The chance of a false positive at the moment.",
     NULL},
    {"nbytes", (getter)get_nbytes, NULL, "Bytes of the filter's body.", NULL},
    {"expected_lost", (getter)get_lost, NULL,
     "New keys that were probably taken for old ones so far.", NULL},
    {"kind", (getter)get_kind, NULL, "The kind's name, such as \"blocked\".", NULL},
    {"closed", (getter)get_closed, NULL, "Whether close() was called.", NULL},
    {NULL}};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "Filter(keys=None, error=0.01, *, memory=None, kind=None, removes=False,\n"
     "       fixed=False, shared=False, bits=None, probes=0, seed=0)\n--\n\n"
     "A set of keys in a few bits each. `in` and add() never deny a key that was added;\n"
     "an absent key is called present with a probability of at most `error`.\n\n"
     "Without `keys` it starts small and grows. `removes=True` chooses a kind that can\n"
     "remove; `shared=True` one that many processes add to (open(path, \"shared\")).\n"
     "`seed=\"random\"` is for keys from strangers; filters that will be merged need\n"
     "the same seed and size."},
    {Py_tp_new, new_filter},
    {Py_tp_dealloc, dealloc},
    {Py_tp_repr, repr},
    {Py_sq_contains, contains},
    {Py_sq_length, length},
    {Py_nb_or, merged},
    {Py_nb_inplace_or, merge_in},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, NULL}};

PyType_Spec py_filter_spec = {"seen.Filter", sizeof(filter), 0,
                              Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
