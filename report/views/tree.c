/*
 * tree.c - the top-down view: from the roots to where the weight is.
 *
 * Shows the subtrees that weigh enough, or (max_rows) only the paths to the contexts with the most self
 * weight.
 */
#include "report/views/views.h"

#include <stdlib.h>

#include "base/sort.h"

static int compare_self(const void *a, const void *b, void *branches)
{
    const struct branch *at = branches;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    return order_of(at[j].self, at[i].self) ?: order_of(i, j);
}

/* Hides all but the paths to the `wanted` shown contexts with the most self weight. */
static int keep_heaviest(struct branches *b, uint32_t wanted, struct fathom_error *err)
{
    uint32_t *index = malloc((size_t)b->count * sizeof *index), count = 0;
    if (!index)
        return error_memory(err);
    for (uint32_t i = 1; i < b->count; i++) {
        if (b->at[i].shown && b->at[i].self > 0)
            index[count++] = i;
        b->at[i].shown = false;
    }
    qsort_r(index, count, sizeof *index, compare_self, b->at);
    for (uint32_t n = 0; n < count && n < wanted; n++) {
        for (uint32_t i = index[n]; i != 0 && !b->at[i].shown; i = b->at[i].parent)
            b->at[i].shown = true;
    }
    free(index);
    return 0;
}

#define CALLS_WIDTH 7 /* columns */

struct columns {
    int self, weight; /* width */
    bool sure, calls;
};

static void write_columns(const struct drawing *drawing, const struct branch_row *row, const void *context)
{
    const struct columns *columns = context;
    char total[SHARE_SIZE], self[SHARE_BOUND_SIZE] = "", weight[WEIGHT_SIZE];
    if (row->self > 0)
        share_bound_format(self, row->self, row->error, drawing->whole);
    printer_write(drawing->printer, "%7s  %*s  %*s  ", share_format(total, row->total, drawing->whole),
                  columns->self, self, columns->weight, weight_format(weight, row->total, drawing->unit));
    if (columns->calls && row->calls)
        printer_write(drawing->printer, "%*llu  %*s  ", CALLS_WIDTH, (unsigned long long)row->calls,
                      columns->weight, weight_format(weight, row->self / row->calls, drawing->unit));
    else if (columns->calls)
        printer_write(drawing->printer, "%*s", CALLS_WIDTH + 2 + columns->weight + 2, "");
    if (columns->sure)
        sure_write(drawing, row->sure);
}

int tree_write(const struct drawing *drawing, struct fathom_error *err)
{
    struct branches *b = drawing->branches;
    for (uint32_t i = 1; i < b->count; i++)
        b->at[i].shown = weighs_enough(drawing, b->at[i].total);
    if (drawing->options->max_rows > 0) {
        int rc = keep_heaviest(b, drawing->options->max_rows, err);
        if (rc)
            return rc;
    }

    uint64_t hidden = 0, hidden_weight = 0;
    struct columns columns = {.self = 6, .weight = weight_width(drawing->whole, drawing->unit)};
    for (uint32_t i = 1; i < b->count; i++) {
        if (!b->at[i].shown && b->at[i].self > 0) {
            hidden++;
            hidden_weight = add_saturating(hidden_weight, b->at[i].self);
        }
        columns.calls |= b->at[i].calls > 0;
        if (b->at[i].shown && b->at[i].error > 0)
            columns.self = SHARE_BOUND_WIDTH;
    }
    columns.sure = drawing->options->confidence || branches_want_sure(drawing, b);
    printer_write(drawing->printer, "%7s  %*s  %*s  ", "total", columns.self, "self", columns.weight,
                  weight_title(drawing->unit));
    if (columns.calls)
        printer_write(drawing->printer, "%*s  %*s  ", CALLS_WIDTH, "calls", columns.weight, "mean");
    if (columns.sure)
        sure_heading_write(drawing);
    printer_write(drawing->printer, "context\n");
    branches_draw(drawing, b, &(struct row_style){write_columns, &columns, false});
    left_out_write(drawing, hidden, "context", "contexts", hidden_weight, LEFT_OUT_SELF);
    return 0;
}
