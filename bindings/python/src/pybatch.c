/* pybatch.c - reads keys from Python in batches: from an iterable, an array of
 * integers, or strings packed as offsets and bytes. */
#include "pyseen.h"
#include <stdlib.h>
#include <string.h>

/* Keys a batch. Each batch releases the GIL once; next to a busy thread that can cost
 * five milliseconds, so batches are large. */
enum { BATCH = 16384 };

typedef struct {
    py_batch_fn fn;
    py_type_fn may; /* NULL: keys of any type */
    int last;       /* type that it allowed last; -1 */
    void *ctx;
    py_numbers numbers;
    PyObject *answers; /* a bytearray that grows, or NULL */
    size_t done;       /* keys answered so far */
    seen_key *key;
    uint64_t *number;
    PyObject **held; /* objects that the keys of this batch point into */
} batches;

static int open_batches(batches *b, py_type_fn may, py_batch_fn fn, void *ctx,
                        bool answers)
{
    *b = (batches){.fn = fn, .may = may, .last = -1, .ctx = ctx};
    b->key = malloc(BATCH * sizeof *b->key);
    b->number = malloc(BATCH * sizeof *b->number);
    b->held = calloc(2 * BATCH, sizeof *b->held);
    if (answers)
        b->answers = PyByteArray_FromStringAndSize(NULL, 0);
    if (b->key && b->number && b->held && (!answers || b->answers))
        return 0;
    if (!PyErr_Occurred())
        PyErr_NoMemory();
    return -1;
}

static void close_batches(batches *b)
{
    free(b->key), free(b->number), free(b->held);
    Py_XDECREF(b->answers);
}

/* Keys of TYPE follow. -1 with an exception if they may not. */
static inline int allow(batches *b, seen_keys type)
{
    if (b->last == (int)type || !b->may)
        return 0;
    b->last = (int)type;
    return b->may(b->ctx, type);
}

/* Processes the first N keys. -1 with an exception. */
static int work(batches *b, size_t n)
{
    bool *answers = NULL;
    if (!n)
        return PyErr_CheckSignals();
    if (b->answers) {
        /* No other code has this bytearray yet, so its bytes do not move. */
        if (b->done + n > (size_t)PyByteArray_Size(b->answers)) {
            size_t more = b->done + n + b->done / 2;
            if (PyByteArray_Resize(b->answers, (Py_ssize_t)more) < 0)
                return -1;
        }
        answers = (bool *)PyByteArray_AsString(b->answers) + b->done;
    }
    int rc = b->fn(b->ctx, b->key, n, answers);
    b->done += n;
    if (rc < 0) {
        py_fail(rc, NULL);
        return -1;
    }
    return PyErr_CheckSignals();
}

/* ---- iterables ------------------------------------------------------------------- */

static void drop(batches *b, size_t n)
{
    for (size_t i = 0; i < 2 * n; i++)
        Py_XDECREF(b->held[i]);
}

/* Reads BATCH keys at a time. Keys read before an exception are processed before it is
 * passed on, as set.update does. */
static int from_iterator(batches *b, PyObject *iterator)
{
    for (bool end = false; !end;) {
        size_t n = 0;
        PyObject *type = NULL, *value = NULL, *trace = NULL;
        while (n < BATCH) {
            PyObject *o = PyIter_Next(iterator), **held = b->held + 2 * n;
            seen_keys kind;
            if (!o)
                held[1] = NULL;
            if (!o ||
                py_key(o, b->numbers, b->key + n, b->number + n, held + 1, &kind) < 0 ||
                allow(b, kind) < 0) {
                Py_CLEAR(held[1]);
                Py_XDECREF(o);
                PyErr_Fetch(&type, &value, &trace);
                end = true;
                break;
            }
            held[0] = o;
            n++;
        }
        int rc = work(b, n);
        drop(b, n);
        if (rc < 0) {
            Py_XDECREF(type), Py_XDECREF(value), Py_XDECREF(trace);
            return -1;
        }
        if (type) {
            PyErr_Restore(type, value, trace);
            return -1;
        }
    }
    return 0;
}

/* ---- arrays of integers ------------------------------------------------------------
 */

static uint64_t load(const unsigned char *p, size_t size, bool swap, bool sign)
{
    uint64_t x = 0;
    for (size_t i = 0; i < size; i++)
        x |= (uint64_t)p[swap ? size - 1 - i : i] << 8 * i;
    if (sign && size < 8 && x >> (8 * size - 1) & 1)
        x |= ~(uint64_t)0 << 8 * size;
    return x;
}

