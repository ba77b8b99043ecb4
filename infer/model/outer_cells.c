/* outer_cells.c - the outer cells of a cell, through which its paths go on; lattice.h says which these are. */
#include <errno.h>

#include "base/vec.h"
#include "infer/model/cells.h"

/* Makes space for this many more outer cells. */
static bool reserve_cells(struct lattice *l, uint32_t more)
{
    return vec_reserve(l->outer, l->outer_count, l->outer_capacity, more);
}

/* The value of a node's column at a height in a layer; NULL: no path leads there. */
static inline const struct lattice_value *value_of(const struct lattice *l, enum lattice_layer in,
                                                   uint32_t node, uint32_t column, uint32_t unit)
{
    const struct layer *layer = &l->layers[in];
    uint32_t cell = lattice_cell_of(layer, node, unit);
    if (cell == CALLERS_NONE)
        return NULL;
    const struct lattice_value *values = layer->rows[node].values;
    values += in == LATTICE_PLAIN ? (size_t)cell * lattice_width(l, layer, node) + column : cell;
    __builtin_prefetch(values);
    return values;
}

/* Adds the cells that some callers of a node lead to, in the layers from `first` to `last`. false: out of memory. */
static bool add_callers(struct lattice *l, uint32_t node, uint32_t from, uint32_t count, uint32_t unit,
                        enum lattice_layer first, enum lattice_layer last)
{
    static const struct lattice_value root = {{0.5f, 1}, {0.5f, 1}};
    const struct caller *callers = &l->callers->callers[l->callers->of[node].first];
    if (!reserve_cells(l, count))
        return false;
    for (uint32_t i = from; i < from + count; i++) {
        const struct caller *c = &callers[i];
        struct outer_cell outer = {.probability = c->probability, .caller = i, .unit = unit - c->rise};
        if (c->outer == CALLERS_ROOT)
            outer.value = c->rise == unit ? &root : NULL;
        else if (c->rise <= unit)
            outer.value = value_of(l, first, c->outer, c->column, outer.unit);
        if (!outer.value && first != last && c->outer != CALLERS_ROOT && c->rise <= unit)
            outer.value = value_of(l, last, c->outer, c->column, outer.unit);
        l->outer[l->outer_count] = outer;
        l->outer_count += outer.value != NULL;
    }
    return true;
}

static bool add_function(struct lattice *l, enum lattice_layer layer, uint32_t function, uint32_t unit)
{
    const struct callers_node *node = &l->callers->of[function];
    uint32_t usual = node->seen + node->fixed;
    return add_callers(l, function, 0, usual, unit, layer, layer) &&
           (l->outer_count || layer == LATTICE_PLAIN ||
            add_callers(l, function, usual, node->resort, unit, layer, layer));
}

/* Adds the heights that a function with an open frame can have when its frame leaves this height to what it calls. */
static bool add_open(struct lattice *l, uint32_t node, uint32_t unit)
{
    const struct callers_open *open = callers_open_of(l->callers, node);
    uint32_t sizes = open->count ? open->count : CALLERS_OPEN;
    if (!reserve_cells(l, sizes))
        return false;
    for (uint32_t i = 0; i < sizes; i++) {
        struct outer_cell outer = {.probability = 1.0 / CALLERS_OPEN, .caller = CALLERS_NONE};
        outer.unit = open->count ? open->units[i] : unit - i * CALLERS_STEP;
        if (outer.unit > unit) /* beyond the root */
            break;
        if ((unit - outer.unit) % CALLERS_STEP)
            continue;
        outer.value = value_of(l, LATTICE_PLAIN, open->function, 0, outer.unit);
        if (!outer.value)
            outer.value = value_of(l, LATTICE_RESORTS, open->function, 0, outer.unit);
        l->outer[l->outer_count] = outer;
        l->outer_count += outer.value != NULL;
    }
    return true;
}

bool lattice_outer_cells(struct lattice *l, enum lattice_layer layer, uint32_t node, uint32_t unit)
{
    const struct callers *c = l->callers;
    l->outer_count = 0;
    if (node < c->functions)
        return add_function(l, layer, node, unit);
    return node < c->functions + c->classes
               ? add_callers(l, node, 0, c->of[node].fixed, unit, LATTICE_PLAIN, LATTICE_RESORTS)
               : add_open(l, node, unit);
}

/* The pair of a state's column; NULL: none. */
static const struct callers_pair *pair_of(const struct lattice *l, struct lattice_state state)
{
    const struct callers_node *n = &l->callers->of[state.node];
    if (state.column == 0)
        return NULL;
    if (state.column != CALLERS_LEAF)
        return &l->callers->pairs[n->first_pair + state.column - 1];
    return n->leaf == CALLERS_NONE ? NULL : &l->callers->pairs[n->leaf];
}

/* Makes the callers of a pair more probable. */
static void weigh_pair(struct lattice *l, const struct callers_node *node, const struct callers_pair *pair)
{
    for (uint32_t i = 0; i < node->seen; i++)
        l->outer_of[i] = -1;
    for (uint32_t i = 0; i < l->outer_count; i++) {
        if (l->outer[i].caller >= node->seen)
            continue;
        l->outer_of[l->outer[i].caller] = (int32_t)i;
        l->outer[i].probability *= pair->rest;
    }
    for (uint32_t i = pair->first; i < pair->first + pair->count; i++) {
        const struct callers_term *term = &l->callers->terms[i];
        if (l->outer_of[term->caller] >= 0)
            l->outer[l->outer_of[term->caller]].probability += term->probability;
    }
}

int64_t lattice_ways(struct lattice *l, struct lattice_state state, const struct lattice_way **out)
{
    const struct callers_node *node = &l->callers->of[state.node];
    bool plain = lattice_cell_of(&l->layers[LATTICE_PLAIN], state.node, state.unit) != CALLERS_NONE;
    if (!lattice_outer_cells(l, plain ? LATTICE_PLAIN : LATTICE_RESORTS, state.node, state.unit))
        return -ENOMEM;
    const struct callers_pair *pair = plain ? pair_of(l, state) : NULL;
    if (pair)
        weigh_pair(l, node, pair);
    if (!vec_reserve(l->ways, 0, l->way_capacity, l->outer_count))
        return -ENOMEM;
    for (uint32_t i = 0; i < l->outer_count; i++) {
        const struct outer_cell *outer = &l->outer[i];
        struct lattice_way *way = &l->ways[i];
        *way = (struct lattice_way){
            .edge = CALLERS_NONE, .probability = outer->probability, .value = *outer->value};
        way->outer.unit = outer->unit;
        if (outer->caller == CALLERS_NONE) {
            way->outer.node = callers_open_of(l->callers, state.node)->function;
            continue;
        }
        const struct caller *caller = &l->callers->callers[node->first + outer->caller];
        way->outer.node = caller->outer;
        way->outer.column = caller->column;
        way->edge = caller->edge;
    }
    *out = l->ways;
    return l->outer_count;
}
