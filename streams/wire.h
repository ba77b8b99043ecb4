/*
 * wire.h - the trace of a thread, as the runtime writes it and trace/ reads it: a file in the trace's directory, PID-TID-N.burst, of a
 * header and then bursts. It is written through a shared mapping, so that a program that is killed leaves it behind; `used`
 * is raised when what is before it is whole.
 *
 * A record is what an instrumented instruction referred to: the instruction's address in memory and the datum's, which is 0 where only
 * the execution is logged. Both are predicted from the records before, in a table that the reader keeps in the same way: the
 * instruction is the one that followed the last one the last time, the datum is as far from the instruction's last one as that was
 * from the one before.
 *
 *     tag   bit 0: the instruction is as predicted; else its distance from the last one follows
 *           bits 1 to 3: what is said of the datum, enum stream_datum
 *           bits 4 to 7: so many records follow that are as predicted in both
 *     distances are LEB128 of 2 * |d| - (d < 0), that of the datum last
 *
 * A tag with STREAM_CONTROL says something else: its bits 4 to 7 are enum stream_control, and a LEB128 number follows.
 */
#ifndef FATHOM_STREAMS_WIRE_H
#define FATHOM_STREAMS_WIRE_H

#include <stdint.h>

#define STREAM_MAGIC      0x31545342u /* "BST1" */
#define STREAM_VERSION    2u
#define STREAM_NO_PROCESS UINT32_MAX
#define STREAM_SITES      4096u /* entries of the table, by stream_hash() */
#define STREAM_CONTROL    0x0eu /* bits 1 to 3 */

enum stream_datum {
    STREAM_PREDICTED,
    STREAM_FROM_OWN,  /* the distance from the instruction's last one follows */
    STREAM_FROM_LAST, /* from the last record's datum */
};

enum stream_control {
    STREAM_BURST, /* a burst begins; the number: checks that were passed since the last one ended */
    STREAM_LOST,  /* so many records are missing here */
    STREAM_END,   /* the burst was ended by a check; without it the thread was cut off. The number is 0 */
    /* In the terms of process_wire.h: */
    STREAM_CONTEXT, /* behind STREAM_BURST, and where the log was emptied: the call path, 0: unknown */
    STREAM_HEAP, /* so many more bytes of the process's file tell of the heap until here. Only if the heap is logged: in front of a
                       burst's first record, where the thread allocates or frees, and each 64 checks or earlier for what others do */
};

struct stream_header {
    uint32_t magic, version;
    uint32_t pid, tid;
    uint64_t used;          /* bytes of the file that are valid, with the header */
    uint64_t records, lost; /* until then */
    uint64_t bursts;
    uint64_t checks;          /* that were passed in the checking version */
    uint32_t checks0, burst0; /* nCheck0, nInstr0 */
    uint32_t full;            /* the trace ended at its bound, or the disk was full: an errno, or 1 */
    uint32_t process;         /* PID-N.process belongs to it: N; STREAM_NO_PROCESS: none */
};

struct stream_site {   /* of the table */
    uint64_t pc, next; /* the instruction; which one followed it */
    uint64_t datum, stride;
};

static inline uint32_t stream_hash(uint64_t pc)
{
    return (uint32_t)((pc * 0x9e3779b97f4a7c15u) >> 52) % STREAM_SITES;
}

#endif
