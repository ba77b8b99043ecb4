/*
 * python_reader.h - reads what CPython runs in the threads of another process, while these keep running
 * (script_layout.h): used if no BPF program reads it at each sample. What is read may change meanwhile; only
 * code objects are accepted as such.
 */
#ifndef FATHOM_COLLECTOR_SCRIPTS_PYTHON_READER_H
#define FATHOM_COLLECTOR_SCRIPTS_PYTHON_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "image/script_layout.h"
#include "perfdata/script_record.h"

struct python_process {
    pid_t pid;
    uint64_t runtime; /* address of _PyRuntime in it */
    struct python_layout layout;
};

/* A walk over the threads of a process. */
struct python_threads {
    const struct python_process *process; /* borrowed */
    uint64_t state[PYTHON_THREAD_BYTES / 8];
    uint64_t interpreter, next; /* addresses: of the next interpreter, and of the next thread's state */
    unsigned steps;
};

struct python_chain {
    uint64_t hash;  /* hash of the chain, without the innermost function's instruction */
    uint32_t count; /* of `called`; 0: nothing runs */
    uint32_t at;    /* of the innermost function, in place of its script_called.at */
    bool cut;
    struct script_called called[SCRIPT_CALLED_MAX]; /* the innermost function first */
};

struct python_code {
    uint64_t identity; /* distinguishes it from other code at this address */
    uint32_t table_size;
    struct script_code_told told;
    uint8_t table[SCRIPT_TABLE_MAX]; /* of lines */
};

/* false: there is no interpreter, or its memory cannot be read: errno. */
bool python_threads_begin(const struct python_process *process, struct python_threads *out);
/* The next thread; false: there is none. At most some hundred, whatever the process's lists say. */
bool python_threads_next(struct python_threads *threads);
/* The thread's ID in its own PID namespace. */
pid_t python_threads_id(const struct python_threads *threads);
/* What the thread calls; false: it cannot be read. */
bool python_threads_chain(const struct python_threads *threads, struct python_chain *out);

/* What distinguishes a code object from others at its address; 0: there is none. */
uint64_t python_identity(const struct python_process *process, uint64_t code);
/* false: it is not a code object. */
bool python_read_code(const struct python_process *process, uint64_t code, struct python_code *out);

#endif
