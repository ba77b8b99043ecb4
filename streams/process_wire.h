/*
 * process_wire.h - what the runtime writes of a process, and trace/process_file.h reads: the call paths that its traces name, and its heap.
 * It is a file of the trace's directory, PID-N.process, beside the traces of the threads that name its N (stream_header), as
 * exec() leaves the PID what it was. It is written as those are: through a shared mapping, and `used` is raised when what is before
 * it is whole.
 *
 * After the header come records in the order in which things happened: an allocation after the allocator gave the memory, a free
 * before it took it back, so that an address is live once at most. Numbers are LEB128, differences 2 * |d| - (d < 0).
 *
 *     PROCESS_ALLOCATED  address - the address before, size, context
 *     PROCESS_FREED      address - the address before
 *     PROCESS_CONTEXT    id, twice the number of frames plus whether outer ones are missing, then for each frame, the innermost
 *                        first, address - the address of the frame before
 *
 * Addresses before the first one are 0. A frame's address is a return address, but the innermost of a burst is in the code that checks.
 * Frames of the runtime are left out.
 *
 * The child of fork() has a file of its own from its first record on. Until the fork its history is that of its parent, of which the
 * first parent_used bytes count, and so on.
 */
#ifndef FATHOM_STREAMS_PROCESS_WIRE_H
#define FATHOM_STREAMS_PROCESS_WIRE_H

#include <stdint.h>

#define PROCESS_MAGIC   0x31435250u /* "PRC1" */
#define PROCESS_VERSION 1u

#define PROCESS_CONTEXTS_MOST 65536u /* ids are below; 0 stands for unknown */
#define PROCESS_FRAMES_MOST   128u

enum process_record {
    PROCESS_ALLOCATED = 1,
    PROCESS_FREED,
    PROCESS_CONTEXT,
};

struct process_header {
    uint32_t magic, version;
    uint32_t pid, number;           /* as in the file's name */
    uint32_t parent, parent_number; /* 0, 0: none */
    uint64_t parent_used;           /* bytes of the parent's file */
    uint64_t used;                  /* bytes of this one that are valid, with the header */
    uint64_t heap_lost; /* where in the file nothing is known of the heap any more; 0: all of it is there */
    uint32_t heap;      /* 1: the heap is logged */
    uint32_t full;      /* nothing more could be written: an errno */
};

#endif
