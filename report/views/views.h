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

/* From the roots inwards. Only forks are indented: each of a fork's branches starts with "+". */
int tree_write(const struct drawing *drawing, struct fathom_error *err);
/* For each function with weight of its own, its callers outwards, at most 256 levels. A caller is left out
 * under min_percent unless it has a tenth of the function's weight. */
int callers_write(const struct drawing *drawing, struct fathom_error *err);
/* Functions by their own weight, with totals in which recursion counts once, and images. */
int flat_write(const struct drawing *drawing, struct fathom_error *err);

/* The memory that was accessed: by data, and by data and path. For contexts whose paths end in FRAME_DATA. */
int memory_write(const struct drawing *drawing, struct fathom_error *err);
int locks_write(const struct drawing *drawing, struct fathom_error *err);
/* Those who ended waits, and the waits of each. For contexts whose paths go on behind FRAME_WAKER. */
int wakers_write(const struct drawing *drawing, struct fathom_error *err);
/* Of such contexts the waits for locks: by which paths each was given to those that waited. Nothing, if there are none. */
int releases_write(const struct drawing *drawing, struct fathom_error *err);

#define WEIGHT_COLUMNS 8 /* of a weight, in tables whose rows have paths below them */
/* Columns left for a name and what follows it, given the byte count at the start of the row; 0: unlimited. */
size_t room_left(const struct drawing *drawing, size_t row_began);
/* Whether a weight is at least min_percent of all, and not nothing. */
bool weighs_enough(const struct drawing *drawing, uint64_t weight);
#define LEFT_OUT_SELF "self" /* the callers of what was left out may be shown, with this weight in theirs */
#define LEFT_OUT_ALL  "of the weight"
/* "... 37 more contexts under 0.5%: 4.1% self"; nothing if count is 0. `many` is the plural. */
void left_out_write(const struct drawing *drawing, uint64_t count, const char *one, const char *many,
                    uint64_t weight, const char *whose);

/* One drawn row: a branch, or a chain of a function that only calls itself. */
struct branch_row {
    uint64_t total;           /* of the outermost */
    uint64_t self, error;     /* of all in the chain */
    uint64_t calls;           /* likewise (branches.h) */
    double sure;              /* of the least sure in the chain: 0 to 1; negative: not applicable */
    const struct branch *top; /* the outermost */
};
/* How sure a branch is, as above. */
double branch_sure(const struct drawing *drawing, const struct branch *branch);
/* Whether the arranged branches can have the column and those shown call for it. */
bool branches_want_sure(const struct drawing *drawing, const struct branches *branches);
/* The column: its heading, and a row's. */
void sure_heading_write(const struct drawing *drawing);
void sure_write(const struct drawing *drawing, double sure);

/* Writes the columns before the name. */
typedef void branch_row_write(const struct drawing *drawing, const struct branch_row *row,
                              const void *context);
struct row_style {
    branch_row_write *write_row;
    const void *context;
    bool by_total; /* a row is coloured by its total, not by its self weight */
};
/* Draws those of the arranged branches that are marked `shown`: a shown branch's parent must be shown too. */
void branches_draw(const struct drawing *drawing, struct branches *branches, const struct row_style *style);

#endif
