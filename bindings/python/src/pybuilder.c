/* pybuilder.c - seen.Builder: static filters, the smallest kind, from any number of
 * keys. */
#include "pyseen.h"

typedef struct {
    PyObject_HEAD
    seen_builder *b;    /* NULL: finished or closed */
    seen_filter *typed; /* empty: has the type of the keys */
    py_lock lock;
} builder;

static PyObject *new_builder(PyTypeObject *type, PyObject *args, PyObject *named)
{
    static char *words[] = {"error", "memory", "seed", "keys", "tmp", "threads", NULL};
    unsigned long long memory = 0, seed = 0, keys = 0;
    PyObject *tmp = NULL;
    seen_build_spec spec = {.error = 0};
    if (!PyArg_ParseTupleAndKeywords(args, named, "|d$KKKO&I:Builder", words,
                                     &spec.error, &memory, &seed, &keys,
                                     PyUnicode_FSConverter, &tmp, &spec.threads))
        return NULL;
    spec.memory = memory, spec.seed = seed, spec.keys = keys;
    if (tmp)
        spec.tmp = PyBytes_AsString(tmp);
    seen_builder *b;
    int rc = seen_builder_new(&spec, &b);
    if (rc < 0)
        py_fail(rc, spec.tmp);
    Py_XDECREF(tmp);
    if (rc < 0)
        return NULL;
    builder *self = (builder *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self) {
        seen_builder_free(b);
        return NULL;
    }
    self->b = b;
    py_lock_init(&self->lock);
    return (PyObject *)self;
}

static void builder_dealloc(builder *self)
{
    PyTypeObject *type = Py_TYPE(self);
    seen_builder_free(self->b);
    seen_free(self->typed);
    py_lock_destroy(&self->lock);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* The handle, once no other thread works on it. NULL with an exception. */
static seen_builder *idle(builder *self)
{
    py_lock_wait(&self->lock, true);
    if (!self->b)
        PyErr_SetString(PyExc_ValueError, "the builder is finished");
    return self->b;
}

static int builder_batch(void *ctx, const seen_key *keys, size_t n, bool *answers)
{
    builder *self = ctx;
    int rc;
    if (!idle(self))
        return SEEN_EINVAL;
    py_lock_enter(&self->lock, true);
    Py_BEGIN_ALLOW_THREADS
    rc = seen_builder_add(self->b, keys, n);
    Py_END_ALLOW_THREADS
    py_lock_leave(&self->lock);
    return rc;
}

/* Keys of TYPE come: an empty filter knows whether they go with those before. */
static int may_take(void *ctx, seen_keys type)
{
    builder *self = ctx;
    int rc = self->typed ? 0 : seen_new(NULL, &self->typed);
    if (rc < 0)
        return py_fail(rc, NULL), -1;
    return seen_take_keys(self->typed, type) < 0 ? py_wrong_type() : 0;
}

static PyObject *builder_update(builder *self, PyObject *source)
{
    if (!idle(self) || py_each_batch(source, PY_BINARY, may_take, builder_batch, self,
                                     false, NULL) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *builder_add(builder *self, PyObject *o)
{
    seen_key key;
    uint64_t number;
    PyObject *temp;
    seen_keys type;
    if (!idle(self) || py_key(o, PY_BINARY, &key, &number, &temp, &type) < 0)
        return NULL;
    if (may_take(self, type) < 0) {
        Py_XDECREF(temp);
        return NULL;
    }
    int rc = seen_builder_add(self->b, &key, 1);
    Py_XDECREF(temp);
    if (rc < 0)
        return py_fail(rc, NULL);
    Py_RETURN_NONE;
}

static PyObject *finish(builder *self, PyObject *unused)
{
    seen_filter *f;
    int rc;
    if (!idle(self))
        return NULL;
    py_lock_enter(&self->lock, true);
    Py_BEGIN_ALLOW_THREADS
    rc = seen_builder_finish(self->b, &f);
    seen_builder_free(self->b);
    Py_END_ALLOW_THREADS
    self->b = NULL;
    py_lock_leave(&self->lock);
    if (rc < 0)
        return py_fail(rc, NULL);
    if (self->typed)
        seen_set_keys(f, seen_keys_of(self->typed));
    return py_filter_wrap(py_filter_type, f);
}

static PyMethodDef methods[] = {
    {"add", (PyCFunction)builder_add, METH_O,
     "add($self, key, /)\n--\n\nTake one key."},
    {"update", (PyCFunction)builder_update, METH_O,
     "update($self, keys, /)\n--\n\nTake all keys of an iterable or an array of "
     "integers,\nin any order, with repetitions."},
    {"finish", (PyCFunction)finish, METH_NOARGS,
     "finish($self, /)\n--\n\nMake the filter: it can be asked and saved, and never "
     "changes."},
    {NULL}};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "Builder(error=0.01, *, memory=0, seed=0, keys=0, tmp=None, threads=0)\n"
     "--\n\nBuilds a static filter, about 1% above the least possible size. "
     "Keeps eight\nbytes of each key in memory, then in an unnamed file in "
     "`tmp`."},
    {Py_tp_new, new_builder},
    {Py_tp_dealloc, builder_dealloc},
    {Py_tp_methods, methods},
    {0, NULL}};

PyType_Spec py_builder_spec = {"seen.Builder", sizeof(builder), 0, Py_TPFLAGS_DEFAULT,
                               slots};
