/* block.h - the memory of one thread of a traced process: what duplicated code knows (rewrite/duplicate/wire.h), and what the
 * runtime keeps behind it. */
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
    uint64_t heap;                /* what STREAM_HEAP said last */
    uint8_t *run;                 /* the tag whose count of predicted records can grow; NULL: none */
};

struct block {
    uint32_t tid;
    int32_t burst_left;
    void (*change)(void);
    uint32_t logged;
    bool opened; /* it was tried to make its file */
    struct block *self;
    uint64_t busy;   /* the stack pointer of whoever is in burst_change(); 0: nobody */
    uint32_t nested; /* checks of handlers meanwhile */
    int32_t whole;   /* checks that are left of the burst, those of burst_left among them; 0: there is none */
    uint32_t taken;  /* bytes that were logged in this piece, too, and are in the file */
    int32_t piece;   /* burst_left at its last setting, or more: the log is emptied that often */
    uint32_t context; /* of the burst: what was last said of it */
    struct writer writer;
    int32_t checks_left[WIRE_GROUPS] __attribute__((aligned(WIRE_CHECKS_LEFT)));
    int32_t later[WIRE_GROUPS]; /* in a burst: what they were */
};

_Static_assert(offsetof(struct block, checks_left) == WIRE_CHECKS_LEFT &&
                   offsetof(struct block, burst_left) == WIRE_BURST_LEFT &&
                   offsetof(struct block, change) == WIRE_CHANGE &&
                   offsetof(struct block, logged) == WIRE_LOGGED && offsetof(struct block, self) == WIRE_SELF,
               "as the code has it");
_Static_assert(sizeof(struct block) <= WIRE_LOG - WIRE_RECORD, "the log is behind it");

/* What the process was told (start.c). */
struct trace_options {
    char directory[3840]; /* ends with / */
    uint32_t checks0, burst0;
    uint64_t most; /* bytes of each thread's file */
    uint64_t heap; /* of what the process's file tells of the heap; 0: that is not logged */
};
extern struct trace_options trace_options;

/* writer.c: makes the thread's file, which names that of the process; false: it has none, and records nothing. */
bool writer_open(struct writer *writer, uint32_t pid, uint32_t tid, uint32_t process);
/* whole: the file is cut to what is used. */
void writer_close(struct writer *writer, bool whole);
bool writer_works(const struct writer *writer);
void writer_burst(struct writer *writer, uint64_t checks, uint32_t context);
/* Within a burst: it is in another call path. */
void writer_context(struct writer *writer, uint32_t context);
/* So many bytes of the process's file tell of the heap until now. */
void writer_heap(struct writer *writer, uint64_t position);
/* Appends what the log has; `logged`: bytes since it was empty. */
void writer_take(struct writer *writer, const uint8_t *log, uint32_t logged);
void writer_end(struct writer *writer);

/* change.S: what duplicated code calls; saves all registers and calls burst_change(). */
void burst_enter(void);
/* burst.c: a burst begins, goes on, or ends. `sp`: of who calls. Returns whether the checking version is to go on. */
bool burst_change(struct block *block, uint64_t sp);

/* The heap is another one than it was: what the calling thread has logged refers to the old one. */
void block_heap_changed(void);

/* Gives the calling thread a block of its own. Without memory it shares one by which no burst begins. */
struct block *block_enter(void);
/* The calling thread records no more, and its file is whole. */
void block_leave(void);
/* In the child of fork(): its file is not its parent's. */
void block_forked(void);

#endif
