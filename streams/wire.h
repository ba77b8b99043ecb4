/*
 * wire.h - the trace of a thread, as the runtime writes it and trace/ reads it: a file in the trace's directory,
 * PID-TID-N.burst, with a header followed by bursts. It is written through a shared mapping, so that a killed
 * program leaves it behind; `used` is raised when everything before it is complete.
 *
 * A record is a reference of an instrumented instruction: the instruction's address in memory and that of the
 * datum, which is 0 if only the execution is logged. Both are predicted from the records before, by a table that
 * the reader maintains in the same way: the instruction is the one that followed the previous one last time; the
 * datum is as far from the instruction's previous one as that was from the one before.
 *
 *      tag   bit 0: the instruction is as predicted; otherwise its distance from the last one follows
 *            bits 1 to 3: how the datum is given, enum stream_datum
 *            bits 4 to 7: number of records that follow in which both are as predicted
 *      distances are LEB128 of 2 * |d| - (d < 0), that of the datum last
 *
 * A tag with STREAM_CONTROL is no record: its bits 4 to 7 are enum stream_control, and a LEB128 number follows.
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
    STREAM_BURST, /* a burst begins; number: checks since the last one ended */
    STREAM_LOST,  /* number of records missing here */
    STREAM_END,   /* a check ended the burst; without this, the thread was cut off. The number is 0 */
    /* In the terms of process_wire.h: */
    STREAM_CONTEXT, /* follows STREAM_BURST, and emptying of the log: the call path, 0: unknown */
    STREAM_HEAP, /* number of bytes by which the process's heap records have grown. Only if the heap is logged: before
                  * a burst's first record, where the thread allocates or frees, and at least every 64 checks for what
                  * others do */
};

struct stream_header {
    uint32_t magic, version;
    uint32_t pid, tid;
    uint64_t used;          /* bytes of the file that are valid, with the header */
    uint64_t records, lost; /* up to `used` */
    uint64_t bursts;
    uint64_t checks;          /* executed in the checking version */
    uint32_t checks0, burst0; /* nCheck0, nInstr0 */
    uint32_t full;            /* the trace reached its limit, or the disk was full: an errno, or 1 */
    uint32_t process;         /* N of its PID-N.process; STREAM_NO_PROCESS: none */
};

struct stream_site {   /* of the table */
    uint64_t pc, next; /* the instruction; the one that followed it */
    uint64_t datum, stride;
};

static inline uint32_t stream_hash(uint64_t pc)
{
    return (uint32_t)((pc * 0x9e3779b97f4a7c15u) >> 52) % STREAM_SITES;
}

#endif
