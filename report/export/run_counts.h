/*
 * run_counts.h - how often each sampled function of a report ran, by instruction: what compilers and linkers want to know (autofdo.c and its neighbours).
 * Private to report/.
 */
#ifndef FATHOM_REPORT_EXPORT_RUN_COUNTS_H
#define FATHOM_REPORT_EXPORT_RUN_COUNTS_H

#include "image/blocks.h"
#include "report/views/report.h"

struct counted_function {
    const struct image *image;
    uint32_t function;
    struct blocks blocks;
    uint32_t entry;         /* the function's first block */
    double *weight;         /* of each block's samples */
    double sampled;         /* of all of these */
    double *counts, *edges; /* block_counts.h */
    double calls;           /* how often other sampled functions call it */
    double entered;         /* the larger of `calls` and of what flows into its entry from outside */
    double known;           /* `calls` as it was when the blocks were counted */
    bool rough;             /* the work was used up before the best counts were found */
};

/* An indirect call that led to a function. */
struct indirect_call {
    uint32_t caller, insn; /* insn: in its blocks */
    uint32_t callee;
    double share; /* the part of the callee's weight, with all that it calls, that is below this call */
    double count;
};

struct run_counts {
    struct counted_function *functions; /* by image and function */
    size_t count, capacity;
    struct indirect_call *indirect; /* by caller and instruction */
    size_t indirect_count, indirect_capacity;
};

/* -EINVAL, -ENOENT with a message: the event counts neither time nor instructions; no function was sampled; -ENOMEM. Clear it even on failure. */
int run_counts_find(const struct report *report, struct run_counts *out, struct fathom_error *err);
void run_counts_clear(struct run_counts *counts);
/* The function that begins there; NULL: it was not sampled, or none does. */
struct counted_function *run_counts_at(const struct run_counts *counts, const struct image *image,
                                       uint64_t address);
/* The function that the address is in; likewise. */
struct counted_function *run_counts_in(const struct run_counts *counts, const struct image *image,
                                       uint64_t address);
/* The image with that name, of which a function was sampled; NULL: none. */
const struct image *run_counts_image(const struct run_counts *counts, const char *name);

#endif