static bool little_endian(void)
{
    return *(const unsigned char *)&(uint16_t){1} == 1;
}

/* True if FORMAT, in the notation of struct, is one of CODES; also gives its sign and
 * byte order. */
static bool one_of(const char *codes, const char *format, bool *sign, bool *big)
{
    *big = !little_endian();
    if (*format == '<' || *format == '>' || *format == '!' || *format == '=' ||
        *format == '@') {
        if (*format == '<')
            *big = false;
        if (*format == '>' || *format == '!')
            *big = true;
        format++;
    }
    *sign = *format && strchr("bhilqn", *format);
    return *format && !format[1] && strchr(codes, *format);
}

static bool of_integers(const char *format, bool *sign, bool *big)
{
    return one_of("bBhHiIlLqQnN", format, sign, big);
}

/* Floats of four or eight bytes in the machine's order. */
static int from_reals(batches *b, const Py_buffer *v)
{
    const unsigned char *p = v->buf;
    Py_ssize_t step = v->strides ? v->strides[0] : v->itemsize, left = v->shape[0];
    if (left && allow(b, SEEN_KEYS_FLOAT) < 0)
        return -1;
    while (left) {
        size_t n = left < BATCH ? (size_t)left : BATCH;
        for (size_t i = 0; i < n; i++, p += step) {
            double x;
            float y;
            memcpy(&x, p, v->itemsize == 8 ? 8 : 0);
            memcpy(&y, p, v->itemsize == 4 ? 4 : 0);
            seen_real_key(v->itemsize == 8 ? x : (double)y,
                          (unsigned char *)&b->number[i]);
            b->key[i] = (seen_key){&b->number[i], 8};
        }
        if (work(b, n) < 0)
            return -1;
        left -= (Py_ssize_t)n;
    }
    return 0;
}

static int from_array(batches *b, const Py_buffer *v, bool sign, bool big)
{
    const unsigned char *p = v->buf;
    Py_ssize_t step = v->strides ? v->strides[0] : v->itemsize, left = v->shape[0];
    if (left && allow(b, sign || v->itemsize < 8 ? SEEN_KEYS_INT64
                                                 : SEEN_KEYS_UINT64) < 0)
        return -1;
    /* Eight-byte integers in order are their own keys. */
    bool as_is = v->itemsize == 8 && !big;
    while (left) {
        size_t n = left < BATCH ? (size_t)left : BATCH;
        for (size_t i = 0; i < n; i++, p += step) {
            if (as_is)
                b->key[i] = (seen_key){p, 8};
            else {
                uint64_t x = load(p, (size_t)v->itemsize, big, sign);
                seen_integer_key(x, (unsigned char *)&b->number[i]);
                b->key[i] = (seen_key){&b->number[i], 8};
            }
        }
        if (work(b, n) < 0)
            return -1;
        left -= (Py_ssize_t)n;
    }
    return 0;
}

/* ---- strings as offsets and bytes
 * ---------------------------------------------------- */

/* Arrow's layout: string i is data[offsets[i] .. offsets[i + 1]]. Offsets are
 * untrusted, so each is checked before a byte is touched. */
static int from_strings(batches *b, const Py_buffer *offsets, const Py_buffer *data)
{
    size_t width = (size_t)offsets->itemsize, all = (size_t)offsets->len / width;
    const unsigned char *at = offsets->buf;
    bool swap = !little_endian();
    if (all > 1 && allow(b, SEEN_KEYS_TEXT) < 0)
        return -1;
    uint64_t from = all ? load(at, width, swap, false) : 0;
    for (size_t i = 1; i < all;) {
        size_t n = 0;
        for (; i < all && n < BATCH; i++, n++) {
            uint64_t to = load(at + i * width, width, swap, false);
            if (to < from || to > (uint64_t)data->len) {
                PyErr_Format(
                    PyExc_ValueError,
                    "string %zu: offsets %llu to %llu are not inside %zd bytes", i - 1,
                    (unsigned long long)from, (unsigned long long)to, data->len);
                return -1;
            }
            b->key[n] = (seen_key){(const char *)data->buf + from, (size_t)(to - from)};
            from = to;
        }
        if (work(b, n) < 0)
            return -1;
    }
    return 0;
}

