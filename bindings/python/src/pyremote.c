/* pyremote.c - seen.Remote: a filter in a Redis or Valkey server, shared by many
 * processes. Compiled only with hiredis; without it the module has no Remote.
 *
 * Every call talks to the server, so all of them release the GIL; one call talks at a
 * time. */
#include "pyseen.h"
#ifdef SEEN_REMOTE
#include "remote.h"
#include <math.h>

typedef struct {
    PyObject_HEAD
    seen_remote *r; /* NULL: closed */
    py_lock lock;
} remote;

static PyObject *remote_fail(int code)
{
    if (!PyErr_Occurred())
        PyErr_SetString(code == SEEN_EIO ? PyExc_ConnectionError : PyExc_ValueError,
                        seen_remote_reason());
    return NULL;
}

static PyObject *new_remote(PyTypeObject *type, PyObject *args, PyObject *named)
{
    static char *words[] = {"url", "keys", "error", "make", "module", NULL};
    const char *url;
    unsigned long long keys = 0;
    int make = 1, module = 0;
    seen_remote_spec spec = {.error = 0};
    if (!PyArg_ParseTupleAndKeywords(args, named, "s|$Kdpp:Remote", words, &url, &keys,
                                     &spec.error, &make, &module))
        return NULL;
    spec.keys = keys, spec.make = make, spec.module = module;
    seen_remote *r;
    int rc;
    Py_BEGIN_ALLOW_THREADS
    rc = seen_remote_open(url, &spec, &r);
    Py_END_ALLOW_THREADS
    if (rc < 0)
        return remote_fail(rc);
    remote *self = (remote *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self) {
        seen_remote_close(r);
        return NULL;
    }
    self->r = r;
    py_lock_init(&self->lock);
    return (PyObject *)self;
}

