/* pyfilter.c - seen.Filter: a filter as a Python object, close to a set.
 *
 * The handle is NULL once closed; every method checks it first. Single keys are asked
 * and added with the GIL held, batches without it (pylock.c). */
#include "pyfilter.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

PyTypeObject *py_filter_type;

seen_filter *py_filter_open(filter *self)
{
    if (!self->f)
        PyErr_SetString(PyExc_ValueError, "the filter is closed");
    return self->f;
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

int py_count(PyObject *o, const char *what, uint64_t *out)
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

/* A number, or "random": a secret key for the hash, so that strangers cannot choose
 * colliding keys. */
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
    return py_count(o, "seed (or \"random\")", &spec->seed);
}

static PyObject *new_filter(PyTypeObject *type, PyObject *args, PyObject *named)
{
    static char *words[] = {"keys",   "error", "memory", "kind", "removes", "fixed",
                            "shared", "bits",  "probes", "seed", NULL};
    PyObject *keys = NULL, *memory = NULL, *bits = NULL, *seed = NULL;
    const char *kind = NULL;
    int removes = 0, fixed = 0, shared = 0;
    unsigned probes = 0;
    seen_spec spec = {.error = 0};
    if (!PyArg_ParseTupleAndKeywords(args, named, "|Od$OzpppOIO:Filter", words, &keys,
                                     &spec.error, &memory, &kind, &removes, &fixed,
                                     &shared, &bits, &probes, &seed) ||
        py_count(keys, "keys", &spec.keys) < 0 ||
        py_count(memory, "memory", &spec.memory) < 0 ||
        py_count(bits, "bits", &spec.bits) < 0 || seed_of(seed, &spec) < 0)
        return NULL;
    spec.probes = probes;
    spec.flags = (removes ? SEEN_REMOVES : 0) | (fixed ? SEEN_FIXED : 0) |
                 (shared ? SEEN_ATOMIC : 0);
    if (kind) {
        spec.kind = seen_kind_named(kind);
        if (!(seen_kind_can(spec.kind) & SEEN_CAN_ADD)) {
            PyErr_Format(
                PyExc_ValueError,
                "kind \"%s\": there are classic, blocked, split, set and cuckoo "
                "(and seen.Builder for static filters)",
                kind);
            return NULL;
        }
    }
    seen_filter *f;
    int rc;
    Py_BEGIN_ALLOW_THREADS rc = seen_new(&spec, &f);
    Py_END_ALLOW_THREADS return rc < 0 ? py_fail(rc, NULL) : py_filter_wrap(type, f);
}

/* ---- one key --------------------------------------------------------------------- */

/* Keys of TYPE are to be asked or added. */
static int may_ask(void *ctx, seen_keys type)
{
    seen_filter *f = py_filter_alone(ctx, false);
    return !f ? -1 : seen_check_keys(f, type) < 0 ? py_wrong_type() : 0;
}

static int may_add(void *ctx, seen_keys type)
{
    seen_filter *f = py_filter_alone(ctx, true);
    return !f ? -1 : seen_take_keys(f, type) < 0 ? py_wrong_type() : 0;
}

/* The result of CALL for one key: SEEN_NEW, 1, 0; -1 with an exception. */
static inline int one_key(filter *self, PyObject *o, bool writing,
                          int (*call)(seen_filter *, const void *, size_t))
{
    seen_key key;
    uint64_t number;
    PyObject *temp;
    seen_keys type;
    if (py_key(o, self->numbers, &key, &number, &temp, &type) < 0)
        return -1;
    seen_filter *f = py_filter_alone(self, writing);
    int rc = -1;
    bool adding = call == seen_add;
    if (f && (adding ? seen_take_keys(f, type) : seen_check_keys(f, type)) < 0)
        py_wrong_type();
    else if (f && (rc = call(f, key.data, key.len)) < 0)
        py_fail(rc, NULL);
    Py_XDECREF(temp);
    return rc < 0 ? -1 : rc;
}

