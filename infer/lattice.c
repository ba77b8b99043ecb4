/*
 * lattice.c - see lattice.h.
 *
 * Blocks of 64 units; for each node in a block one word of bits, which heights have a cell. Bits are set
 * ahead by outer cells and taken back where no path leads after all. A node's cells stand in order of height,
 * so that a bit's rank finds its cell.
 */
#include "infer/lattice.h"

#include <errno.h>
#include <stdlib.h>

#define BLOCK  64u /* units */
#define UNITS  (LATTICE_HEIGHT / CALLERS_UNIT)
#define BLOCKS (UNITS / BLOCK)

struct slot {
    uint64_t live;  /* heights with a cell; ahead of the pass: perhaps */
    uint64_t exact; /* heights that training saw a function of a hooked image at */
    uint32_t first; /* the node's first cell in this block */
};

struct cell {
    double paths;
    uint32_t first; /* its value in column 0 */
    uint8_t kind;   /* enum lattice_kind */
    bool wide;      /* the values of the other columns follow; else they are the same */
};

struct block {
    struct slot *slots; /* by node */
    uint64_t *marked;   /* unit by unit: the nodes with a bit there, in words of 64 */
};

/* The cells of a node. */
struct row {
    struct cell *cells;
    struct lattice_value *values;
    uint32_t count, room;
    uint32_t value_count, value_room;
    uint32_t width; /* columns */
};

/* One outer cell that a state's path can go on with. */
struct met {
    struct lattice_state outer;
    uint32_t caller; /* after the node's first */
    uint32_t edge;
    double probability; /* in column 0 */
    double paths;
    struct lattice_value value;
    enum lattice_kind kind;
};

struct lattice {
    const struct graph *graph;
    const struct callers *callers;
    bool resorts; /* last resorts are followed */
    struct row *rows;
    struct block blocks[BLOCKS]; /* no slots: nothing is there yet */
    size_t words;                /* of 64 nodes */
    uint32_t *cursor;            /* by function: its first node of the map that is not passed */
    uint32_t unit;               /* the first that is not known */
    bool full;                   /* there is no memory to go on */
    size_t bytes, limit;
    uint64_t cells;
    struct met *met; /* of the state that is looked at */
    uint32_t met_count, met_room;
    int32_t *met_of; /* by caller that training saw: its index in met, or -1 */
    struct lattice_way *ways;
    size_t way_room;
};

static void *spend(struct lattice *l, size_t count, size_t size)
{
    if (count * size > l->limit - l->bytes) {
        l->full = true;
        return NULL;
    }
    l->bytes += count * size;
    return calloc(count, size);
}

static struct block *block_of(struct lattice *l, uint32_t unit)
{
    struct block *b = &l->blocks[unit / BLOCK];
    if (!b->slots) {
        b->slots = spend(l, l->callers->nodes, sizeof *b->slots);
        b->marked = b->slots ? spend(l, BLOCK * l->words, sizeof *b->marked) : NULL;
    }
    return b->marked ? b : NULL;
}

/* A path may lead there. */
static void mark(struct lattice *l, uint32_t node, uint32_t unit)
{
    struct block *b = unit < UNITS ? block_of(l, unit) : NULL;
    if (!b)
        return;
    b->slots[node].live |= UINT64_C(1) << unit % BLOCK;
    b->marked[unit % BLOCK * l->words + node / 64] |= UINT64_C(1) << node % 64;
}

/* A cell's number among those of its node; CALLERS_NONE: no path leads there. */
static uint32_t cell_of(const struct lattice *l, uint32_t node, uint32_t unit)
{
    const struct slot *slots = l->blocks[unit / BLOCK].slots;
    uint64_t bit = UINT64_C(1) << unit % BLOCK;
    if (!slots || !(slots[node].live & bit))
        return CALLERS_NONE;
    return slots[node].first + (uint32_t)__builtin_popcountll(slots[node].live & (bit - 1));
}

static bool is_exact(const struct lattice *l, uint32_t node, uint32_t unit)
{
    const struct slot *slots = l->blocks[unit / BLOCK].slots;
    return slots && slots[node].exact >> unit % BLOCK & 1;
}

static bool is_plain(enum lattice_kind kind)
{
    return kind == LATTICE_PLAIN || kind == LATTICE_EXACT;
}

