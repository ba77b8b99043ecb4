/*
 * rerecord.h - writes the records of one recording into another, for programs that make test recordings: all but the
 * samples as they were, each with a trailer of TID, TIME and IDENTIFIER.
 */
#ifndef FATHOM_TESTS_INFER_RERECORD_H
#define FATHOM_TESTS_INFER_RERECORD_H

#include <sys/mman.h>

#include "perfdata/record.h"
#include "tests/perfdata/build.h"

#define RERECORD_ID 7

static inline void put_trailer(struct build *b, const struct record *record)
{
    put32(b, record->pid);
    put32(b, record->tid);
    put64(b, record->time);
    put64(b, RERECORD_ID);
    record_end(b);
}

static inline void put_mapping(struct build *b, const struct record *record)
{
    record_start(b, PERF_RECORD_MMAP2,
                 PERF_RECORD_MISC_USER | (record->mmap.executable ? 0 : PERF_RECORD_MISC_MMAP_DATA));
    put32(b, record->pid);
    put32(b, record->tid);
    put64(b, record->mmap.address);
    put64(b, record->mmap.length);
    put64(b, record->mmap.offset);
    put64(b, 0); /* device, inode, generation */
    put64(b, 0);
    put64(b, 0);
    put32(b, PROT_READ | (record->mmap.executable ? PROT_EXEC : 0));
    put32(b, MAP_PRIVATE);
    put_text(b, record->mmap.path);
    put_trailer(b, record);
}

/* COMM, MMAP, FORK and EXIT; nothing of others. */
static inline void put_other(struct build *b, const struct record *record)
{
    if (record->kind == RECORD_MMAP) {
        put_mapping(b, record);
    } else if (record->kind == RECORD_COMM) {
        record_start(b, PERF_RECORD_COMM, record->comm.exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
        put32(b, record->pid);
        put32(b, record->tid);
        put_text(b, record->comm.name);
        put_trailer(b, record);
    } else if (record->kind == RECORD_FORK || record->kind == RECORD_EXIT) {
        record_start(b, record->type, 0);
        put32(b, record->pid);
        put32(b, record->fork.parent_pid);
        put32(b, record->tid);
        put32(b, record->fork.parent_tid);
        put64(b, record->time);
        put_trailer(b, record);
    }
}

#endif
