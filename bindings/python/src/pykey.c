/* pykey.c - converts Python objects to keys: the same bytes as in C and in the command.
 *
 * Nothing is guessed: an object without obvious bytes (None, a dict) is a TypeError
 * that says what to pass instead. docs/keys.md has the types. */
#include "pyseen.h"
#include <string.h>

/* Negative integers become their two's complement, as in a C cast. */
static int integer(PyObject *o, uint64_t *number)
{
    int over;
    long long v = PyLong_AsLongLongAndOverflow(o, &over);
    if (v == -1 && !over && PyErr_Occurred())
        return -1;
    uint64_t x = (uint64_t)v;
    if (over > 0) {
        x = PyLong_AsUnsignedLongLong(o);
        if (x == (uint64_t)-1 && PyErr_Occurred())
            PyErr_Clear(), over = -1;
    }
    if (over < 0) {
        PyErr_SetString(PyExc_OverflowError,
                        "an int key has 64 bits; pass str(n) or n.to_bytes(...)");
        return -1;
    }
    seen_integer_key(x, (unsigned char *)number);
    return 0;
}

static int not_a_key(PyObject *o)
{
    PyErr_Format(PyExc_TypeError,
                 "a key is a str, bytes, int, float, UUID, date, datetime, buffer or a "
                 "tuple of those, not %R; pass str(key), repr(key) or a tuple of its "
                 "parts",
                 (PyObject *)Py_TYPE(o));
    return -1;
}

int py_wrong_type(void)
{
    PyErr_SetString(PyExc_TypeError, seen_reason());
    return -1;
}

static int real(PyObject *o, uint64_t *number)
{
    double x = PyFloat_AsDouble(o);
    if (x == -1 && PyErr_Occurred())
        return -1;
    seen_real_key(x, (unsigned char *)number);
    return 0;
}

/* An object of a class that seen._key() knows: its type and bytes. *TEMP is NULL and no
 * exception is set if it knows none. */
static int by_class(PyObject *o, PyObject **temp, seen_keys *type)
{
    PyObject *module = PyImport_ImportModule("seen"),
             *pair = module ? PyObject_CallMethod(module, "_key", "O", o) : NULL;
    Py_XDECREF(module);
    if (!pair)
        return -1;
    int number;
    if (pair != Py_None && PyArg_ParseTuple(pair, "iS", &number, temp)) {
        *type = (seen_keys)number;
        Py_INCREF(*temp);
    }
    Py_DECREF(pair);
    return PyErr_Occurred() ? -1 : 0;
}

/* The bytes of any other buffer, copied because it may change while the key is in a
 * batch. */
static PyObject *bytes_of(PyObject *o)
{
    Py_buffer view;
    if (PyObject_GetBuffer(o, &view, PyBUF_ND) < 0) {
        PyErr_SetString(PyExc_TypeError,
                        "a buffer used as a key must be contiguous; pass bytes(it)");
        return NULL;
    }
    PyObject *copy = NULL;
    if (view.ndim > 0)
        copy = PyBytes_FromStringAndSize(view.buf, view.len);
    else /* a NumPy scalar that is not an integer */
        not_a_key(o);
    PyBuffer_Release(&view);
    return copy;
}

/* Length-prefixed, so that ("ab", "c") and ("a", "bc") differ: for each member its
 * length as eight little-endian bytes, then the bytes it would have as a key. */
static PyObject *joined(PyObject *tuple)
{
    Py_ssize_t n = PyTuple_Size(tuple);
    size_t len = 0;
    PyObject *all = NULL;
    /* Two passes over the members: one for the size, one to copy. */
    for (int pass = 0; pass < 2; pass++) {
        unsigned char *p = all ? (unsigned char *)PyBytes_AsString(all) : NULL;
        for (Py_ssize_t i = 0; i < n; i++) {
            PyObject *member = PyTuple_GetItem(tuple, i), *temp;
            uint64_t number;
            seen_key key;
            if (PyTuple_Check(member)) {
                PyErr_SetString(PyExc_TypeError,
                                "a tuple inside a tuple cannot be a key; flatten it");
                Py_XDECREF(all);
                return NULL;
            }
            seen_keys any;
            if (py_key(member, PY_BINARY, &key, &number, &temp, &any) < 0) {
                Py_XDECREF(all);
                return NULL;
            }
            if (!p)
                len += 8 + key.len;
            else if ((size_t)(p - (unsigned char *)PyBytes_AsString(all)) + 8 +
                         key.len <=
                     len) {
                seen_integer_key(key.len, p);
                memcpy(p + 8, key.data, key.len);
                p += 8 + key.len;
            }
            Py_XDECREF(temp);
        }
        if (!all && !(all = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)len)))
            return NULL;
    }
    return all;
}

static int text(PyObject *o, seen_key *key)
{
    Py_ssize_t len;
    key->data = PyUnicode_AsUTF8AndSize(o, &len);
    key->len = (size_t)len;
    return key->data ? 0 : -1;
}

int py_key(PyObject *o, py_numbers numbers, seen_key *key, uint64_t *number,
           PyObject **temp, seen_keys *type)
{
    *temp = NULL;
    *type = SEEN_KEYS_TEXT;
    if (Py_TYPE(o) == &PyUnicode_Type || PyUnicode_Check(o)) /* the usual one first */
        return text(o, key);
    *type = SEEN_KEYS_BYTES;
    if (PyBytes_Check(o)) {
        key->data = PyBytes_AsString(o);
        key->len = (size_t)PyBytes_Size(o);
        return 0;
    }
    if (numbers == PY_DIGITS && (PyIndex_Check(o) || PyFloat_Check(o))) {
        PyObject *n = PyIndex_Check(o) ? PyNumber_Index(o) : PyNumber_Float(o);
        *temp = n ? PyObject_Str(n) : NULL;
        Py_XDECREF(n);
        if (*temp && text(*temp, key) == 0)
            return 0;
        Py_CLEAR(*temp);
        return -1;
    }
    *key = (seen_key){number, 8};
    if (PyFloat_Check(o)) {
        *type = SEEN_KEYS_FLOAT;
        return real(o, number);
    }
    if (PyIndex_Check(o)) { /* int, and the integers of NumPy */
        PyObject *n = PyNumber_Index(o);
        int rc = n ? integer(n, number) : -1;
        Py_XDECREF(n);
        *type = SEEN_KEYS_INT64;
        return rc;
    }
    if (PyTuple_Check(o)) {
        *type = SEEN_KEYS_TUPLE;
        *temp = joined(o);
    } else if (PyObject_CheckBuffer(o)) {
        *temp = bytes_of(o);
    } else if (by_class(o, temp, type) == 0 && !*temp) {
        return not_a_key(o);
    }
    if (!*temp)
        return -1;
    key->data = PyBytes_AsString(*temp);
    key->len = (size_t)PyBytes_Size(*temp);
    return 0;
}
