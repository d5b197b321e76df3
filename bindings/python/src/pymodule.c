/* pymodule.c - the entry point for Python: types, errors, plans. */
#include "pyseen.h"

/* plan(keys, error, memory): the cost of every kind, the chosen one first. */
static PyObject *plan(PyObject *module, PyObject *args)
{
    unsigned long long keys, memory;
    double error;
    if (!PyArg_ParseTuple(args, "KdK:plan", &keys, &error, &memory))
        return NULL;
    static const seen_kind kinds[] = {SEEN_AUTO, SEEN_CLASSIC, SEEN_BLOCKED, SEEN_SPLIT,
                                      SEEN_SET,  SEEN_CUCKOO,  SEEN_RIBBON,
                                      SEEN_QUOTIENT};
    PyObject *rows = PyList_New(0);
    for (size_t i = 0; rows && i < sizeof kinds / sizeof *kinds; i++) {
        seen_size s = {.kind = kinds[i], .keys = keys, .error = error, .bytes = memory};
        int rc = seen_solve(&s);
        if (rc < 0 && i == 0) {
            Py_DECREF(rows);
            return py_fail(rc, NULL);
        }
        if (rc < 0)
            continue; /* this kind cannot do it */
        unsigned can = seen_kind_can(s.kind);
        PyObject *row = Py_BuildValue(
            "{sssKsdsKsKsdsIsOsOsO}", "kind", seen_kind_name(s.kind), "keys", s.keys,
            "error", s.error, "bits", s.bits, "bytes", s.bytes, "bits_per_key",
            s.bits_per_key, "probes", s.probes, "removes",
            can & SEEN_CAN_REMOVE ? Py_True : Py_False, "merges",
            can & SEEN_CAN_MERGE ? Py_True : Py_False, "grows",
            can & SEEN_CAN_GROW ? Py_True : Py_False);
        if (!row || PyList_Append(rows, row) < 0) {
            Py_XDECREF(row);
            Py_DECREF(rows);
            return NULL;
        }
        Py_DECREF(row);
    }
    return rows;
}

static PyObject *formats(PyObject *module, PyObject *unused)
{
    size_t n;
    const seen_format *const *all = seen_formats(&n);
    PyObject *out = PyDict_New();
    for (size_t i = 0; out && i < n; i++) {
        PyObject *about = PyUnicode_FromString(all[i]->about);
        if (!about || PyDict_SetItemString(out, all[i]->name, about) < 0) {
            Py_XDECREF(about);
            Py_DECREF(out);
            return NULL;
        }
        Py_DECREF(about);
    }
    return out;
}

static PyMethodDef functions[] = {
    {"_plan", plan, METH_VARARGS, NULL},
    {"formats", formats, METH_NOARGS,
     "formats()\n--\n\nThe names of the other systems' formats that open() reads."},
    {NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "seen._seen",
    "The C part of seen; import seen instead.", -1, functions};

static PyObject *add_type(PyObject *module, const char *name, PyType_Spec *spec)
{
    PyObject *type = PyType_FromSpec(spec);
    if (!type)
        return NULL;
    Py_INCREF(type);
    if (PyModule_AddObject(module, name, type) < 0) {
        Py_DECREF(type);
        Py_DECREF(type);
        return NULL;
    }
    return type;
}

PyMODINIT_FUNC PyInit__seen(void); /* found by name */
PyMODINIT_FUNC PyInit__seen(void)
{
    /* There is one set of types and errors in a process; a second interpreter would
     * share them. */
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
        PyErr_SetString(
            PyExc_ImportError,
            "seen works in the main interpreter only, not in subinterpreters");
        return NULL;
    }
    PyObject *module = PyModule_Create(&definition);
    if (!module)
        return NULL;
    py_filter_type = (PyTypeObject *)add_type(module, "Filter", &py_filter_spec);
    if (!py_filter_type || !add_type(module, "Builder", &py_builder_spec) ||
        !add_type(module, "_Bitmap", &py_bitmap_spec) || py_add_errors(module) < 0 ||
#ifdef SEEN_REMOTE
        !add_type(module, "Remote", &py_remote_spec) ||
#endif
        PyModule_AddStringConstant(module, "version", seen_version()) < 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
