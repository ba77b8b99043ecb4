/*
 * callers.c - the bottom-up view: for each function with self weight, the callers responsible for it.
 *
 * All contexts that end in the function are walked outwards together: a set of tree nodes, each with the
 * weight that came from it, is replaced by the set of their parents and split by function. Equal parents
 * are merged, and sets that weigh too little are not followed, so the work is proportional to the output.
 */
#include <stdlib.h>

#include "base/sort.h"
#include "base/vec.h"
#include "report/views/functions.h"
#include "report/views/views.h"

enum {
    /* Callers further out are not shown: with recursion, large sets of nodes may walk outwards through
       100,000 levels without ever being merged. */
    CALLER_LEVELS = 256,
    /* A caller with this share of the function's weight is shown, however small its share of the total is. */
    CALLER_PERCENT = 10,
};

struct place {
    uint64_t weight;
    double doubt; /* of the contexts that the weight comes from; no caller has more doubt than these */
    uint32_t branch, item;
};

/* A set of nodes that makes up one row and is still to be walked outwards. */
struct group {
    uint32_t first, count; /* of the places */
    uint32_t row;          /* in `rows` */
    uint32_t level;
};

/* The rows of one function. */
struct block {
    struct branches rows; /* arranged */
    uint64_t weight;      /* the function's self weight */
};

struct callers {
    const struct drawing *drawing;
    struct place *places; /* all contexts with self weight, by item */
    struct group *groups; /* still to be walked */
    uint32_t group_count, group_capacity;
    struct branches rows; /* of the current function */
    uint64_t function_weight;
    struct block *blocks;
    uint32_t block_count, block_capacity;
    bool cut; /* CALLER_LEVELS was reached */
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return order_of(x->item, y->item) ?: order_of(x->branch, y->branch);
}

static bool push_group(struct callers *c, struct group group)
{
    return vec_push(c->groups, c->group_count, c->group_capacity, group);
}

/* Replaces nodes by their parents, merging equal ones and dropping the root. Returns the new count; sorted by
 * item. */
static uint32_t step_outwards(const struct callers *c, struct place *places, uint32_t count)
{
    const struct branch *at = c->drawing->branches->at;
    uint32_t kept = 0, merged = 0;
    bool sorted = true;
    for (uint32_t i = 0; i < count; i++) {
        struct place place = places[i];
        place.branch = at[place.branch].parent;
        if (place.branch == 0)
            continue;
        place.item = at[place.branch].item;
        sorted = sorted && (kept == 0 || compare_places(&places[kept - 1], &place) <= 0);
        places[kept++] = place;
    }
    if (!sorted)
        qsort(places, kept, sizeof *places, compare_places);
    for (uint32_t i = 0; i < kept; i++) {
        if (merged > 0 && places[merged - 1].branch == places[i].branch) {
            places[merged - 1].weight = add_saturating(places[merged - 1].weight, places[i].weight);
            places[merged - 1].doubt += places[i].doubt;
        } else {
            places[merged++] = places[i];
        }
    }
    return merged;
}

/* Adds a row and a group for each function among the group's callers that weighs enough. */
static bool walk_group(struct callers *c, struct group group)
{
    uint32_t end = group.first + step_outwards(c, c->places + group.first, group.count);
    for (uint32_t first = group.first, next; first < end; first = next) {
        uint32_t item = c->places[first].item;
        uint64_t weight = 0;
        double doubt = 0;
        for (next = first; next < end && c->places[next].item == item; next++) {
            weight = add_saturating(weight, c->places[next].weight);
            doubt += c->places[next].doubt;
        }
        bool large_share = (double)weight * 100.0 >= CALLER_PERCENT * (double)c->function_weight;
        if (!large_share && !weighs_enough(c->drawing, weight))
            continue;
        if (group.level == CALLER_LEVELS) {
            c->cut = true;
            return true;
        }
        uint32_t row = branches_add(&c->rows, group.row, item, weight, 0);
        if (row == BRANCHES_NONE)
            return false;
        /* branches_arrange() adds a row's callers to its total: leave only the rest. */
        c->rows.at[group.row].self -= weight;
        c->rows.at[group.row].doubt -= doubt;
        c->rows.at[row].doubt = doubt;
        if (!push_group(c, (struct group){first, next - first, row, group.level + 1}))
            return false;
    }
    return true;
}

struct columns {
    int self, weight; /* width */
    bool sure;
    uint64_t function_weight;
};

static void write_columns(const struct drawing *drawing, const struct branch_row *row, const void *context)
{
    const struct columns *columns = context;
    char self[SHARE_BOUND_SIZE], share[SHARE_SIZE], weight[WEIGHT_SIZE];
    printer_write(drawing->printer, "%*s  %7s  %*s  ", columns->self,
                  share_bound_format(self, row->total, row->error, drawing->whole),
                  share_format(share, row->total, columns->function_weight), columns->weight,
                  weight_format(weight, row->total, drawing->unit));
    if (columns->sure)
        sure_write(drawing, row->sure);
}

static int push_block(struct callers *c, struct block block, struct fathom_error *err)
{
    return vec_push(c->blocks, c->block_count, c->block_capacity, block) ? 0 : error_memory(err);
}

