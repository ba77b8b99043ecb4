/* block.h - the memory of one thread of a traced process: the part that duplicated code uses
 * (rewrite/duplicate/wire.h), followed by the runtime's own. */
#ifndef FATHOM_STREAMS_RUNTIME_BLOCK_H
#define FATHOM_STREAMS_RUNTIME_BLOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "rewrite/duplicate/wire.h"
#include "streams/runtime/grown.h"
#include "streams/wire.h"

struct writer { /* of a trace file */
    struct grown file;
    struct stream_header *header; /* mapped */
    struct stream_site *sites;    /* STREAM_SITES */
    uint64_t pc, datum;           /* of the last record */
    uint64_t heap;                /* value of the last STREAM_HEAP */
    uint8_t *run;                 /* the tag whose count of predicted records can still grow; NULL: none */
};

struct block {
    uint32_t tid;
    int32_t burst_left;
    void (*change)(void);
    uint32_t logged;
    bool opened; /* making its file was tried */
    struct block *self;
    uint64_t busy;    /* stack pointer of the code that called burst_change(); 0: not in it */
    uint32_t nested;  /* checks of signal handlers meanwhile */
    int32_t whole;    /* checks left in the burst, including those in burst_left; 0: no burst */
    uint32_t taken;   /* bytes logged in this piece that are already in the file */
    int32_t piece;    /* an upper bound of burst_left since it was last set: the log is emptied that often */
    uint32_t context; /* current context of the burst, as last written */
    struct writer writer;
    int32_t checks_left[WIRE_GROUPS] __attribute__((aligned(WIRE_CHECKS_LEFT)));
    int32_t later[WIRE_GROUPS]; /* values outside of the burst, saved during it */
};

_Static_assert(offsetof(struct block, checks_left) == WIRE_CHECKS_LEFT &&
                   offsetof(struct block, burst_left) == WIRE_BURST_LEFT &&
                   offsetof(struct block, change) == WIRE_CHANGE &&
                   offsetof(struct block, logged) == WIRE_LOGGED && offsetof(struct block, self) == WIRE_SELF,
               "as the code has it");
_Static_assert(sizeof(struct block) <= WIRE_LOG - WIRE_RECORD, "the log is behind it");

/* Options from the process's environment (start.c). */
struct trace_options {
    char directory[3840]; /* ends with / */
    uint32_t checks0, burst0;
    uint64_t most; /* bytes of each thread's file */
    uint64_t heap; /* limit of the heap records in the process's file, bytes; 0: the heap is not logged */
};
extern struct trace_options trace_options;

/* writer.c: makes the thread's file, which names the process's; false: there is none, and nothing is recorded. */
bool writer_open(struct writer *writer, uint32_t pid, uint32_t tid, uint32_t process);
/* whole: truncate the file to its used size. */
void writer_close(struct writer *writer, bool whole);
bool writer_works(const struct writer *writer);
void writer_burst(struct writer *writer, uint64_t checks, uint32_t context);
/* Records within a burst that the call path has changed. */
void writer_context(struct writer *writer, uint32_t context);
/* Records how many bytes of the process's file describe the heap up to now. */
void writer_heap(struct writer *writer, uint64_t position);
/* Appends the contents of the log; `logged`: bytes since it was empty. */
void writer_take(struct writer *writer, const uint8_t *log, uint32_t logged);
void writer_end(struct writer *writer);

/* change.S: what duplicated code calls; saves all registers and calls burst_change(). */
void burst_enter(void);
/* burst.c: begins, continues or ends a burst. `sp`: the caller's. Returns whether to continue in the checking
 * version. */
bool burst_change(struct block *block, uint64_t sp);

/* Call after a change of the heap: writes out what the calling thread has logged, which refers to the old one. */
void block_heap_changed(void);

/* Gives the calling thread a block of its own. Without memory it shares one that never starts a burst. */
struct block *block_enter(void);
/* Ends recording for the calling thread, and completes its file. */
void block_leave(void);
/* In the child of fork(): makes it forget its parent's file. */
void block_forked(void);

#endif
