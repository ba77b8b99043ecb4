/* meet.c - the cells that a cell's paths go on with; see lattice.h for which are tried first. */
#include <errno.h>

#include "base/vec.h"
#include "infer/model/cells.h"

/* A place for one more outer cell; NULL: out of memory. */
static struct met *add_met(struct lattice *l)
{
    if (!vec_reserve(l->met, l->met_count, l->met_room, 1))
        return NULL;
    return &l->met[l->met_count++];
}

/* Notes an outer cell. false: out of memory. */
static bool meet(struct lattice *l, const struct lattice_state *outer, uint32_t cell, double probability)
{
    struct met *met = add_met(l);
    if (!met)
        return false;
    const struct row *row = &l->rows[outer->node];
    const struct cell *c = &row->cells[cell];
    *met = (struct met){.outer = *outer, .edge = CALLERS_NONE, .probability = probability};
    met->value = row->values[c->first + (c->wide ? outer->column : 0)];
    met->paths = c->paths;
    met->kind = c->kind;
    return true;
}

/* The same for the stack's base. */
static bool meet_root(struct lattice *l, const struct caller *caller, uint32_t number)
{
    struct met *met = add_met(l);
    if (!met)
        return false;
    *met = (struct met){{CALLERS_ROOT, 0, 0}, .caller = number, .edge = caller->edge, .paths = 1};
    met->probability = caller->probability;
    met->value.sum = met->value.best = scaled_of(1, 0);
    return true;
}

/* Meets what some callers of a node lead to. */
static bool meet_callers(struct lattice *l, uint32_t node, uint32_t from, uint32_t count, uint32_t unit)
{
    const struct caller *callers = &l->callers->callers[l->callers->of[node].first];
    for (uint32_t i = from; i < from + count; i++) {
        const struct caller *c = &callers[i];
        if (c->outer == CALLERS_ROOT) {
            if (c->rise == unit && !meet_root(l, c, i))
                return false;
            continue;
        }
        const struct lattice_state outer = {c->outer, c->column, unit - c->rise};
        uint32_t cell = c->rise > unit ? CALLERS_NONE : lattice_cell_of(l, outer.node, outer.unit);
        if (cell == CALLERS_NONE)
            continue;
        if (!meet(l, &outer, cell, c->probability))
            return false;
        l->met[l->met_count - 1].caller = i;
        l->met[l->met_count - 1].edge = c->edge;
    }
    return true;
}

/* Keeps the plain ones when there are any. Which kind the state is. */
static enum lattice_kind prefer_plain(struct lattice *l)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < l->met_count; i++)
        if (l->met[i].kind == LATTICE_PLAIN)
            l->met[kept++] = l->met[i];
    if (kept)
        l->met_count = kept;
    return kept ? LATTICE_PLAIN : LATTICE_BEYOND;
}

static bool meet_function(struct lattice *l, uint32_t function, uint32_t unit, enum lattice_kind *kind)
{
    const struct callers_node *node = &l->callers->of[function];
    uint32_t first = node->seen + node->fixed;
    if (!meet_callers(l, function, 0, first, unit))
        return false;
    *kind = prefer_plain(l);
    if (l->met_count || !l->resorts)
        return true;
    *kind = LATTICE_RESORT;
    return meet_callers(l, function, first, node->resort, unit);
}

/* The heights at which a function with an open frame can stand when it leaves this one to what it calls. */
static bool meet_open(struct lattice *l, uint32_t node, uint32_t unit)
{
    const struct callers_open *open = lattice_open_of(l, node);
    uint32_t sizes = open->count ? open->count : CALLERS_OPEN;
    for (uint32_t i = 0; i < sizes; i++) {
        uint32_t at = open->count ? open->units[i] : unit - i * CALLERS_STEP;
        if (at > unit) /* beyond the root */
            break;
        uint32_t cell = (unit - at) % CALLERS_STEP ? CALLERS_NONE : lattice_cell_of(l, open->function, at);
        if (cell != CALLERS_NONE &&
            !meet(l, &(struct lattice_state){open->function, 0, at}, cell, 1.0 / CALLERS_OPEN))
            return false;
    }
    return true;
}

bool lattice_meet(struct lattice *l, uint32_t node, uint32_t unit, enum lattice_kind *kind)
{
    const struct callers *c = l->callers;
    l->met_count = 0;
    if (node < c->functions)
        return meet_function(l, node, unit, kind);
    *kind = LATTICE_RESORT;
    return node < c->functions + c->classes ? meet_callers(l, node, 0, c->of[node].fixed, unit)
                                            : meet_open(l, node, unit);
}

/* The pair that a state's column stands for, NULL: none. */
static const struct callers_pair *pair_of(const struct lattice *l, struct lattice_state state)
{
    const struct callers_node *n = &l->callers->of[state.node];
    if (state.node >= l->callers->functions || state.column == 0)
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
    enum lattice_kind kind;
    l->met_count = 0;
    if (!lattice_meet(l, state.node, state.unit, &kind))
        return -ENOMEM;
    const struct callers_pair *pair = pair_of(l, state);
    if (pair && kind != LATTICE_RESORT)
        weigh_pair(l, &l->callers->of[state.node], pair);
    if (!vec_reserve(l->ways, 0, l->way_room, l->met_count))
        return -ENOMEM;
    for (uint32_t i = 0; i < l->met_count; i++) {
        const struct met *met = &l->met[i];
        l->ways[i] = (struct lattice_way){met->outer, met->edge, met->probability, met->value, met->paths};
    }
    *out = l->ways;
    return l->met_count;
}
