/* pyerror.c - the library's codes as Python exceptions.
 *
 * Each class is a SeenError and, if Python has a matching exception, also that one: a
 * program that catches ValueError or OSError catches ours. */
#include "pyseen.h"
#include <errno.h>

static PyObject *base_error;

static struct {
    int code;
    const char *name, *about;
    PyObject **also; /* one of Python's own classes, or NULL */
    PyObject *type;
} errors[] = {
    {SEEN_EINVAL, "InvalidError", "An argument makes no sense.", &PyExc_ValueError,
     NULL},
    {SEEN_ETOOBIG, "TooBigError", "The requested size is impossible.",
     &PyExc_OverflowError, NULL},
    {SEEN_EFULL, "FullError", "The filter is fixed and full.", NULL, NULL},
    {SEEN_ERANGE, "RangeError", "An integer is outside the bitmap.", &PyExc_IndexError,
     NULL},
    {SEEN_EKIND, "KindError", "This kind of filter cannot do that.", &PyExc_TypeError,
     NULL},
    {SEEN_EMISMATCH, "MismatchError", "The two filters differ in shape or seed.",
     &PyExc_ValueError, NULL},
    {SEEN_EREADONLY, "ReadOnlyError", "The filter was opened read-only.", NULL, NULL},
    {SEEN_EFORMAT, "FormatError", "Not a filter, or its header contradicts itself.",
     &PyExc_ValueError, NULL},
    {SEEN_EVERSION, "VersionError", "The file was made by a newer version.", NULL,
     NULL},
    {SEEN_EDAMAGED, "DamagedError", "A checksum does not match: the file is damaged.",
     NULL, NULL},
    {SEEN_EBUSY, "BusyError", "Another process is writing to the file.",
     &PyExc_BlockingIOError, NULL},
    {SEEN_EFOREVER, "ForeverError", "The key was added too often to be removed.", NULL,
     NULL},
};
enum { N_ERRORS = sizeof errors / sizeof *errors };

PyObject *py_fail(int code, const char *path)
{
    int why = errno;
    if (PyErr_Occurred()) /* a signal, or an earlier exception */
        return NULL;
    if (code == SEEN_ENOMEM)
        return PyErr_NoMemory();
    if (code == SEEN_EIO) {
        PyObject *args = path ? Py_BuildValue("(isN)", why, seen_reason(),
                                              PyUnicode_DecodeFSDefault(path))
                              : Py_BuildValue("(is)", why, seen_reason());
        if (args)
            PyErr_SetObject(PyExc_OSError, args);
        Py_XDECREF(args);
        return NULL;
    }
    for (int i = 0; i < N_ERRORS; i++)
        if (errors[i].code == code) {
            PyErr_SetString(errors[i].type, seen_reason());
            return NULL;
        }
    PyErr_SetString(base_error, seen_strerror(code));
    return NULL;
}

int py_add_errors(PyObject *module)
{
    base_error = PyErr_NewExceptionWithDoc(
        "seen.SeenError", "The base class of all errors of this module.", NULL, NULL);
    if (!base_error || PyModule_AddObject(module, "SeenError", base_error) < 0)
        return -1;
    Py_INCREF(base_error);
    for (int i = 0; i < N_ERRORS; i++) {
        char name[64];
        PyOS_snprintf(name, sizeof name, "seen.%s", errors[i].name);
        PyObject *bases = errors[i].also
                              ? PyTuple_Pack(2, base_error, *errors[i].also)
                              : PyTuple_Pack(1, base_error);
        if (!bases)
            return -1;
        errors[i].type = PyErr_NewExceptionWithDoc(name, errors[i].about, bases, NULL);
        Py_DECREF(bases);
        if (!errors[i].type)
            return -1;
        Py_INCREF(errors[i].type);
        if (PyModule_AddObject(module, errors[i].name, errors[i].type) < 0)
            return -1;
    }
    return 0;
}
