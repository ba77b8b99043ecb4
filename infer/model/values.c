/* values.c - the values of a cell, over all of its paths; see lattice.h. */
#include "base/search.h"
#include "infer/model/cells.h"

/* A sum over paths, and the best of them. */
struct total {
    struct scaled_sum sum;
    struct scaled best;
};

static void total_add(struct total *t, const struct lattice_value *value, double probability)
{
    scaled_add(&t->sum, value->sum, probability);
    struct scaled best = scaled_times(value->best, probability);
    if (scaled_less(t->best, best))
        t->best = best;
}

static struct lattice_value total_value(const struct total *t)
{
    return (struct lattice_value){scaled_total(t->sum), t->best};
}

/* The value of l->outer if the pair makes some of the callers more probable. seen, rest: totals of the callers that training
 * saw and of the others. */
static struct lattice_value pair_value(const struct lattice *l, const struct callers_pair *pair,
                                       const struct total *seen, const struct total *rest)
{
    struct total total = *rest;
    const struct lattice_value all = total_value(seen);
    scaled_add(&total.sum, all.sum, pair->rest);
    struct scaled best = scaled_times(all.best, pair->rest);
    if (scaled_less(total.best, best))
        total.best = best;
    for (uint32_t i = pair->first; i < pair->first + pair->count; i++) {
        const struct callers_term *term = &l->callers->terms[i];
        if (l->outer_of[term->caller] < 0)
            continue;
        const struct outer_cell *outer = &l->outer[l->outer_of[term->caller]];
        scaled_add(&total.sum, outer->value->sum, term->probability);
        best = scaled_times(outer->value->best, pair->rest * outer->probability + term->probability);
        if (scaled_less(total.best, best))
            total.best = best;
    }
    return total_value(&total);
}

void lattice_fill_met(struct lattice *l, const struct layer *layer, uint32_t node,
                      struct lattice_value *values)
{
    const struct callers_node *n = &l->callers->of[node];
    uint32_t width = lattice_width(l, layer, node), seen_count = width > 1 ? n->seen : 0;
    struct total seen = {0}, rest = {0};
    for (uint32_t i = 0; i < seen_count; i++)
        l->outer_of[i] = -1;
    for (uint32_t i = 0; i < l->outer_count; i++) {
        const struct outer_cell *outer = &l->outer[i];
        bool is_seen = outer->caller < seen_count;
        total_add(is_seen ? &seen : &rest, outer->value, outer->probability);
        if (is_seen)
            l->outer_of[outer->caller] = (int32_t)i;
    }
    const struct callers_pair none = {0, 0, 1};
    values[0] = pair_value(l, &none, &seen, &rest);
    for (uint32_t k = 1; k < width; k++)
        values[k] = pair_value(l, &l->callers->pairs[n->first_pair + k - 1], &seen, &rest);
}

/* Adds an open frame's function at a height, or the open frame itself, from the layer that has it. */
static bool add_cell(const struct lattice *l, enum lattice_layer in, uint32_t node, uint32_t unit,
                     double probability, struct total *total)
{
    const struct layer *layer = &l->layers[in];
    uint32_t cell = lattice_cell_of(layer, node, unit);
    if (cell != CALLERS_NONE)
        total_add(total, &layer->rows[node].values[(size_t)cell * lattice_width(l, layer, node)],
                  probability);
    return cell != CALLERS_NONE;
}

bool lattice_fill_open(const struct lattice *l, uint32_t node, uint32_t unit, struct lattice_value *value)
{
    const struct callers_open *open = callers_open_of(l->callers, node);
    struct total total = {0};
    bool any = unit >= CALLERS_STEP && add_cell(l, LATTICE_RESORTS, node, unit - CALLERS_STEP, 1, &total);
    uint32_t first = lower_bound(i, 0, open->count, open->units[i] < unit);
    if (first < open->count && open->units[first] == unit)
        any |= add_cell(l, LATTICE_PLAIN, open->function, unit, 1.0 / CALLERS_OPEN, &total) ||
               add_cell(l, LATTICE_RESORTS, open->function, unit, 1.0 / CALLERS_OPEN, &total);
    *value = total_value(&total);
    return any;
}
