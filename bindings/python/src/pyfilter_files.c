/* pyfilter_files.c - a Filter as a file, as bytes and as a pickle; native, or of
 * another system, with keywords for the parameters that its file does not record. */
#include "pyfilter.h"
#include <stdlib.h>
#include <string.h>

PyObject *py_filter_save(filter *self, PyObject *where)
{
    PyObject *path;
    int rc;
    if (!PyUnicode_FSConverter(where, &path))
        return NULL;
    const char *name = PyBytes_AsString(path);
    if (py_filter_alone(self, false)) {
        PY_WHOLE(self, false, rc = seen_save(self->f, name));
        if (rc < 0)
            py_fail(rc, name);
    } else
        rc = -1;
    Py_DECREF(path);
    if (rc < 0)
        return NULL;
    Py_RETURN_NONE;
}

PyObject *py_filter_flush(filter *self, PyObject *unused)
{
    return py_filter_whole(self, true, seen_flush);
}

static int verify_all(seen_filter *f)
{
    return seen_verify(f);
}

PyObject *py_filter_verify(filter *self, PyObject *unused)
{
    return py_filter_whole(self, false, verify_all);
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

PyObject *py_filter_to_bytes(filter *self, PyObject *unused)
{
    growing g = {0};
    PyObject *out = NULL;
    int rc;
    if (!py_filter_alone(self, false))
        return NULL;
    PY_WHOLE(self, false, rc = seen_write(self->f, grow, &g));
    if (rc < 0)
        py_fail(rc, NULL);
    else
        out = PyBytes_FromStringAndSize(g.p, (Py_ssize_t)g.len);
    free(g.p);
    return out;
}

/* The keywords for parameters that a foreign file does not record. */
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
    static char *words[] = {
        "format",       "type",   "column", "row_group", "keys",  "error", "bits",
        "bits_per_key", "probes", "seeds",  "expansion", "flags", NULL};
    PyObject *keys = NULL, *bits = NULL, *seeds = NULL, *none = PyTuple_New(0);
    *w = (foreign_words){.format = NULL};
    seen_params *p = &w->params;
    int ok =
        none && PyArg_ParseTupleAndKeywords(
                    none, named, "|$zzziOdOIIOII:open", words, &w->format, &p->type,
                    &p->column, &p->row_group, &keys, &p->error, &bits,
                    &p->bits_per_key, &p->probes, &seeds, &p->expansion, &p->flags);
    Py_XDECREF(none);
    if (!ok || py_count(keys, "keys", &p->keys) < 0 ||
        py_count(bits, "bits", &p->bits) < 0 ||
        (seeds && seeds != Py_None && seeds_of(seeds, w) < 0))
        return -1;
    w->foreign = named && PyDict_Size(named) > 0;
    return 0;
}

/* PY_DIGITS for the types that the library converts from text. */
static py_numbers numbers_of(const foreign_words *w)
{
    const char *t = w->params.type;
    return t && strcmp(t, "bytes") && strncmp(t, "utf", 3) ? PY_DIGITS : PY_BINARY;
}

/* Opens a native file or, if it is not one, another system's. */
static int open_any(const char *path, const foreign_words *w, unsigned mode,
                    seen_filter **f)
{
    int rc = w->foreign ? SEEN_EFORMAT : seen_open(path, mode, f);
    if (rc != SEEN_EFORMAT)
        return rc;
    return seen_open_foreign(path, w->format, &w->params, mode, f);
}

PyObject *py_filter_open_file(PyTypeObject *type, PyObject *args, PyObject *named)
{
    PyObject *where, *path = NULL;
    const char *word = "r";
    foreign_words w;
    if (!PyArg_ParseTuple(args, "O|s:open", &where, &word) ||
        foreign_of(named, &w) < 0 || !PyUnicode_FSConverter(where, &path))
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
        Py_BEGIN_ALLOW_THREADS rc = open_any(name, &w, modes[i].mode, &f);
        Py_END_ALLOW_THREADS out = rc < 0 ? py_fail(rc, name) : py_filter_wrap(type, f);
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

PyObject *py_filter_from_bytes(PyTypeObject *type, PyObject *args, PyObject *named)
{
    PyObject *data;
    foreign_words w;
    Py_buffer view;
    if (!PyArg_ParseTuple(args, "O:from_bytes", &data) || foreign_of(named, &w) < 0 ||
        PyObject_GetBuffer(data, &view, PyBUF_SIMPLE) < 0)
        return NULL;
    /* The library needs bytes aligned to a cache line; the filter is then a copy. */
    void *aligned = aligned_alloc(64, ((size_t)view.len + 64) / 64 * 64);
    seen_filter *f = NULL;
    int rc = SEEN_ENOMEM;
    if (aligned) {
        memcpy(aligned, view.buf, (size_t)view.len);
        Py_BEGIN_ALLOW_THREADS rc =
            w.foreign ? SEEN_EFORMAT
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

PyObject *py_filter_reduce(PyObject *o, PyObject *unused)
{
    filter *self = (filter *)o;
    if (!py_filter_open(self))
        return NULL;
    PyObject *module = PyImport_ImportModule("seen"), *out = NULL;
    PyObject *again = module ? PyObject_GetAttrString(module, "_again") : NULL;
    if (again && self->origin)
        out = Py_BuildValue("(OO)", again, self->origin);
    else if (again) {
        const seen_format *format = seen_format_of(self->f);
        PyObject *bytes = py_filter_to_bytes(self, NULL);
        if (bytes)
            out =
                Py_BuildValue("(O(Oz{}))", again, bytes, format ? format->name : NULL);
        Py_XDECREF(bytes);
    }
    Py_XDECREF(again);
    Py_XDECREF(module);
    return out;
}
