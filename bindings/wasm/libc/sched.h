/* sched.h - one processor. */
#ifndef SN_WASM_SCHED_H
#define SN_WASM_SCHED_H
typedef int cpu_set_t;
#define CPU_COUNT(set) 1
#define sched_getaffinity(pid, size, set) (*(set) = 0)
#endif
