/*
 * data.h - what is at a data address of a process: a stack, the heap, the named data of a program or library.
 *
 * Needs the mappings of data in the recording (perf_event_attr.mmap_data). The kernel reports neither munmap nor the growth of
 * stacks: unmapped memory remains until something else is mapped there, and stacks are found by their bases.
 */
#ifndef FATHOM_PROCESS_DATA_H
#define FATHOM_PROCESS_DATA_H

#include "process/process.h"

enum data_kind {
    DATA_UNKNOWN,   /* no mapping is known there */
    DATA_STACK,     /* the thread's own, or one that it shares */
    DATA_HEAP,      /* memory from brk() */
    DATA_ANONYMOUS, /* memory without a file: large allocations, or other threads' */
    DATA_FILE,      /* a mapped file, or memory with a name: `path` */
    DATA_IMAGE,     /* of a program or library: `image`, `address` */
};

struct data_place {
    enum data_kind kind;
    const char *path;    /* as recorded; NULL: none */
    struct image *image; /* NULL: not a program or library, or it could not be opened */
    uint64_t address;    /* DATA_IMAGE: the image's virtual address; others: 0 */
};

/* What is at an address now. tid: the thread that accessed it, to find its stack. *out borrows from the process's memory;
 * DATA_UNKNOWN if nothing is known. Opens files of code that were not opened before. */
void data_find(const struct process *process, uint32_t tid, uint64_t address, struct data_place *out);

#endif
