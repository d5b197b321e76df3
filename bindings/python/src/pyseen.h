/* pyseen.h - declarations shared by the C files of the Python module.
 *
 * The module is compiled against the limited API of CPython 3.9, so one binary serves
 * that version and every later one. Two things it needs are exported by every 3.x
 * interpreter but entered the limited API later: the UTF-8 of a str (3.10) and the
 * buffer protocol (3.11). They are declared here as 3.11 froze them. */
#ifndef PYSEEN_H
#define PYSEEN_H
#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x03090000
#endif
#include <Python.h>
#include <pthread.h>
#include <seen.h>
#include <stdbool.h>

#if Py_LIMITED_API < 0x030a0000
PyAPI_FUNC(const char *) PyUnicode_AsUTF8AndSize(PyObject *text, Py_ssize_t *len);
#endif
#if Py_LIMITED_API < 0x030b0000
typedef struct {
    void *buf;
    PyObject *obj;
    Py_ssize_t len, itemsize;
    int readonly, ndim;
    char *format;
    Py_ssize_t *shape, *strides, *suboffsets;
    void *internal;
} Py_buffer;
PyAPI_FUNC(int) PyObject_CheckBuffer(PyObject *o);
PyAPI_FUNC(int) PyObject_GetBuffer(PyObject *o, Py_buffer *view, int flags);
PyAPI_FUNC(void) PyBuffer_Release(Py_buffer *view);
#define PyBUF_SIMPLE 0
#define PyBUF_FORMAT 0x0004
#define PyBUF_ND 0x0008
#define PyBUF_STRIDES (0x0010 | PyBUF_ND)
#endif

/* ---- errors (pyerror.c) ---------------------------------------------------------- */

/* Sets the exception for CODE with the message of seen_reason(); PATH (or NULL) becomes
 * the filename of an OSError. Returns NULL. */
PyObject *py_fail(int code, const char *path);
int py_add_errors(PyObject *module);

/* ---- keys (pykey.c) ---------------------------------------------------------------
 */

/* How integers become keys: as eight little-endian bytes, or as decimal digits for
 * other systems' filters whose type the library converts from text (int32, double, ...;
 * these accept floats too). */
typedef enum { PY_BINARY, PY_DIGITS } py_numbers;

/* Converts a Python object to one key of *TYPE: str to its UTF-8, bytes unchanged, int
 * by NUMBERS, float to a double, other buffers to their bytes, a tuple to its members,
 * each after its length, and UUIDs, dates and datetimes as seen._key() says. Returns 0,
 * or -1 with an exception. KEY points into O, into *NUMBER or into *TEMP, a new
 * reference that the caller drops after use (NULL if none was needed). */
int py_key(PyObject *o, py_numbers numbers, seen_key *key, uint64_t *number,
           PyObject **temp, seen_keys *type);

/* Whether keys of TYPE may be used with the object CTX: 0, or -1 with an exception. */
typedef int (*py_type_fn)(void *ctx, seen_keys type);
/* The TypeError for a type that the library refused; returns -1. */
int py_wrong_type(void);

/* ---- batches of keys (pybatch.c) ---------------------------------------------------
 */

/* Processes one batch: N keys, and ANSWERS for them (NULL if not wanted). Called with
 * the GIL, which it should release. A negative code ends the iteration. */
typedef int (*py_batch_fn)(void *ctx, const seen_key *keys, size_t n, bool *answers);

/* Passes every key of SOURCE to FN, of a type that MAY (NULL: any) allows: an iterable,
 * an array of integers, or a pair of offsets and bytes (seen.Strings). With ANSWERS,
 * *OUT becomes a bytearray of one byte (0 or 1) a key. Signals are handled between
 * batches. Returns 0, or -1 with an exception; the keys of earlier batches have then
 * been processed. */
int py_each_batch(PyObject *source, py_numbers numbers, py_type_fn may, py_batch_fn fn,
                  void *ctx, bool answers, PyObject **out);

/* The same, and the answers as seen._answers gives them: a NumPy array if the keys came
 * from NumPy or pandas, otherwise a memoryview of bools. NULL with an exception. */
PyObject *py_answered(PyObject *source, py_numbers numbers, py_type_fn may,
                      py_batch_fn fn, void *ctx);

/* ---- work without the GIL (pylock.c)
 * ------------------------------------------------- */

/* Who uses an object without the GIL: RUNNING readers, or one writer (-1). RUNNING
 * changes only with both the GIL and the mutex held, so either is enough to read it. */
typedef struct py_lock {
    int running;
    pthread_mutex_t mutex;
    pthread_cond_t free;
} py_lock;
void py_lock_init(py_lock *l);
void py_lock_destroy(py_lock *l);
/* Waits, without the GIL, until no other thread's use of the object excludes ours. A
 * caller that keeps the GIL while it works needs no more than this. */
void py_lock_wait(py_lock *l, bool writing);
/* The same, and marks the object until py_lock_leave: the GIL may then be released. */
void py_lock_enter(py_lock *l, bool writing);
void py_lock_leave(py_lock *l);

/* ---- types -------------------------------------------------------------------------
 */

extern PyType_Spec py_filter_spec, py_builder_spec, py_bitmap_spec, py_remote_spec;
extern PyTypeObject *py_filter_type;

/* A Filter that owns F (freed if no object can be made). */
PyObject *py_filter_wrap(PyTypeObject *type, seen_filter *f);

#endif
