/*
 * callers.c - the bottom-up view: for each function with weight of its own, the callers that it has it from.
 *
 * The contexts that end in the function are walked outwards all together: a set of places in the tree, each
 * with the weight that came from there, is replaced by the set of their parents and split by function. Places
 * that meet are added up, and a set that weighs too little is not followed, so the work stays near what is
 * shown.
 */
#include <stdlib.h>

#include "report/functions.h"
#include "report/views.h"

enum {
    /* Callers further out are not shown: with recursion, sets of many places may go outwards through all of
     * 100,000 levels without ever meeting. */
    CALLER_LEVELS = 256,
    /* A caller with this much of the function's weight is shown however little that is of everything. */
    CALLER_PERCENT = 10,
};

struct place {
    uint64_t weight;
    uint32_t branch, item;
};

/* A set of places: one row, and what remains to be walked from it. */
struct group {
    uint32_t first, count; /* of the places */
    uint32_t row;          /* in `rows` */
    uint32_t level;
};

struct callers {
    const struct drawing *drawing;
    struct place *places; /* all contexts with weight of their own, by item */
    struct group *groups; /* yet to be walked */
    uint32_t group_count, group_room;
    struct branches rows; /* of the function in hand */
    uint64_t function_weight;
    bool cut; /* CALLER_LEVELS was reached */
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->item != y->item)
        return x->item < y->item ? -1 : 1;
    return (x->branch > y->branch) - (x->branch < y->branch);
}

static bool push_group(struct callers *c, struct group group)
{
    if (c->group_count == c->group_room) {
        uint32_t room = c->group_room ? c->group_room * 2 : 64;
        struct group *groups = realloc(c->groups, room * sizeof *groups);
        if (!groups)
            return false;
        c->groups = groups;
        c->group_room = room;
    }
    c->groups[c->group_count++] = group;
    return true;
}

/* Replaces places by their parents, those that meet as one, without the ones at the root. Returns how many
 * there are then, sorted by item. */
static uint32_t step_outwards(const struct callers *c, struct place *places, uint32_t count)
{
    const struct branch *at = c->drawing->branches->at;
    uint32_t kept = 0, merged = 0;
    bool sorted = true;
    for (uint32_t i = 0; i < count; i++) {
        struct place place = {.weight = places[i].weight, .branch = at[places[i].branch].parent};
        if (place.branch == 0)
            continue;
        place.item = at[place.branch].item;
        sorted = sorted && (kept == 0 || compare_places(&places[kept - 1], &place) <= 0);
        places[kept++] = place;
    }
    if (!sorted)
        qsort(places, kept, sizeof *places, compare_places);
    for (uint32_t i = 0; i < kept; i++) {
        if (merged > 0 && places[merged - 1].branch == places[i].branch)
            places[merged - 1].weight = add_saturating(places[merged - 1].weight, places[i].weight);
        else
            places[merged++] = places[i];
    }
    return merged;
}

/* A row for each function among the group's callers that weighs enough, each with its own group. */
static bool walk_group(struct callers *c, struct group group)
{
    uint32_t end = group.first + step_outwards(c, c->places + group.first, group.count);
    for (uint32_t first = group.first, next; first < end; first = next) {
        uint32_t item = c->places[first].item;
        uint64_t weight = 0;
        for (next = first; next < end && c->places[next].item == item; next++)
            weight = add_saturating(weight, c->places[next].weight);
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
        /* branches_arrange() adds a row's callers to its total: leave in it what they do not account for. */
        c->rows.at[group.row].self -= weight;
        if (!push_group(c, (struct group){first, next - first, row, group.level + 1}))
            return false;
    }
    return true;
}

struct columns {
    int self, weight; /* width */
    uint64_t function_weight;
};

static void write_columns(const struct drawing *drawing, const struct branch_row *row, const void *context)
{
    const struct columns *columns = context;
    char self[SHARE_BOUND_SIZE], share[SHARE_SIZE];
    printer_write(drawing->printer, "%*s  %7s  %*llu  ", columns->self,
                  share_bound_format(self, row->total, row->error, drawing->whole),
                  share_format(share, row->total, columns->function_weight), columns->weight,
                  (unsigned long long)row->total);
}

/* The rows of one function, from its places first .. first + count - 1. */
static int write_function(struct callers *c, const struct function_weight *f, uint32_t first, uint32_t count,
                          struct columns columns, struct fathom_error *err)
{
    int rc = branches_init(&c->rows, 64, err);
    if (rc)
        return rc;
    c->function_weight = columns.function_weight = f->self;
    uint32_t row = branches_add(&c->rows, 0, f->item, f->self, f->error);
    bool ok = push_group(c, (struct group){first, count, row, 0});
    while (ok && c->group_count > 0)
        ok = walk_group(c, c->groups[--c->group_count]);
    rc = ok ? branches_arrange(&c->rows, branch_compare_weight, c->drawing->frames, err) : error_memory(err);
    if (rc == 0) {
        for (uint32_t i = 1; i < c->rows.count; i++)
            c->rows.at[i].shown = true;
        branches_draw(c->drawing, &c->rows, write_columns, &columns, true);
    }
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
            c->places[start[b->at[i].item + 1]++] = (struct place){b->at[i].self, i, b->at[i].item};
    }
    *starts = start;
    return true;
}

static int write_functions(struct callers *c, const struct functions *functions, struct fathom_error *err)
{
    const struct drawing *drawing = c->drawing;
    const struct view_options *options = drawing->options;
    struct printer *printer = drawing->printer;
    uint32_t *starts, shown = 0, hidden = 0;
    uint64_t hidden_weight = 0;
    if (!find_places(c, &starts))
        return error_memory(err);

    struct columns columns = {7, weight_width(functions->count ? functions->at[0].self : 0, drawing->unit),
                              0};
    for (uint32_t i = 0; i < functions->count; i++)
        columns.self = functions->at[i].error > 0 ? SHARE_BOUND_WIDTH : columns.self;
    printer_write(printer, "%*s  %7s  %*s  %s\n", columns.self, "self", "share", columns.weight,
                  drawing->unit, "function, its callers below it");
    int rc = 0;
    for (uint32_t i = 0; i < functions->count && rc == 0 && !printer->failed; i++) {
        const struct function_weight *f = &functions->at[i];
        if (f->self == 0)
            break;
        if (!weighs_enough(drawing, f->self) || (options->max_rows > 0 && shown == options->max_rows)) {
            hidden++;
            hidden_weight = add_saturating(hidden_weight, f->self);
            continue;
        }
        if (shown++ > 0)
            printer_write(printer, "\n");
        rc = write_function(c, f, starts[f->item], starts[f->item + 1] - starts[f->item], columns, err);
    }
    if (c->cut)
        printer_write(printer, "... callers more than %d levels out are not shown\n", CALLER_LEVELS);
    left_out_write(drawing, hidden, "function", "functions", hidden_weight);
    free(starts);
    return rc;
}

int callers_write(const struct drawing *drawing, struct fathom_error *err)
{
    struct callers c = {.drawing = drawing};
    struct functions functions;
    int rc = functions_of(drawing->branches, drawing->frames, &functions, err);
    if (rc)
        return rc;
    rc = write_functions(&c, &functions, err);
    functions_clear(&functions);
    free(c.places);
    free(c.groups);
    return rc;
}
