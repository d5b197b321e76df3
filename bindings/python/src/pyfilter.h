/* pyfilter.h - the Filter object, for the files that implement its methods. */
#ifndef PYFILTER_H
#define PYFILTER_H

#include "pyseen.h"

typedef struct {
    PyObject_HEAD seen_filter *f; /* NULL: closed */
    PyObject *origin;   /* how to open it again: (path, mode, keywords), or NULL */
    py_numbers numbers; /* how integers become keys */
    py_lock lock;
} filter;

/* The handle; NULL with an exception if the filter is closed. */
seen_filter *py_filter_open(filter *self);

/* The same, after waiting for batches of other threads. */
static inline seen_filter *py_filter_alone(filter *self, bool writing)
{
    if (self->lock.running)
        py_lock_wait(&self->lock, writing);
    return self->f ? self->f : py_filter_open(self);
}

/* Calls a function on the whole filter without the GIL. */
#define PY_WHOLE(self, writing, call)                                                  \
    do {                                                                               \
        py_lock_enter(&(self)->lock, writing);                                         \
        Py_BEGIN_ALLOW_THREADS call;                                                   \
        Py_END_ALLOW_THREADS py_lock_leave(&(self)->lock);                             \
    } while (0)

/* Runs CALL on the whole filter: None, or NULL with an exception. */
PyObject *py_filter_whole(filter *self, bool writing, int (*call)(seen_filter *));

/* Reads a count such as 1000 or 1e6, or None for 0. Returns 0, or -1 with an exception
 * that names WHAT. */
int py_count(PyObject *o, const char *what, uint64_t *out);

/* ---- files and bytes (pyfilter_files.c) ----------------------------------------- */

PyObject *py_filter_save(filter *self, PyObject *where);
PyObject *py_filter_flush(filter *self, PyObject *unused);
PyObject *py_filter_verify(filter *self, PyObject *unused);
PyObject *py_filter_to_bytes(filter *self, PyObject *unused);
PyObject *py_filter_open_file(PyTypeObject *type, PyObject *args, PyObject *named);
PyObject *py_filter_from_bytes(PyTypeObject *type, PyObject *args, PyObject *named);
/* pickle: a filter in memory becomes its bytes, a mapped one the name of its file, so
 * that the processes of a pool share its pages. */
PyObject *py_filter_reduce(PyObject *o, PyObject *unused);

#endif
