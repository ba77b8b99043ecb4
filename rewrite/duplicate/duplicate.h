/*
 * duplicate.h - makes a file whose functions have two versions, a checking and an instrumented one, as bursty
 * tracing needs them (Hirzel and Chilimbi, Bursty Tracing, FDDO-4 2001). In the checking version, two
 * instructions at entries and loops count down to the next burst; the instrumented one logs the addresses that
 * its instructions refer to. Both have the frames of the original, so a call may return, and an exception may
 * land, in either. The counters are described in wire.h.
 *
 * The new file also runs without a runtime: the code executed first gives its process a block of memory (start.S)
 * that never starts a burst.
 */
#ifndef FATHOM_REWRITE_DUPLICATE_DUPLICATE_H
#define FATHOM_REWRITE_DUPLICATE_DUPLICATE_H

#include "image/calls/calls.h"
#include "rewrite/move/move.h"

enum duplicate_entries { /* which functions check at their entry */
                         DUPLICATE_ENTRIES_ALL,
                         DUPLICATE_ENTRIES_CALLERS, /* those that call something (EL in the paper's figure 6) */
                         DUPLICATE_ENTRIES_CYCLES, /* equation 3 (EC) */
                         DUPLICATE_ENTRIES_NONE, /* for measurements: recursion may run unchecked for ever (EN) */
};

#define DUPLICATE_LOOPS_ALL  (-1)      /* each loop checks */
#define DUPLICATE_LOOPS_NONE INT32_MAX /* for measurements (LN) */

struct duplicate_options {
    enum duplicate_entries entries;
    /* Loops without calls and with at most so many logged instructions are boring: they do not check and log
     * nothing (section 4.2). */
    int32_t boring;
    bool loads, stores; /* logged */
    bool stack;         /* also references relative to the stack or frame pointer */
    bool blocks;        /* each basic block is logged */
    bool entered;       /* each function's entry */
    const bool *chosen; /* by function of the image; NULL: all. Borrowed */
};

struct duplicate_site { /* an instruction that logs; by pc, then in the order in which they log */
    uint64_t pc;        /* its address in the instrumented version, in the new file */
    uint64_t address;   /* in the original file */
    uint16_t size;      /* bytes that it refers to; 0: unknown */
    uint8_t load, store;
    uint8_t form; /* enum access_form */
};

struct duplicate_part { /* a version of a function */
    uint64_t start;     /* in the new file */
    uint64_t address;   /* of the function's entry in the original file */
};

struct duplicated {
    struct move_result moved;     /* the new file */
    struct duplicate_part *parts; /* by start: code belongs to the last part that starts before it */
    size_t part_count;
    struct duplicate_site *sites;
    size_t site_count;
    uint32_t functions;              /* functions with two versions */
    uint32_t refused[MOVE_REFUSALS]; /* other chosen functions, by enum move_refusal */
    uint32_t early; /* others that the loader calls before any other code, and their callees */
    uint32_t entry_checks, loop_checks;
    uint32_t boring;      /* loops */
    uint32_t unchecked;   /* loops without a check, as they have no place where the flags are free */
    uint32_t slow;        /* sites that must save two registers */
    uint32_t unlogged[5]; /* references that are not logged, by enum access_form; PLAIN: too many */
};

/* -ENOTSUP: the file cannot be rewritten, or is part of the C library. -EBADMSG: the new file, read again, does
 * not behave as the old one. The caller clears the result. */
int duplicate_image(const struct image *image, const struct calls *calls,
                    const struct duplicate_options *options, struct duplicated *out,
                    struct fathom_error *err);
void duplicated_clear(struct duplicated *duplicated); /* a zeroed one is allowed */

#endif
