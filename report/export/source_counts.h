/*
 * source_counts.h - how often lines of functions ran, as compilers look for them: by linkage name, by the distance from the function's own line, and by
 * discriminator, with functions below the place that they were inlined at, or called at. Private to report/.
 */
#ifndef FATHOM_REPORT_EXPORT_SOURCE_COUNTS_H
#define FATHOM_REPORT_EXPORT_SOURCE_COUNTS_H

#include "base/hash.h"
#include "image/lines/lines.h"
#include "report/export/run_counts.h"

#define SOURCE_FUNCTION_NONE UINT32_MAX
#define SOURCE_DEPTH_MOST    64u /* functions inlined into one another */

/* Who reads them, and wrote the debug information. */
enum source_compiler {
    SOURCE_LLVM, /* whose discriminators have other numbers in them, too (DILocation::getBaseDiscriminator()) */
    SOURCE_GCC,
};

/* A place in a function. */
struct source_place {
    uint32_t offset, discriminator; /* offset: of lines */
};

struct source_function {
    uint32_t name;          /* in `names`: as linkers know it */
    uint32_t parent;        /* that it is inlined into, or called from; SOURCE_FUNCTION_NONE: none */
    struct source_place at; /* of that */
    uint64_t total;         /* of its lines, and of its children */
    uint64_t head;          /* how often it was entered; 0: that is not known */
};

struct source_line {
    uint32_t function;
    struct source_place at;
    uint64_t count; /* the most of its instructions, summed up over what was added */
    uint64_t most;  /* of what is added now */
    uint32_t added; /* what that is */
};

/* A function that an indirect call led to. */
struct source_target {
    uint32_t function;
    struct source_place at;
    uint32_t name; /* as linkers know it */
    uint64_t count;
};

struct source_counts {
    enum source_compiler compiler;
    const struct log *log; /* borrowed; for what is left out */
    uint64_t unreadable;   /* instructions and calls of functions whose names readers would not find again */
    struct names *names;
    struct source_function *functions; /* children after their parents */
    size_t function_count, function_capacity;
    struct source_line *lines; /* sorted: by function and place */
    size_t line_count, line_capacity;
    struct source_target *targets; /* sorted: by function and place, then the most first */
    size_t target_count, target_capacity;
    uint32_t *order; /* all functions by parent, those without one last; by place; then the heaviest first */
    struct table *function_of, *line_of;
    uint32_t added; /* times that something was added */
};

/* Clear it even on failure. */
int source_counts_begin(struct source_counts *counts, enum source_compiler compiler, const struct log *log,
                        struct fathom_error *err);
void source_counts_clear(struct source_counts *counts);
/* The function at a place of its parent, made at the first time. SOURCE_FUNCTION_NONE: out of memory. */
uint32_t source_counts_function(struct source_counts *counts, uint32_t parent, struct source_place at,
                                const char *name);
/* Where a frame's instruction is. */
struct source_place source_place_of(const struct source_counts *counts, const struct line_frame *frame);
/* The innermost function of frames, the outermost of which is at a place of the parent. 0: *out is set; 1: it has no debug information that a
 * compiler would look for; -ENOMEM. */
int source_counts_frames(struct source_counts *counts, uint32_t parent, struct source_place at,
                         const struct line_frame *frames, size_t count, uint32_t *out);
/* All instructions of a function, times `scale`, whose outermost function is at a place of the parent. 0 or -ENOMEM. */
int source_counts_add(struct source_counts *counts, uint32_t parent, struct source_place at,
                      struct lines *lines, const struct run_counts *runs,
                      const struct counted_function *counted, double scale);
/* Sums up and sorts. -ENOENT with a message if there is nothing, or -ENOMEM. */
int source_counts_end(struct source_counts *counts, struct fathom_error *err);
/* How many children a function has, SOURCE_FUNCTION_NONE: functions without a parent; *first: where they begin in `order`. Likewise its lines, and a line's targets. */
size_t source_counts_children(const struct source_counts *counts, uint32_t function, size_t *first);
size_t source_counts_lines(const struct source_counts *counts, uint32_t function, size_t *first);
size_t source_counts_targets(const struct source_counts *counts, const struct source_line *line,
                             size_t *first);

/* Of all sampled functions of a report, with what was inlined. */
int source_counts_find(const struct report *report, enum source_compiler compiler, struct source_counts *out,
                       struct fathom_error *err);

#endif
