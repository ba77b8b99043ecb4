/* views.h - the individual views behind view_write(), one file each. Private to report/. */
#ifndef FATHOM_REPORT_VIEWS_VIEWS_H
#define FATHOM_REPORT_VIEWS_VIEWS_H

#include "report/text/printer.h"
#include "report/text/weight.h"
#include "report/views/branches.h"
#include "report/views/view.h"

/* What a view draws: the whole tree, arranged (heaviest first). */
struct drawing {
    const struct contexts *contexts; /* the same, with all metrics */
    struct branches *branches;
    const struct frames *frames;
    const struct view_options *options;
    const char *unit;
    uint64_t whole; /* weight of everything: the base of all percentages */
    struct printer *printer;
};

/*
 * Before branches_arrange(): merges into a branch the branches below it with the same item or INLINED_SEVERAL, and adds up those that
 * then have the same callers: a function that calls itself becomes one branch, whatever else its calls call. `times` becomes the maximum
 * number of direct recursions. No weight is lost. levels: merges functions into their level (profile/levels.h), and no levels.
 */
int branches_fold(struct branches *branches, const struct frames *frames, bool levels,
                  struct fathom_error *err);

/* From the roots inwards. Only forks are indented: each of a fork's branches starts with "+". */
int tree_write(const struct drawing *drawing, struct fathom_error *err);
/* For each function with self weight, its callers outwards, at most 256 levels. A caller under min_percent is left out
 * unless it has a tenth of the function's weight. */
int callers_write(const struct drawing *drawing, struct fathom_error *err);
/* Functions by self weight, with totals in which recursion counts once, and images. */
int flat_write(const struct drawing *drawing, struct fathom_error *err);

/* The memory that was accessed: by data, and by data and path. For contexts whose paths end in FRAME_DATA. */
int memory_write(const struct drawing *drawing, struct fathom_error *err);
int locks_write(const struct drawing *drawing, struct fathom_error *err);
/* Wakers, i.e. who ended waits, and the waits of each. For contexts whose paths continue after FRAME_WAKER. */
int wakers_write(const struct drawing *drawing, struct fathom_error *err);
/* Waits for locks in such contexts: the paths by which each lock was released to those that waited. Writes nothing if there are none. */
int releases_write(const struct drawing *drawing, struct fathom_error *err);

#define WEIGHT_COLUMNS 8 /* width of a weight, in tables with paths below their rows */
/* Columns left in the row for a name and the text after it, given the byte count at the start of the row; 0: unlimited. */
size_t room_left(const struct drawing *drawing, size_t row_began);
/* Whether a weight is not 0, and at least min_percent of the whole. */
bool weighs_enough(const struct drawing *drawing, uint64_t weight);
#define LEFT_OUT_SELF "self" /* callers of omitted functions may be shown, and include this weight */
#define LEFT_OUT_ALL  "of the weight"
/* "... 37 more contexts under 0.5%: 4.1% self"; nothing if count is 0. `many` is the plural. */
void left_out_write(const struct drawing *drawing, uint64_t count, const char *one, const char *many,
                    uint64_t weight, const char *whose);

/* One drawn row: a branch, or a chain of a function that only calls itself. */
struct branch_row {
    uint64_t total;           /* of the outermost */
    uint64_t self, error;     /* of all in the chain */
    uint64_t calls;           /* likewise (branches.h) */
    double sure;              /* the least certainty in the chain, 0 to 1; negative: not applicable */
    const struct branch *top; /* the outermost */
};
/* The certainty of a branch, as in branch_row. */
double branch_sure(const struct drawing *drawing, const struct branch *branch);
/* Whether the arranged branches can have the column, and the shown ones require it. */
bool branches_want_sure(const struct drawing *drawing, const struct branches *branches);
/* Write the column: the heading, and a row. */
void sure_heading_write(const struct drawing *drawing);
void sure_write(const struct drawing *drawing, double sure);

/* Writes the columns before the name. */
typedef void branch_row_write(const struct drawing *drawing, const struct branch_row *row,
                              const void *context);
struct row_style {
    branch_row_write *write_row;
    const void *context;
    bool by_total; /* colour rows by total, not by self weight */
};
/* Draws the arranged branches that are marked `shown`. A shown branch's parent must be shown too. */
void branches_draw(const struct drawing *drawing, struct branches *branches, const struct row_style *style);

#endif