static void remote_dealloc(remote *self)
{
    PyTypeObject *type = Py_TYPE(self);
    seen_remote_close(self->r);
    py_lock_destroy(&self->lock);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* The handle, after waiting for other threads that use it. NULL with an exception. */
static seen_remote *quiet(remote *self)
{
    py_lock_wait(&self->lock, true);
    if (!self->r)
        PyErr_SetString(PyExc_ValueError, "the filter is closed");
    return self->r;
}

/* Asks or adds one batch. Sets the exception itself, because the message is not that of
 * seen_reason(). */
static int talk(remote *self, const seen_key *keys, size_t n, bool *answers,
                bool adding)
{
    bool few[256];
    int rc = 0;
    if (!quiet(self))
        return SEEN_EINVAL;
    py_lock_enter(&self->lock, true);
    Py_BEGIN_ALLOW_THREADS
    for (size_t i = 0, m; rc == 0 && i < n; i += m) {
        m = n - i < 256 ? n - i : 256;
        bool *out = answers ? answers + i : few;
        rc = adding ? seen_remote_add(self->r, keys + i, m, out)
                    : seen_remote_has(self->r, keys + i, m, out);
        for (size_t j = 0; adding && rc == 0 && j < m; j++)
            out[j] = !out[j]; /* in Python, True means new */
    }
    Py_END_ALLOW_THREADS
    py_lock_leave(&self->lock);
    if (rc < 0)
        remote_fail(rc);
    return rc;
}

static int remote_add_batch(void *ctx, const seen_key *keys, size_t n, bool *answers)
{
    return talk(ctx, keys, n, answers, true);
}

static int remote_has_batch(void *ctx, const seen_key *keys, size_t n, bool *answers)
{
    return talk(ctx, keys, n, answers, false);
}

/* -1 with an exception, or the answer for one key. */
static int single(remote *self, PyObject *o, bool adding)
{
    seen_key key;
    uint64_t number;
    PyObject *temp;
    bool answer;
    seen_keys type;
    if (py_key(o, PY_BINARY, &key, &number, &temp, &type) < 0)
        return -1;
    int rc = talk(self, &key, 1, &answer, adding);
    Py_XDECREF(temp);
    return rc < 0 ? -1 : answer;
}

static PyObject *remote_add(remote *self, PyObject *o)
{
    int new = single(self, o, true);
    return new < 0 ? NULL : PyBool_FromLong(new);
}

static int remote_contains(remote *self, PyObject *o)
{
    return single(self, o, false);
}

static PyObject *remote_update(remote *self, PyObject *source)
{
    if (!quiet(self) ||
        py_each_batch(source, PY_BINARY, NULL, remote_add_batch, self, false, NULL) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *remote_add_many(remote *self, PyObject *source)
{
    return quiet(self) ? py_answered(source, PY_BINARY, NULL, remote_add_batch, self)
                       : NULL;
}

static PyObject *remote_has_many(remote *self, PyObject *source)
{
    return quiet(self) ? py_answered(source, PY_BINARY, NULL, remote_has_batch, self)
                       : NULL;
}

static int stats_of(remote *self, seen_remote_stats *out)
{
    if (!quiet(self))
        return -1;
    seen_remote_get_stats(self->r, out);
    return 0;
}

static Py_ssize_t remote_length(remote *self)
{
    seen_remote_stats s;
    return stats_of(self, &s) < 0 ? -1 : (Py_ssize_t)s.added;
}

static PyObject *remote_nbytes(remote *self, void *unused)
{
    seen_remote_stats s;
    return stats_of(self, &s) < 0 ? NULL : PyLong_FromUnsignedLongLong(s.bytes);
}

static PyObject *remote_lost(remote *self, void *unused)
{
    seen_remote_stats s;
    double fill, error = NAN;
    int rc;
    if (stats_of(self, &s) < 0)
        return NULL;
    py_lock_enter(&self->lock, true);
    Py_BEGIN_ALLOW_THREADS
    rc = seen_remote_check(self->r, &fill, &error);
    Py_END_ALLOW_THREADS
    py_lock_leave(&self->lock);
    if (rc < 0)
        return remote_fail(rc);
    /* The error only grew with the adds, so this is an upper bound. */
    return PyFloat_FromDouble(fill < 0 ? (double)s.added * s.error
                                       : (double)s.added * error);
}

static PyObject *remote_close(remote *self, PyObject *unused)
{
    py_lock_wait(&self->lock, true);
    seen_remote_close(self->r);
    self->r = NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"add", (PyCFunction)remote_add, METH_O,
     "add($self, key, /)\n--\n\nAdd a key. Of all processes that add it, one gets "
     "True."},
    {"update", (PyCFunction)remote_update, METH_O,
     "update($self, keys, /)\n--\n\nAdd all keys of an iterable or an array."},
    {"add_many", (PyCFunction)remote_add_many, METH_O,
     "add_many($self, keys, /)\n--\n\nAdd keys; for each, True if nobody had it "
     "before."},
    {"has_many", (PyCFunction)remote_has_many, METH_O,
     "has_many($self, keys, /)\n--\n\nFor each key, True if it was added; False is "
     "certain."},
    {"close", (PyCFunction)remote_close, METH_NOARGS,
     "close($self, /)\n--\n\nDisconnect. The filter stays in the server."},
    {NULL}};

static PyGetSetDef properties[] = {
    {"nbytes", (getter)remote_nbytes, NULL, "Bytes of the filter in the server.", NULL},
    {"expected_lost", (getter)remote_lost, NULL,
     "At most this many new keys of this process are expected to be lost.", NULL},
    {NULL}};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Remote(url, *, keys=0, error=0.01, make=True, module=False)\n--\n\n"
                "A filter in Redis or Valkey, shared by many processes and machines:\n"
                "redis://[[user]:password@]host[:port]/name. Created if missing.\n"
                "len() counts the new keys of this process."},
    {Py_tp_new, new_remote},
    {Py_tp_dealloc, remote_dealloc},
    {Py_sq_contains, remote_contains},
    {Py_sq_length, remote_length},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, NULL}};

PyType_Spec py_remote_spec = {"seen.Remote", sizeof(remote), 0, Py_TPFLAGS_DEFAULT,
                              slots};
#endif
