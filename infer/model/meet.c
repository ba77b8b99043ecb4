/* meet.c - the cells that a cell's paths go on with; see lattice.h for which these are. */
#include <errno.h>

#include "base/vec.h"
#include "infer/model/cells.h"

/* Notes an outer state's value. false: out of memory. */
static bool meet(struct lattice *l, struct lattice_state outer, uint32_t caller, double probability,
                 const struct lattice_value *value)
{
    if (!vec_reserve(l->met, l->met_count, l->met_room, 1))
        return false;
    l->met[l->met_count++] = (struct met){outer, caller, probability, *value};
    return true;
}

/* An outer state's value in a layer; NULL: no path leads there. */
static const struct lattice_value *value_of(const struct lattice *l, enum lattice_layer in,
                                            struct lattice_state outer)
{
    const struct layer *layer = &l->layers[in];
    uint32_t cell = lattice_cell_of(layer, outer.node, outer.unit);
    if (cell == CALLERS_NONE)
        return NULL;
    const struct lattice_value *values = layer->rows[outer.node].values;
    return in == LATTICE_PLAIN ? &values[(size_t)cell * lattice_width(l, layer, outer.node) + outer.column]
                               : &values[cell];
}

/* Meets what some callers of a node lead to in the layers from `first` to `last`. */
static bool meet_callers(struct lattice *l, uint32_t node, uint32_t from, uint32_t count, uint32_t unit,
                         enum lattice_layer first, enum lattice_layer last)
{
    static const struct lattice_value root = {{0.5f, 1}, {0.5f, 1}};
    const struct caller *callers = &l->callers->callers[l->callers->of[node].first];
    bool good = true;
    for (uint32_t i = from; i < from + count && good; i++) {
        const struct caller *c = &callers[i];
        if (c->outer == CALLERS_ROOT) {
            const struct lattice_state outer = {CALLERS_ROOT, 0, 0};
            good = c->rise != unit || meet(l, outer, i, c->probability, &root);
            continue;
        }
        if (c->rise > unit)
            continue;
        const struct lattice_state outer = {c->outer, c->column, unit - c->rise};
        const struct lattice_value *value = value_of(l, first, outer);
        if (!value && first != last)
            value = value_of(l, last, outer);
        good = !value || meet(l, outer, i, c->probability, value);
    }
    return good;
}

static bool meet_function(struct lattice *l, enum lattice_layer layer, uint32_t function, uint32_t unit)
{
    const struct callers_node *node = &l->callers->of[function];
    uint32_t usual = node->seen + node->fixed;
    return meet_callers(l, function, 0, usual, unit, layer, layer) &&
           (l->met_count || layer == LATTICE_PLAIN ||
            meet_callers(l, function, usual, node->resort, unit, layer, layer));
}

/* The heights at which a function with an open frame can stand when it leaves this one to what it calls. */
static bool meet_open(struct lattice *l, uint32_t node, uint32_t unit)
{
    const struct callers_open *open = lattice_open_of(l, node);
    uint32_t sizes = open->count ? open->count : CALLERS_OPEN;
    bool good = true;
    for (uint32_t i = 0; i < sizes && good; i++) {
        const struct lattice_state outer = {open->function, 0,
                                            open->count ? open->units[i] : unit - i * CALLERS_STEP};
        if (outer.unit > unit) /* beyond the root */
            break;
        if ((unit - outer.unit) % CALLERS_STEP)
            continue;
        const struct lattice_value *value = value_of(l, LATTICE_PLAIN, outer);
        if (!value)
            value = value_of(l, LATTICE_RESORTS, outer);
        good = !value || meet(l, outer, CALLERS_NONE, 1.0 / CALLERS_OPEN, value);
    }
    return good;
}

bool lattice_meet(struct lattice *l, enum lattice_layer layer, uint32_t node, uint32_t unit)
{
    const struct callers *c = l->callers;
    l->met_count = 0;
    if (node < c->functions)
        return meet_function(l, layer, node, unit);
    return node < c->functions + c->classes
               ? meet_callers(l, node, 0, c->of[node].fixed, unit, LATTICE_PLAIN, LATTICE_RESORTS)
               : meet_open(l, node, unit);
}

/* The pair that a state's column stands for, NULL: none. */
static const struct callers_pair *pair_of(const struct lattice *l, struct lattice_state state)
{
    const struct callers_node *n = &l->callers->of[state.node];
    if (state.column == 0)
        return NULL;
    if (state.column != CALLERS_LEAF)
        return &l->callers->pairs[n->first_pair + state.column - 1];
    return n->leaf == CALLERS_NONE ? NULL : &l->callers->pairs[n->leaf];
}

/* Makes the callers of a pair likelier. */
static void weigh_pair(struct lattice *l, const struct callers_node *node, const struct callers_pair *pair)
{
    for (uint32_t i = 0; i < node->seen; i++)
        l->met_of[i] = -1;
    for (uint32_t i = 0; i < l->met_count; i++) {
        if (l->met[i].caller >= node->seen)
            continue;
        l->met_of[l->met[i].caller] = (int32_t)i;
        l->met[i].probability *= pair->rest;
    }
    for (uint32_t i = pair->first; i < pair->first + pair->count; i++) {
        const struct callers_term *term = &l->callers->terms[i];
        if (l->met_of[term->caller] >= 0)
            l->met[l->met_of[term->caller]].probability += term->probability;
    }
}

int64_t lattice_ways(struct lattice *l, struct lattice_state state, const struct lattice_way **out)
{
    const struct callers_node *node = &l->callers->of[state.node];
    bool plain = lattice_cell_of(&l->layers[LATTICE_PLAIN], state.node, state.unit) != CALLERS_NONE;
    if (!lattice_meet(l, plain ? LATTICE_PLAIN : LATTICE_RESORTS, state.node, state.unit))
        return -ENOMEM;
    const struct callers_pair *pair = plain ? pair_of(l, state) : NULL;
    if (pair)
        weigh_pair(l, node, pair);
    if (!vec_reserve(l->ways, 0, l->way_room, l->met_count))
        return -ENOMEM;
    for (uint32_t i = 0; i < l->met_count; i++) {
        const struct met *met = &l->met[i];
        uint32_t edge =
            met->caller == CALLERS_NONE ? CALLERS_NONE : l->callers->callers[node->first + met->caller].edge;
        l->ways[i] = (struct lattice_way){met->outer, edge, met->probability, met->value};
    }
    *out = l->ways;
    return l->met_count;
}
