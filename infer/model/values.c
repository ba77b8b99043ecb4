/* values.c - what all paths of a cell come to; see lattice.h. */
#include "base/search.h"
#include "infer/model/cells.h"

/* A sum over paths with the best of them. */
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

/* What l->met comes to when the pair makes some of the callers likelier. seen, rest: totals of those that
 * training saw and of the others. */
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
        if (l->met_of[term->caller] < 0)
            continue;
        const struct met *met = &l->met[l->met_of[term->caller]];
        scaled_add(&total.sum, met->value.sum, term->probability);
        best = scaled_times(met->value.best, pair->rest * met->probability + term->probability);
        if (scaled_less(total.best, best))
            total.best = best;
    }
    return total_value(&total);
}

double lattice_fill_met(struct lattice *l, uint32_t node, enum lattice_kind kind, uint32_t width,
                        struct lattice_value *values)
{
    const struct callers_node *n = &l->callers->of[node];
    uint32_t seen_count = kind < LATTICE_RESORT ? n->seen : 0;
    struct total seen = {0}, rest = {0};
    double paths = 0;
    for (uint32_t i = 0; i < seen_count; i++)
        l->met_of[i] = -1;
    for (uint32_t i = 0; i < l->met_count; i++) {
        const struct met *met = &l->met[i];
        bool is_seen = met->caller < seen_count;
        total_add(is_seen ? &seen : &rest, &met->value, met->probability);
        paths += met->paths;
        if (is_seen)
            l->met_of[met->caller] = (int32_t)i;
    }
    const struct callers_pair none = {0, 0, 1};
    for (uint32_t k = 0; k < width; k++)
        values[k] = pair_value(l, k ? &l->callers->pairs[n->first_pair + k - 1] : &none, &seen, &rest);
    return paths;
}

double lattice_fill_open(const struct lattice *l, uint32_t node, uint32_t unit, struct lattice_value *value)
{
    const struct callers_open *open = lattice_open_of(l, node);
    struct total total = {0};
    double paths = 0;
    uint32_t before = unit < CALLERS_STEP ? CALLERS_NONE : lattice_cell_of(l, node, unit - CALLERS_STEP);
    if (before != CALLERS_NONE) {
        total_add(&total, &l->rows[node].values[l->rows[node].cells[before].first], 1);
        paths += l->rows[node].cells[before].paths;
    }
    uint32_t first = lower_bound(i, 0, open->count, open->units[i] < unit);
    const struct row *row = &l->rows[open->function];
    bool has_unit = first < open->count && open->units[first] == unit;
    uint32_t own = has_unit ? lattice_cell_of(l, open->function, unit) : CALLERS_NONE;
    if (own != CALLERS_NONE) {
        total_add(&total, &row->values[row->cells[own].first], 1.0 / CALLERS_OPEN);
        paths += row->cells[own].paths;
    }
    *value = total_value(&total);
    return paths;
}