static int strings(batches *b, PyObject *source)
{
    PyObject *o = PyObject_GetAttrString(source, "offsets"),
             *d = o ? PyObject_GetAttrString(source, "data") : NULL;
    Py_buffer offsets, data;
    int rc = -1;
    if (!d || PyObject_GetBuffer(o, &offsets, PyBUF_ND | PyBUF_FORMAT) < 0)
        goto out;
    bool sign, big;
    if (offsets.ndim != 1 ||
        !of_integers(offsets.format ? offsets.format : "B", &sign, &big) ||
        big == little_endian() || (offsets.itemsize != 4 && offsets.itemsize != 8))
        PyErr_SetString(PyExc_TypeError,
                        "offsets are an array of 32- or 64-bit integers");
    else if (PyObject_GetBuffer(d, &data, PyBUF_SIMPLE) == 0) {
        rc = from_strings(b, &offsets, &data);
        PyBuffer_Release(&data);
    }
    PyBuffer_Release(&offsets);
out:
    Py_XDECREF(o), Py_XDECREF(d);
    return rc;
}

/* ---- which of them
 * ------------------------------------------------------------------- */

/* 1 if SOURCE was an array of numbers and is processed, 0 if it is not one, -1 on
 * failure. */
static int array(batches *b, PyObject *source)
{
    Py_buffer v;
    if (!PyObject_CheckBuffer(source))
        return 0;
    if (PyObject_GetBuffer(source, &v, PyBUF_STRIDES | PyBUF_FORMAT) < 0) {
        PyErr_Clear(); /* an array of objects can be iterated */
        return 0;
    }
    bool sign, big;
    int rc = 0;
    if (v.ndim == 1 && v.format && of_integers(v.format, &sign, &big) &&
        v.itemsize <= 8)
        rc = from_array(b, &v, sign, big) < 0 ? -1 : 1;
    else if (v.ndim == 1 && v.format && one_of("fd", v.format, &sign, &big) &&
             big != little_endian() && (v.itemsize == 4 || v.itemsize == 8))
        rc = from_reals(b, &v) < 0 ? -1 : 1;
    else if (v.ndim > 1) {
        PyErr_Format(PyExc_TypeError, "keys are an array of one dimension, not %d",
                     v.ndim);
        rc = -1;
    }
    PyBuffer_Release(&v);
    return rc;
}

int py_each_batch(PyObject *source, py_numbers numbers, py_type_fn may, py_batch_fn fn,
                  void *ctx, bool answers, PyObject **out)
{
    batches b;
    int rc = -1;
    if (PyUnicode_Check(source) || PyBytes_Check(source) || PyByteArray_Check(source)) {
        PyErr_Format(PyExc_TypeError,
                     "%R is one key; pass a list of keys, or use add() or `in`",
                     (PyObject *)Py_TYPE(source));
        return -1;
    }
    if (open_batches(&b, may, fn, ctx, answers) < 0)
        goto out;
    b.numbers = numbers;
    if (PyObject_HasAttrString(source, "offsets") &&
        PyObject_HasAttrString(source, "data"))
        rc = strings(&b, source);
    else if ((rc = numbers == PY_BINARY ? array(&b, source) : 0) == 0) {
        PyObject *iterator = PyObject_GetIter(source);
        rc = iterator ? from_iterator(&b, iterator) : -1;
        Py_XDECREF(iterator);
    }
    if (rc >= 0 && answers && PyByteArray_Resize(b.answers, (Py_ssize_t)b.done) < 0)
        rc = -1;
    if (rc >= 0 && answers) {
        *out = b.answers;
        b.answers = NULL;
    }
out:
    close_batches(&b);
    return rc < 0 ? -1 : 0;
}

PyObject *py_answered(PyObject *source, py_numbers numbers, py_type_fn may,
                      py_batch_fn fn, void *ctx)
{
    PyObject *module = PyImport_ImportModule("seen"), *flags, *out = NULL;
    PyObject *plain =
        module ? PyObject_CallMethod(module, "_plain", "O", source) : NULL;
    if (plain && py_each_batch(plain, numbers, may, fn, ctx, true, &flags) == 0)
        out = PyObject_CallMethod(module, "_answers", "ON", source, flags);
    Py_XDECREF(plain);
    Py_XDECREF(module);
    return out;
}
