/*
 * source_counts.h - how often lines of functions ran, in the form in which compilers look them up: by linkage name, offset from the
 * function's line, and discriminator; inlined or called functions are below the place of the call. Private to report/.
 */
#ifndef FATHOM_REPORT_EXPORT_SOURCE_COUNTS_H
#define FATHOM_REPORT_EXPORT_SOURCE_COUNTS_H

#include "base/hash.h"
#include "image/lines/lines.h"
#include "report/export/run_counts.h"
#include "report/text/printer.h"

#define SOURCE_FUNCTION_NONE UINT32_MAX
#define SOURCE_DEPTH_MOST    64u /* functions inlined into one another */

/* The compiler that wrote the debug information and reads the profile. */
enum source_compiler {
    SOURCE_LLVM, /* its discriminators also encode other numbers (DILocation::getBaseDiscriminator()) */
    SOURCE_GCC,
};

/* A place in a function. */
struct source_place {
    uint32_t offset, discriminator; /* offset: in lines */
};

struct source_function {
    uint32_t name;          /* in `names`: linkage name */
    uint32_t parent;        /* function it is inlined into or called from; SOURCE_FUNCTION_NONE: none */
    struct source_place at; /* in the parent */
    uint64_t total;         /* sum of its lines and of its children */
    uint64_t head;          /* how often it was entered; 0: unknown */
};

struct source_line {
    uint32_t function;
    struct source_place at;
    uint64_t count; /* the highest count of its instructions, summed over all additions */
    uint64_t most;  /* highest count in the current addition */
    uint32_t added; /* number of that addition */
};

/* A target of an indirect call. */
struct source_target {
    uint32_t function;
    struct source_place at;
    uint32_t name; /* linkage name */
    uint64_t count;
};

struct source_counts {
    enum source_compiler compiler;
    const struct log *log; /* borrowed; reports what is left out */
    uint64_t unreadable;   /* instructions and calls of functions whose names readers cannot parse */
    struct names *names;
    struct source_function *functions; /* children after their parents */
    size_t function_count, function_capacity;
    struct source_line *lines; /* sorted: by function and place */
    size_t line_count, line_capacity;
    struct source_target *targets; /* sorted: by function and place, then by falling count */
    size_t target_count, target_capacity;
    uint32_t *order; /* all functions by parent (those without one last), by place, then heaviest first */
    struct table *function_of, *line_of;
    uint32_t added; /* number of additions */
};

/* Clear it even on failure. */
int source_counts_begin(struct source_counts *counts, enum source_compiler compiler, const struct log *log,
                        struct fathom_error *err);
void source_counts_clear(struct source_counts *counts);
/* The function at a place of its parent, created when first used. SOURCE_FUNCTION_NONE: out of memory. */
uint32_t source_counts_function(struct source_counts *counts, uint32_t parent, struct source_place at,
                                const char *name);
/* The place of a frame's instruction. */
struct source_place source_place_of(const struct source_counts *counts, const struct line_frame *frame);
/* Finds the innermost function of frames, the outermost of which is at a place of the parent. 0: *out is set; 1: it has no debug information
 * that a compiler could look up; -ENOMEM. */
int source_counts_frames(struct source_counts *counts, uint32_t parent, struct source_place at,
                         const struct line_frame *frames, size_t count, uint32_t *out);
/* Adds all instructions of a function, times `scale`; its outermost function is at a place of the parent. 0 or -ENOMEM. */
int source_counts_add(struct source_counts *counts, uint32_t parent, struct source_place at,
                      struct lines *lines, const struct run_counts *runs,
                      const struct counted_function *counted, double scale);
/* Sums up and sorts. -ENOENT with a message if there is nothing, or -ENOMEM. */
int source_counts_end(struct source_counts *counts, struct fathom_error *err);
/* The number of a function's children, or of functions without a parent (SOURCE_FUNCTION_NONE); *first: their first index in `order`. The
 * next ones do the same for its lines, and for a line's targets. */
size_t source_counts_children(const struct source_counts *counts, uint32_t function, size_t *first);
size_t source_counts_lines(const struct source_counts *counts, uint32_t function, size_t *first);
size_t source_counts_targets(const struct source_counts *counts, const struct source_line *line,
                             size_t *first);

/* Finds the counts of all sampled functions of a report, with inlined ones. */
int source_counts_find(const struct report *report, enum source_compiler compiler, struct source_counts *out,
                       struct fathom_error *err);

/* Writes a line of a function for LLVM, with the targets of its indirect calls: "12.1: 400 f:300 g:100". */
void autofdo_line(struct printer *printer, const struct source_counts *counts, const struct source_line *line,
                  int depth);

#endif
