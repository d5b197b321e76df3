/* pybitmap.c - seen.Bitmap: an exact set of integers below a bound, one bit each. */
#include "pyseen.h"

typedef struct {
    PyObject_HEAD
    seen_bitmap *b;
} bitmap;

static PyTypeObject *type_of_bitmaps; /* of the first bitmap; there is only one type */

static PyObject *new_bitmap(PyTypeObject *type, PyObject *args, PyObject *named)
{
    static char *words[] = {"bound", NULL};
    unsigned long long bound;
    if (!PyArg_ParseTupleAndKeywords(args, named, "K:Bitmap", words, &bound))
        return NULL;
    bitmap *self = (bitmap *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self)
        return NULL;
    int rc = seen_bitmap_new(bound, NULL, &self->b);
    if (rc < 0) {
        self->b = NULL;
        Py_DECREF(self);
        return py_fail(rc, NULL);
    }
    type_of_bitmaps = type;
    return (PyObject *)self;
}

static void bitmap_dealloc(bitmap *self)
{
    PyTypeObject *type = Py_TYPE(self);
    if (self->b)
        seen_bitmap_free(self->b);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* Reads a Python integer within the bound; -1 with an exception. */
static int index_of(bitmap *self, PyObject *o, uint64_t *i)
{
    PyObject *n = PyNumber_Index(o);
    if (!n)
        return -1;
    *i = PyLong_AsUnsignedLongLong(n);
    Py_DECREF(n);
    if (PyErr_Occurred() || *i >= seen_bitmap_bound(self->b)) {
        PyErr_Clear();
        PyErr_Format(PyExc_IndexError, "%R is outside the bitmap of 0 to %llu", o,
                     (unsigned long long)seen_bitmap_bound(self->b) - 1);
        return -1;
    }
    return 0;
}

static PyObject *bitmap_add(bitmap *self, PyObject *o)
{
    uint64_t i;
    return index_of(self, o, &i) < 0
               ? NULL
               : PyBool_FromLong(seen_bitmap_set(self->b, i) == SEEN_NEW);
}

static PyObject *discard(bitmap *self, PyObject *o)
{
    uint64_t i;
    return index_of(self, o, &i) < 0 ? NULL
                                     : PyBool_FromLong(seen_bitmap_clear(self->b, i));
}

static int bitmap_contains(bitmap *self, PyObject *o)
{
    uint64_t i;
    return index_of(self, o, &i) < 0 ? -1 : seen_bitmap_get(self->b, i);
}

static int only_integers(void *ctx, seen_keys type)
{
    if (type == SEEN_KEYS_INT64 || type == SEEN_KEYS_UINT64)
        return 0;
    PyErr_SetString(PyExc_TypeError, "a bitmap holds integers");
    return -1;
}

static int set_batch(void *ctx, const seen_key *keys, size_t n, bool *answers)
{
    bitmap *self = ctx;
    for (size_t j = 0; j < n; j++) {
        const unsigned char *p = keys[j].data;
        uint64_t i = 0;
        for (int k = 0; k < 8; k++)
            i |= (uint64_t)p[k] << 8 * k;
        int rc = seen_bitmap_set(self->b, i);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static PyObject *bitmap_update(bitmap *self, PyObject *source)
{
    if (py_each_batch(source, PY_BINARY, only_integers, set_batch, self, false, NULL) <
        0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *count(bitmap *self, PyObject *args)
{
    unsigned long long from = 0, to = seen_bitmap_bound(self->b);
    uint64_t n;
    if (!PyArg_ParseTuple(args, "|KK:count", &from, &to))
        return NULL;
    int rc = seen_bitmap_count_range(self->b, from, to, &n);
    return rc < 0 ? py_fail(rc, NULL) : PyLong_FromUnsignedLongLong(n);
}

/* Up to 4096 set bits from a place on, and the place to continue from: for
 * seen.Bitmap.__iter__. */
static PyObject *listed(bitmap *self, PyObject *o)
{
    unsigned long long start = PyLong_AsUnsignedLongLong(o);
    if (PyErr_Occurred())
        return NULL;
    uint64_t from = start, found[4096];
    size_t n =
        start < seen_bitmap_bound(self->b)
            ? seen_bitmap_list(self->b, &from, seen_bitmap_bound(self->b), found, 4096)
            : 0;
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; list && i < n; i++) {
        PyObject *x = PyLong_FromUnsignedLongLong(found[i]);
        if (!x) {
            Py_DECREF(list);
            return NULL;
        }
        PyList_SetItem(list, (Py_ssize_t)i, x);
    }
    return list ? Py_BuildValue("(NK)", list, (unsigned long long)from) : NULL;
}

static Py_ssize_t bitmap_length(bitmap *self)
{
    return (Py_ssize_t)seen_bitmap_count(self->b);
}

static PyObject *combine(PyObject *a, PyObject *b,
                         int (*op)(seen_bitmap *, const seen_bitmap *))
{
    if (!PyObject_TypeCheck(b, type_of_bitmaps))
        Py_RETURN_NOTIMPLEMENTED;
    int rc = op(((bitmap *)a)->b, ((bitmap *)b)->b);
    if (rc < 0)
        return py_fail(rc, NULL);
    Py_INCREF(a);
    return a;
}

static PyObject *ior(PyObject *a, PyObject *b)
{
    return combine(a, b, seen_bitmap_or);
}

static PyObject *iand(PyObject *a, PyObject *b)
{
    return combine(a, b, seen_bitmap_and);
}

static PyObject *isub(PyObject *a, PyObject *b)
{
    return combine(a, b, seen_bitmap_andnot);
}

static PyObject *get_bound(bitmap *self, void *unused)
{
    return PyLong_FromUnsignedLongLong(seen_bitmap_bound(self->b));
}

static PyMethodDef methods[] = {
    {"add", (PyCFunction)bitmap_add, METH_O,
     "add($self, i, /)\n--\n\nSet bit i. True if it was not set before."},
    {"discard", (PyCFunction)discard, METH_O,
     "discard($self, i, /)\n--\n\nClear bit i. True if it was set."},
    {"update", (PyCFunction)bitmap_update, METH_O,
     "update($self, integers, /)\n--\n\nSet the bits of an iterable or array of "
     "integers."},
    {"count", (PyCFunction)count, METH_VARARGS,
     "count($self, start=0, stop=bound, /)\n--\n\nSet bits from start to stop - 1."},
    {"_list", (PyCFunction)listed, METH_O, NULL},
    {NULL}};

static PyGetSetDef properties[] = {
    {"bound", (getter)get_bound, NULL, "Integers are 0 to bound - 1.", NULL}, {NULL}};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Bitmap(bound)\n--\n\nAn exact set of the integers 0 to bound - 1, one "
                "bit each. Integers outside\nraise IndexError."},
    {Py_tp_new, new_bitmap},
    {Py_tp_dealloc, bitmap_dealloc},
    {Py_sq_contains, bitmap_contains},
    {Py_sq_length, bitmap_length},
    {Py_nb_inplace_or, ior},
    {Py_nb_inplace_and, iand},
    {Py_nb_inplace_subtract, isub},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, NULL}};

PyType_Spec py_bitmap_spec = {"seen._Bitmap", sizeof(bitmap), 0,
                              Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