static int ask(seen_filter *f, const void *key, size_t len)
{
    return seen_ask(f, key, len);
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
    if (!py_filter_alone(self, true))
        return SEEN_EINVAL; /* closed by another thread; the exception says so */
    int rc;
    py_lock_enter(&self->lock, true);
    Py_BEGIN_ALLOW_THREADS size_t taken;
    rc = seen_add_many(self->f, keys, n, answers, &taken);
    for (size_t i = 0; answers && i < taken; i++)
        answers[i] = !answers[i]; /* in Python, True means new */
    Py_END_ALLOW_THREADS py_lock_leave(&self->lock);
    return rc;
}

static int has_batch(void *ctx, const seen_key *keys, size_t n, bool *answers)
{
    filter *self = ctx;
    int rc;
    if (!py_filter_alone(self, false))
        return SEEN_EINVAL;
    py_lock_enter(&self->lock, false);
    Py_BEGIN_ALLOW_THREADS rc = seen_ask_many(self->f, keys, n, answers);
    Py_END_ALLOW_THREADS py_lock_leave(&self->lock);
    return rc;
}

static PyObject *update(filter *self, PyObject *source)
{
    if (!py_filter_open(self) ||
        py_each_batch(source, self->numbers, may_add, add_batch, self, false, NULL) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *add_many(filter *self, PyObject *source)
{
    return py_filter_open(self)
               ? py_answered(source, self->numbers, may_add, add_batch, self)
               : NULL;
}

static PyObject *has_many(filter *self, PyObject *source)
{
    return py_filter_open(self)
               ? py_answered(source, self->numbers, may_ask, has_batch, self)
               : NULL;
}

/* ---- whole filters -----------------------------------------------------------------
 */

PyObject *py_filter_whole(filter *self, bool writing, int (*call)(seen_filter *))
{
    int rc;
    if (!py_filter_alone(self, writing))
        return NULL;
    PY_WHOLE(self, writing, rc = call(self->f));
    if (rc < 0)
        return py_fail(rc, NULL);
    Py_RETURN_NONE;
}

static PyObject *clear(filter *self, PyObject *unused)
{
    return py_filter_whole(self, true, seen_clear);
}

static PyObject *copy(filter *self, PyObject *unused)
{
    seen_filter *f;
    int rc;
    if (!py_filter_alone(self, false))
        return NULL;
    PY_WHOLE(self, false, rc = seen_copy(self->f, &f));
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
    /* Both must be free at the same moment: a thread that held one while it waited for
     * the other could wait for ever. */
    do {
        py_lock_wait(&from->lock, false);
        py_lock_wait(&to->lock, true);
    } while (from->lock.running < 0);
    if (!py_filter_open(from) || !py_filter_open(to))
        return NULL;
    if (to != from) {
        py_lock_enter(&from->lock, false);
        PY_WHOLE(to, true, rc = seen_merge(to->f, from->f));
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
    if (!py_filter_open((filter *)self))
        return NULL;
    Py_INCREF(self);
    return self;
}

static PyObject *leave(filter *self, PyObject *args)
{
    return close_filter(self, NULL);
}

/* ---- what is in it
 * -------------------------------------------------------------------- */

static Py_ssize_t length(filter *self)
{
    seen_filter *f = py_filter_alone(self, false);
    if (!f)
        return -1;
    if (!seen_format_of(f))
        return (Py_ssize_t)seen_added(f);
    seen_stats s; /* files of other systems rarely have a count: use the bits */
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
    if (!py_filter_alone(self, false))
        return NULL;
    PY_WHOLE(self, false, seen_get_stats(self->f, &s));
    return PyFloat_FromDouble(s.error_now);
}

static PyObject *get_nbytes(filter *self, void *unused)
{
    seen_filter *f = py_filter_alone(self, false);
    return f ? PyLong_FromUnsignedLongLong(seen_bytes(f)) : NULL;
}

static PyObject *get_lost(filter *self, void *unused)
{
    seen_filter *f = py_filter_alone(self, false);
    return f ? PyFloat_FromDouble(seen_lost_expected(f)) : NULL;
}

static PyObject *get_kind(filter *self, void *unused)
{
    seen_filter *f = py_filter_alone(self, false);
    return f ? PyUnicode_FromString(seen_kind_name(seen_kind_of(f))) : NULL;
}

static PyObject *get_key_type(filter *self, void *unused)
{
    seen_filter *f = py_filter_alone(self, false);
    return f ? PyUnicode_FromString(seen_keys_name(seen_keys_of(f))) : NULL;
}

/* The type of that name; -1 with an exception. */
static int type_named(PyObject *name)
{
    for (int t = 0; name && PyUnicode_Check(name) && seen_keys_name((seen_keys)t); t++)
        if (!PyUnicode_CompareWithASCIIString(name, seen_keys_name((seen_keys)t)))
            return t;
    PyErr_SetString(PyExc_ValueError, "a type of keys is text, bytes, int64, uint64, "
                                      "float, uuid, date, timestamp, tuple or mixed");
    return -1;
}

static int set_key_type(filter *self, PyObject *name, void *unused)
{
    int type = type_named(name);
    seen_filter *f = type < 0 ? NULL : py_filter_alone(self, true);
    if (!f)
        return -1;
    int rc = seen_set_keys(f, (seen_keys)type);
    return rc == SEEN_EMISMATCH ? py_wrong_type()
           : rc < 0             ? (py_fail(rc, NULL), -1)
                                : 0;
}

/* Sixteen bytes and a number, or None. */
static PyObject *get_identity(filter *self, void *unused)
{
    seen_identity id;
    seen_filter *f = py_filter_alone(self, false);
    if (!f)
        return NULL;
    if (!seen_get_identity(f, &id))
        Py_RETURN_NONE;
    return Py_BuildValue("(y#K)", (const char *)id.id, (Py_ssize_t)sizeof id.id,
                         (unsigned long long)id.generation);
}

static PyObject *get_closed(filter *self, void *unused)
{
    return PyBool_FromLong(!self->f);
}

static PyObject *info(filter *self, PyObject *unused)
{
    seen_stats s;
    if (!py_filter_alone(self, false))
        return NULL;
    PY_WHOLE(self, false, seen_get_stats(self->f, &s));
    const seen_format *format = seen_format_of(self->f);
    return Py_BuildValue(
        "{szszszsIsIsKsKsKsKsKsdsdsdsdsdsOsO}", "kind", seen_kind_name(s.kind),
        "format", format ? format->name : NULL, "key_type",
        seen_keys_name(seen_keys_of(self->f)), "probes", s.probes, "layers", s.layers,
        "added", s.added, "capacity", s.capacity, "bits", s.bits, "bits_set",
        s.bits_set, "bytes", s.bytes, "fill", s.fill, "error_wanted", s.error_wanted,
        "error_now", s.error_now, "keys_estimate", s.keys_estimate, "lost_expected",
        s.lost_expected, "mapped", s.mapped ? Py_True : Py_False, "writable",
        s.writable ? Py_True : Py_False);
}

static PyObject *repr(filter *self)
{
    char line[512];
    if (!self->f)
        return PyUnicode_FromString("<seen.Filter, closed>");
    if (!py_filter_alone(self, false))
        return NULL;
    seen_describe(self->f, line, sizeof line);
    return PyUnicode_FromFormat("<seen.Filter: %s>", line);
}

/* ---- the type
 * --------------------------------------------------------------------------- */

static PyMethodDef methods[] = {
    {"add", (PyCFunction)add, METH_O,
     "add($self, key, /)\n--\n\nAdd a key. True if it was certainly not there before, "
     "False if it probably was."},
    {"update", (PyCFunction)update, METH_O,
     "update($self, keys, /)\n--\n\nAdd all keys of an iterable or an array of "
     "integers."},
    {"add_many", (PyCFunction)add_many, METH_O,
     "add_many($self, keys, /)\n--\n\nAdd keys in order; for each, True if it was "
     "certainly not there before."},
    {"has_many", (PyCFunction)has_many, METH_O,
     "has_many($self, keys, /)\n--\n\nFor each key, True if it was added; False is "
     "certain."},
    {"remove", (PyCFunction)remove_key, METH_O,
     "remove($self, key, /)\n--\n\nRemove one earlier add of a key, in kinds that can. "
     "True if\nsomething was removed. Removing a key that was never added may take "
     "away "
     "another."},
    {"clear", (PyCFunction)clear, METH_NOARGS,
     "clear($self, /)\n--\n\nForget every key; the size stays."},
    {"copy", (PyCFunction)copy, METH_NOARGS,
     "copy($self, /)\n--\n\nAn independent copy in memory, also of a mapped filter."},
    {"save", (PyCFunction)py_filter_save, METH_O,
     "save($self, path, /)\n--\n\nWrite the filter to a file, which is replaced "
     "whole."},
    {"flush", (PyCFunction)py_filter_flush, METH_NOARGS,
     "flush($self, /)\n--\n\nWrite back counts and checksums of a filter opened with "
     "\"r+\"."},
    {"verify", (PyCFunction)py_filter_verify, METH_NOARGS,
     "verify($self, /)\n--\n\nRecompute the checksums of the file; DamagedError names "
     "the piece."},
    {"close", (PyCFunction)close_filter, METH_NOARGS,
     "close($self, /)\n--\n\nFlush, then release memory and file. Later calls raise "
     "ValueError."},
    {"info", (PyCFunction)info, METH_NOARGS,
     "info($self, /)\n--\n\nDescribes the filter in a dict: kind, size, fill, errors."},
    {"from_bytes", (PyCFunction)(void (*)(void))py_filter_from_bytes,
     METH_VARARGS | METH_KEYWORDS | METH_CLASS,
     "from_bytes(data, **foreign)\n--\n\nA filter from the bytes of its file, native "
     "or "
     "another system's."},
    {"_open", (PyCFunction)(void (*)(void))py_filter_open_file,
     METH_VARARGS | METH_KEYWORDS | METH_CLASS, NULL},
    {"__bytes__", (PyCFunction)py_filter_to_bytes, METH_NOARGS, NULL},
    {"__reduce__", (PyCFunction)py_filter_reduce, METH_NOARGS, NULL},
    {"__copy__", (PyCFunction)copy, METH_NOARGS, NULL},
    {"__deepcopy__", (PyCFunction)copy, METH_O, NULL},
    {"__enter__", (PyCFunction)enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)leave, METH_VARARGS, NULL},
    {NULL}};

static PyGetSetDef properties[] = {
    {"keys", (getter)get_keys, NULL,
     "Estimated number of distinct keys; len() is the same.", NULL},
    {"error", (getter)get_error, NULL, "The current probability of a false positive.",
     NULL},
    {"nbytes", (getter)get_nbytes, NULL, "Bytes of the filter's body.", NULL},
    {"expected_lost", (getter)get_lost, NULL,
     "Expected number of new keys that were called old so far.", NULL},
    {"kind", (getter)get_kind, NULL, "The kind's name, such as \"blocked\".", NULL},
    {"key_type", (getter)get_key_type, (setter)set_key_type,
     "What its keys are: \"text\", \"int64\", ... The first key decides. Keys of "
     "another "
     "type are\na TypeError, unless this is set to \"mixed\".",
     NULL},
    {"identity", (getter)get_identity, NULL,
     "(id, generation): which filter this is, and which state of it was last read or "
     "written;\nNone if it has none.",
     NULL},
    {"closed", (getter)get_closed, NULL, "True after close().", NULL},
    {NULL}};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "Filter(keys=None, error=0.01, *, memory=None, kind=None, removes=False,\n"
     "       fixed=False, shared=False, bits=None, probes=0, seed=0)\n--\n\n"
     "A set of keys in a few bits each. `in` and add() never deny a key that was "
     "added;\n"
     "they find an absent key with a probability of at most `error`.\n\n"
     "Without `keys` it starts small and grows. `removes=True` chooses a kind that "
     "can\n"
     "remove; `shared=True` one to which many processes add (open(path, \"shared\")).\n"
     "`seed=\"random\"` is for keys from strangers; filters to be merged need\n"
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