/* A place for one more outer cell; NULL: out of memory. */
static struct met *add_met(struct lattice *l)
{
    if (l->met_count == l->met_room) {
        uint32_t room = l->met_room ? l->met_room * 2 : 256;
        struct met *more = realloc(l->met, room * sizeof *more);
        if (!more)
            return NULL;
        l->met = more;
        l->met_room = room;
    }
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
        uint32_t cell = c->rise > unit ? CALLERS_NONE : cell_of(l, outer.node, outer.unit);
        if (cell == CALLERS_NONE || (c->exact && !is_exact(l, outer.node, outer.unit)))
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
        if (is_plain(l->met[i].kind))
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

static const struct callers_open *open_of(const struct lattice *l, uint32_t node)
{
    return &l->callers->open[node - l->callers->functions - l->callers->classes];
}

/* The heights at which a function with an open frame can stand when it leaves this one to what it calls. */
static bool meet_open(struct lattice *l, uint32_t node, uint32_t unit)
{
    const struct callers_open *open = open_of(l, node);
    uint32_t sizes = open->count ? open->count : CALLERS_OPEN;
    for (uint32_t i = 0; i < sizes; i++) {
        uint32_t at = open->count ? open->units[i] : unit - i * CALLERS_STEP;
        if (at > unit) /* beyond the root */
            break;
        uint32_t cell = (unit - at) % CALLERS_STEP ? CALLERS_NONE : cell_of(l, open->function, at);
        if (cell != CALLERS_NONE &&
            !meet(l, &(struct lattice_state){open->function, 0, at}, cell, 1.0 / CALLERS_OPEN))
            return false;
    }
    return true;
}

/* Fills l->met with the outer cells of a cell that is not exact. false: out of memory. */
static bool meet_outer(struct lattice *l, uint32_t node, uint32_t unit, enum lattice_kind *kind)
{
    const struct callers *c = l->callers;
    l->met_count = 0;
    if (node < c->functions)
        return meet_function(l, node, unit, kind);
    *kind = LATTICE_RESORT;
    return node < c->functions + c->classes ? meet_callers(l, node, 0, c->of[node].fixed, unit)
                                            : meet_open(l, node, unit);
}

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

/* The first columns of the cell whose outer ones are l->met; returns its number of paths. */
static double fill_values(struct lattice *l, uint32_t node, enum lattice_kind kind, uint32_t width,
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

/* What the map's own paths come to. */
static double fill_exact(const struct lattice *l, uint32_t function, uint32_t unit,
                         struct lattice_value *value)
{
    const struct pathmap *map = graph_map(l->graph);
    uint32_t first, nodes = pathmap_find(map, function, unit * CALLERS_UNIT, &first);
    double sum = 0, most = 0, all = graph_callers(l->graph, function).weight;
    for (uint32_t i = first; i < first + nodes; i++) {
        double passes = (double)pathmap_node(map, i).passes;
        sum += passes;
        most = passes > most ? passes : most;
    }
    if (sum > 0)
        *value = (struct lattice_value){scaled_of(sum / all, 0), scaled_of(most / all, 0)};
    return sum > 0 ? nodes : 0;
}

/* What a function with an open frame that training saw comes to at a height: what it did one step before, and
 * what it is itself. */
static double fill_open(const struct lattice *l, uint32_t node, uint32_t unit, struct lattice_value *value)
{
    const struct callers_open *open = open_of(l, node);
    struct total total = {0};
    double paths = 0;
    uint32_t before = unit < CALLERS_STEP ? CALLERS_NONE : cell_of(l, node, unit - CALLERS_STEP);
    if (before != CALLERS_NONE) {
        total_add(&total, &l->rows[node].values[l->rows[node].cells[before].first], 1);
        paths += l->rows[node].cells[before].paths;
    }
    uint32_t low = 0, high = open->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (open->units[middle] < unit)
            low = middle + 1;
        else
            high = middle;
    }
    const struct row *row = &l->rows[open->function];
    uint32_t own =
        low < open->count && open->units[low] == unit ? cell_of(l, open->function, unit) : CALLERS_NONE;
    if (own != CALLERS_NONE) {
        total_add(&total, &row->values[row->cells[own].first], 1.0 / CALLERS_OPEN);
        paths += row->cells[own].paths;
    }
    *value = total_value(&total);
    return paths;
}

/* Room for some more elements in one of a row's arrays; false: there is none. */
static bool grow(struct lattice *l, void **array, uint32_t count, uint32_t more, uint32_t *room, size_t size)
{
    if (count + more <= *room)
        return true;
    uint32_t wanted = *room + *room / 4 + more + 4;
    if ((wanted - *room) * size > l->limit - l->bytes) {
        l->full = true;
        return false;
    }
    void *larger = realloc(*array, wanted * size);
    if (!larger)
        return false;
    l->bytes += (wanted - *room) * size;
    *array = larger;
    *room = wanted;
    return true;
}

/* Marks where a cell leads on. */
static void mark_inner(struct lattice *l, uint32_t node, uint32_t unit)
{
    const struct callers *c = l->callers;
    const struct callers_node *n = &c->of[node];
    bool exact = is_exact(l, node, unit);
    for (uint32_t i = n->first_callee; i < n->first_callee + n->callees; i++)
        if ((!c->callees[i].exact || exact) && (l->resorts || c->callees[i].node < c->functions))
            mark(l, c->callees[i].node, unit + c->callees[i].rise);
    if (!l->resorts)
        return;
    if (node >= c->functions + c->classes && open_of(l, node)->count)
        mark(l, node, unit + CALLERS_STEP);
    if (node >= c->functions || n->open == CALLERS_NONE)
        return;
    uint32_t sizes = open_of(l, n->open)->count ? 1 : CALLERS_OPEN;
    for (uint32_t i = 0; i < sizes; i++)
        mark(l, n->open, unit + i * CALLERS_STEP);
}

/* Fills in a cell, for whose values there is room. false: out of memory. */
static bool fill_cell(struct lattice *l, uint32_t node, uint32_t unit, struct cell *cell)
{
    const struct callers *c = l->callers;
    struct lattice_value *values = &l->rows[node].values[cell->first];
    if (is_exact(l, node, unit)) {
        cell->kind = LATTICE_EXACT;
        cell->paths = fill_exact(l, node, unit, values);
        return true;
    }
    if (node >= c->functions + c->classes && open_of(l, node)->count) {
        cell->kind = LATTICE_RESORT;
        cell->paths = fill_open(l, node, unit, values);
        return true;
    }
    enum lattice_kind kind;
    if (!meet_outer(l, node, unit, &kind))
        return false;
    cell->kind = (uint8_t)kind;
    cell->wide = kind != LATTICE_RESORT && l->rows[node].width > 1;
    cell->paths = fill_values(l, node, kind, cell->wide ? l->rows[node].width : 1, values);
    return true;
}

/* Makes the cell, if a path leads there. false: there is not the memory. */
static bool make_cell(struct lattice *l, uint32_t node, uint32_t unit)
{
    struct row *row = &l->rows[node];
    struct cell cell = {.first = row->value_count};
    if (!grow(l, (void **)&row->cells, row->count, 1, &row->room, sizeof *row->cells) ||
        !grow(l, (void **)&row->values, row->value_count, row->width, &row->value_room,
              sizeof *row->values) ||
        !fill_cell(l, node, unit, &cell))
        return false;
    if (cell.paths <= 0) {
        l->blocks[unit / BLOCK].slots[node].live &= ~(UINT64_C(1) << unit % BLOCK);
        return true;
    }
    row->cells[row->count++] = cell;
    row->value_count += cell.wide ? row->width : 1;
    l->cells++;
    mark_inner(l, node, unit);
    return true;
}

/* The marked nodes from `from` on. false: there is not the memory. */
static bool make_cells(struct lattice *l, uint32_t unit, uint32_t from, uint32_t to)
{
    const uint64_t *marked = l->blocks[unit / BLOCK].marked + unit % BLOCK * l->words;
    bool good = true;
    for (uint32_t n = from; n < to && good; n = n / 64 * 64 + 64) {
        uint64_t word = marked[n / 64] >> n % 64 << n % 64;
        for (; word && good; word &= word - 1) {
            uint32_t node = n / 64 * 64 + (uint32_t)__builtin_ctzll(word);
            if (node >= to)
                break;
            good = make_cell(l, node, unit);
        }
    }
    return good;
}

/* Calls through pointers lead on at the same height, and open frames from it. */
static bool make_unit(struct lattice *l, uint32_t unit)
{
    const struct callers *c = l->callers;
    uint32_t classes = c->functions + c->classes;
    if (!l->resorts)
        return make_cells(l, unit, 0, c->functions);
    return make_cells(l, unit, c->functions, classes) && make_cells(l, unit, 0, c->functions) &&
           make_cells(l, unit, classes, c->nodes);
}

/* What a block starts with: where its cells will stand, and the heights that training saw. */
static bool begin_block(struct lattice *l, uint32_t b)
{
    const struct pathmap *map = graph_map(l->graph);
    const struct block *block = block_of(l, b * BLOCK);
    if (!block)
        return false;
    for (uint32_t n = 0; n < l->callers->nodes; n++)
        block->slots[n].first = l->rows[n].count;
    for (uint32_t f = 0; f < l->callers->functions; f++) {
        uint32_t first, nodes = graph_hooked(l->graph, f) ? pathmap_function_nodes(map, f, &first) : 0;
        for (; l->cursor[f] < nodes; l->cursor[f]++) {
            uint32_t height = pathmap_node(map, first + l->cursor[f]).height, unit = height / CALLERS_UNIT;
            if (unit / BLOCK > b)
                break;
            if (height % CALLERS_UNIT)
                continue;
            block->slots[f].exact |= UINT64_C(1) << unit % BLOCK;
            mark(l, f, unit);
        }
    }
    return true;
}

int lattice_extend(struct lattice *l, uint32_t unit)
{
    if (unit >= UNITS)
        return -ENOSPC;
    uint32_t end = (unit / BLOCK + 1) * BLOCK;
    for (; l->unit < end && !l->full; l->unit++)
        if ((l->unit % BLOCK == 0 && !begin_block(l, l->unit / BLOCK)) || !make_unit(l, l->unit))
            break;
    if (unit < l->unit)
        return 0;
    int rc = l->full ? -ENOSPC : -ENOMEM;
    l->full = true; /* a part of the unit may be made: it is not made again */
    return rc;
}

/* Marks where paths begin. */
static void mark_roots(struct lattice *l)
{
    for (uint32_t f = 0; f < l->callers->functions; f++) {
        const struct callers_node *n = &l->callers->of[f];
        for (uint32_t i = n->first; i < n->first + n->seen + n->fixed + n->resort; i++)
            if (l->callers->callers[i].outer == CALLERS_ROOT)
                mark(l, f, l->callers->callers[i].rise);
    }
    for (uint32_t k = 0; k < l->callers->classes; k++) {
        const struct callers_node *n = &l->callers->of[l->callers->functions + k];
        for (uint32_t i = n->first; i < n->first + n->fixed; i++)
            if (l->callers->callers[i].outer == CALLERS_ROOT)
                mark(l, l->callers->functions + k, l->callers->callers[i].rise);
    }
}

static bool prepare(struct lattice *l)
{
    uint32_t most = 0;
    for (uint32_t n = 0; n < l->callers->nodes; n++)
        most = l->callers->of[n].seen > most ? l->callers->of[n].seen : most;
    l->words = l->callers->nodes / 64 + 1;
    l->rows = calloc((size_t)l->callers->nodes + 1, sizeof *l->rows);
    l->cursor = calloc((size_t)l->callers->functions + 1, sizeof *l->cursor);
    l->met_of = malloc(((size_t)most + 1) * sizeof *l->met_of);
    if (!l->rows || !l->cursor || !l->met_of)
        return false;
    for (uint32_t n = 0; n < l->callers->nodes; n++)
        l->rows[n].width = n < l->callers->functions ? 1 + l->callers->of[n].pairs : 1;
    mark_roots(l);
    return true;
}

struct lattice *lattice_new(const struct graph *graph, const struct callers *callers, bool resorts,
                            size_t bytes)
{
    struct lattice *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->graph = graph;
    l->limit = bytes;
    l->callers = callers;
    l->resorts = resorts;
    if (!prepare(l)) {
        lattice_free(l);
        l = NULL;
    }
    return l;
}

void lattice_free(struct lattice *l)
{
    if (!l)
        return;
    for (uint32_t n = 0; l->rows && n < l->callers->nodes; n++) {
        free(l->rows[n].cells);
        free(l->rows[n].values);
    }
    for (uint32_t b = 0; b < BLOCKS; b++) {
        free(l->blocks[b].slots);
        free(l->blocks[b].marked);
    }
    free(l->rows);
    free(l->cursor);
    free(l->met);
    free(l->met_of);
    free(l->ways);
    free(l);
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
    if (is_exact(l, state.node, state.unit))
        return 0;
    if (!meet_outer(l, state.node, state.unit, &kind))
        return -ENOMEM;
    const struct callers_pair *pair = pair_of(l, state);
    if (pair && kind != LATTICE_RESORT)
        weigh_pair(l, &l->callers->of[state.node], pair);
    if (l->met_count > l->way_room) {
        struct lattice_way *ways = realloc(l->ways, l->met_count * sizeof *ways);
        if (!ways)
            return -ENOMEM;
        l->ways = ways;
        l->way_room = l->met_count;
    }
    for (uint32_t i = 0; i < l->met_count; i++) {
        const struct met *met = &l->met[i];
        l->ways[i] = (struct lattice_way){met->outer, met->edge, met->probability, met->value, met->paths};
    }
    *out = l->ways;
    return l->met_count;
}

bool lattice_find(const struct lattice *l, uint32_t node, uint32_t unit, struct lattice_cell *out)
{
    const struct row *row = &l->rows[node];
    uint32_t cell = cell_of(l, node, unit);
    if (cell == CALLERS_NONE)
        return false;
    const struct cell *c = &row->cells[cell];
    *out = (struct lattice_cell){c->kind, c->paths, row->values[c->first]};
    return true;
}

uint64_t lattice_cells(const struct lattice *l)
{
    return l->cells;
}

size_t lattice_bytes(const struct lattice *l)
{
    return l->bytes;
}
