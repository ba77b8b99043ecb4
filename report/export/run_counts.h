/*
 * run_counts.h - how often each instruction of a report's sampled functions ran, for profiles for compilers and linkers (autofdo.c and
 * others). Private to report/.
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
    double sampled;         /* sum of `weight` */
    double *counts, *edges; /* block_counts.h */
    double calls;           /* how often other sampled functions call it */
    double entered;         /* the larger of `calls` and the flow into its entry from outside */
    double known;           /* value of `calls` when the blocks were counted */
    bool rough;             /* the work was used up before the best counts were found */
};

/* An indirect call with one of its targets. */
struct indirect_call {
    uint32_t caller, insn; /* insn: index in the caller's blocks */
    uint32_t callee;
    double share; /* of the callee's weight, including its callees, that is below this call */
    double count;
};

struct run_counts {
    struct counted_function *functions; /* by image and function */
    size_t count, capacity;
    struct indirect_call *indirect; /* by caller and instruction */
    size_t indirect_count, indirect_capacity;
};

/* Errors: -EINVAL: the event counts neither time nor instructions; -ENOENT: no function was sampled; -ENOMEM. Clear *out even
 * on failure. */
int run_counts_find(const struct report *report, struct run_counts *out, struct fathom_error *err);
void run_counts_clear(struct run_counts *counts);
/* The sampled function that begins at the address; NULL: none. */
struct counted_function *run_counts_at(const struct run_counts *counts, const struct image *image,
                                       uint64_t address);
/* The sampled function that contains the address; NULL: none. */
struct counted_function *run_counts_in(const struct run_counts *counts, const struct image *image,
                                       uint64_t address);
/* The image with this name that has a sampled function; NULL: none. */
const struct image *run_counts_image(const struct run_counts *counts, const char *name);

#endif
