/*
 * duplicate.h - makes a file whose functions have two versions, a checking and an instrumented one, as bursty tracing needs
 * them (Hirzel and Chilimbi, Bursty Tracing, FDDO-4 2001): in the checking one, two instructions at entries and loops count down
 * to the next burst; the instrumented one logs what its instructions refer to. Both have the frames of the old one, so that it
 * does not matter which of them a call returns to, or an exception lands in. See wire.h for what they count in.
 *
 * Without a runtime the new file runs by itself: what is executed first gives its process a block of memory (start.S) by which
 * no burst begins.
 */
#ifndef FATHOM_REWRITE_DUPLICATE_DUPLICATE_H
#define FATHOM_REWRITE_DUPLICATE_DUPLICATE_H

#include "image/calls/calls.h"
#include "rewrite/move/move.h"

enum duplicate_entries { /* which functions have a check at their entry */
                         DUPLICATE_ENTRIES_ALL,
                         DUPLICATE_ENTRIES_CALLERS, /* not those that call nothing (EL in the paper's figure 6) */
                         DUPLICATE_ENTRIES_CYCLES, /* equation 3 (EC) */
                         DUPLICATE_ENTRIES_NONE, /* for measurements: recursion may go on without bound (EN) */
};

#define DUPLICATE_LOOPS_ALL  (-1)      /* each loop has a check */
#define DUPLICATE_LOOPS_NONE INT32_MAX /* for measurements (LN) */

struct duplicate_options {
    enum duplicate_entries entries;
    /* Loops without calls and with at most so many logged instructions are boring: they have no check and log nothing (section 4.2). */
    int32_t boring;
    bool loads, stores; /* logged */
    bool stack;         /* also those relative to the stack pointer, or to the frame pointer */
    bool blocks;        /* each basic block is logged as such */
    bool entered;       /* each function's entry */
    const bool *chosen; /* by function of the image; NULL: all. Borrowed */
};

struct duplicate_site { /* what logs; by pc, those of one instruction in the order in which they log */
    uint64_t pc;        /* of the instruction in the instrumented version: an address of the new file */
    uint64_t address;   /* in the file as it was */
    uint16_t size;      /* bytes that it refers to; 0: not told */
    uint8_t load, store;
    uint8_t form; /* enum access_form */
};

struct duplicate_part { /* of a version of a function */
    uint64_t start;     /* in the new file */
    uint64_t address;   /* of the function's entry in the file as it was */
};

struct duplicated {
    struct move_result moved;     /* the new file */
    struct duplicate_part *parts; /* by start: code belongs to the last one before it */
    size_t part_count;
    struct duplicate_site *sites;
    size_t site_count;
    uint32_t functions;              /* that have two versions */
    uint32_t refused[MOVE_REFUSALS]; /* others that were chosen, by enum move_refusal */
    uint32_t early; /* others that the loader calls before any other code, or that those call */
    uint32_t entry_checks, loop_checks;
    uint32_t boring;      /* loops */
    uint32_t unchecked;   /* loops that should have a check, but have no place where the flags are free */
    uint32_t slow;        /* of the sites: two registers must be saved */
    uint32_t unlogged[5]; /* references that are not logged, by enum access_form; PLAIN: no room */
};

/* -ENOTSUP: the file cannot be rewritten, or is part of the C library. -EBADMSG: the new file, read again, does not do what the old
 * one does. The caller clears the result. */
int duplicate_image(const struct image *image, const struct calls *calls,
                    const struct duplicate_options *options, struct duplicated *out,
                    struct fathom_error *err);
void duplicated_clear(struct duplicated *duplicated); /* zeros are allowed */

#endif