/* Adds the rows of one function, from its places first .. first + count - 1. */
static int find_block(struct callers *c, const struct function_weight *f, uint32_t first, uint32_t count,
                      struct fathom_error *err)
{
    int rc = branches_init(&c->rows, 64, err);
    if (rc)
        return rc;
    c->function_weight = f->self;
    uint32_t row = branches_add(&c->rows, 0, f->item, f->self, f->error);
    bool ok = push_group(c, (struct group){first, count, row, 0});
    while (ok && c->group_count > 0)
        ok = walk_group(c, c->groups[--c->group_count]);
    rc = ok ? branches_arrange(&c->rows, branch_compare_weight, c->drawing->frames, err) : error_memory(err);
    if (rc == 0)
        rc = push_block(c, (struct block){c->rows, f->self}, err);
    if (rc < 0)
        branches_clear(&c->rows);
    c->group_count = 0;
    return rc;
}

/* Finds all contexts with weight, sorted by item; starts[item] .. starts[item + 1] are the item's. */
static bool find_places(struct callers *c, uint32_t **starts)
{
    const struct branches *b = c->drawing->branches;
    size_t items = frames_count(c->drawing->frames);
    uint32_t *start = calloc(items + 2, sizeof *start);
    c->places = malloc(b->count * sizeof *c->places);
    if (!start || !c->places) {
        free(start);
        return false;
    }
    for (uint32_t i = 1; i < b->count; i++)
        start[b->at[i].item + 2] += b->at[i].self > 0;
    for (size_t item = 2; item < items + 2; item++)
        start[item] += start[item - 1];
    for (uint32_t i = 1; i < b->count; i++) {
        if (b->at[i].self > 0)
            c->places[start[b->at[i].item + 1]++] =
                (struct place){b->at[i].self, b->at[i].end_doubt, i, b->at[i].item};
    }
    *starts = start;
    return true;
}

/* Finds the functions to show, and the weight of the hidden ones. */
static int find_blocks(struct callers *c, const struct functions *functions, uint32_t *hidden,
                       uint64_t *hidden_weight, struct fathom_error *err)
{
    const struct drawing *drawing = c->drawing;
    const unsigned max_rows = drawing->options->max_rows;
    uint32_t *starts;
    if (!find_places(c, &starts))
        return error_memory(err);
    int rc = 0;
    for (uint32_t i = 0; i < functions->count && functions->at[i].self > 0 && rc == 0; i++) {
        const struct function_weight *f = &functions->at[i];
        if (weighs_enough(drawing, f->self) && (max_rows == 0 || c->block_count < max_rows)) {
            rc = find_block(c, f, starts[f->item], starts[f->item + 1] - starts[f->item], err);
        } else {
            ++*hidden;
            *hidden_weight = add_saturating(*hidden_weight, f->self);
        }
    }
    free(starts);
    return rc;
}

static void write_blocks(struct callers *c, const struct functions *functions)
{
    const struct drawing *drawing = c->drawing;
    struct printer *printer = drawing->printer;
    uint64_t largest = functions->count ? functions->at[0].self : 0;
    struct columns columns = {
        .self = 7, .weight = weight_width(largest, drawing->unit), .sure = drawing->options->confidence};
    for (uint32_t i = 0; i < functions->count; i++)
        columns.self = functions->at[i].error > 0 ? SHARE_BOUND_WIDTH : columns.self;
    for (uint32_t i = 0; i < c->block_count; i++) {
        struct branches *rows = &c->blocks[i].rows;
        for (uint32_t r = 1; r < rows->count; r++)
            rows->at[r].shown = true;
        columns.sure = columns.sure || branches_want_sure(drawing, rows);
    }
    printer_write(printer, "%*s  %7s  %*s  ", columns.self, "self", "share", columns.weight,
                  weight_title(drawing->unit));
    if (columns.sure)
        sure_heading_write(drawing);
    printer_write(printer, "function, with its callers below\n");
    for (uint32_t i = 0; i < c->block_count && !printer->failed; i++) {
        columns.function_weight = c->blocks[i].weight;
        if (i > 0)
            printer_write(printer, "\n");
        branches_draw(drawing, &c->blocks[i].rows, &(struct row_style){write_columns, &columns, true});
    }
    if (c->cut)
        printer_write(printer, "... callers more than %d levels out are not shown\n", CALLER_LEVELS);
}

int callers_write(const struct drawing *drawing, struct fathom_error *err)
{
    struct callers c = {.drawing = drawing};
    struct functions functions;
    int rc = functions_of(drawing->branches, drawing->frames, &functions, err);
    if (rc)
        return rc;
    uint32_t hidden = 0;
    uint64_t hidden_weight = 0;
    rc = find_blocks(&c, &functions, &hidden, &hidden_weight, err);
    if (rc == 0) {
        write_blocks(&c, &functions);
        left_out_write(drawing, hidden, "function", "functions", hidden_weight, LEFT_OUT_SELF);
    }
    for (uint32_t i = 0; i < c.block_count; i++)
        branches_clear(&c.blocks[i].rows);
    free(c.blocks);
    functions_clear(&functions);
    free(c.places);
    free(c.groups);
    return rc;
}
