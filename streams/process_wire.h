/*
 * process_wire.h - the format of the file that the runtime writes for a process, and trace/process_file.h reads:
 * the call paths that traces refer to, and the heap. It is a file of the trace's directory, PID-N.process, beside
 * the traces of the threads that refer to its N (stream_header), as exec() does not change the PID. Like these it
 * is written through a shared mapping, and `used` is raised when everything before it is complete.
 *
 * The header is followed by records in the order of events: an allocation after the allocator returned the
 * memory, a free before it took it back, so that each address is live at most once. Numbers are LEB128,
 * differences 2 * |d| - (d < 0).
 *
 *      PROCESS_ALLOCATED  address - the address before, size, context
 *      PROCESS_FREED      address - the address before
 *      PROCESS_CONTEXT    id, twice the number of frames plus 1 if outer ones are missing; then for each frame, innermost
 *                         first, address - the address of the frame before
 *
 * Addresses before the first one are 0. A frame's address is a return address, except for a burst's innermost
 * frame, where it is in the checking code. Frames of the runtime are left out.
 *
 * The child of fork() has a file of its own from its first record on. Before the fork its history is its
 * parent's, of which the first parent_used bytes count, and so on.
 */
#ifndef FATHOM_STREAMS_PROCESS_WIRE_H
#define FATHOM_STREAMS_PROCESS_WIRE_H

#include <stdint.h>

#define PROCESS_MAGIC   0x31435250u /* "PRC1" */
#define PROCESS_VERSION 1u

#define PROCESS_CONTEXTS_MOST 65536u /* ids are below; 0: unknown */
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
    uint64_t heap_lost;             /* position from which the heap is unknown; 0: all of it is known */
    uint32_t heap;                  /* 1: the heap is logged */
    uint32_t full;                  /* nothing more could be written: an errno */
};

#endif
