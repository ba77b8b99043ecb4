/* lattice.c - the pass from the root inwards, block by block; see lattice.h. */
#include "infer/model/lattice.h"

#include <errno.h>
#include <stdlib.h>

#include "base/allocate.h"
#include "infer/model/cells.h"

#define COLUMN 4u /* steps to compute one column of a cell, about */

static void *allocate_limited(struct lattice *l, struct layer *layer, size_t count, size_t size)
{
    if (layer->full || l->bytes > layer->limit || count * size > layer->limit - l->bytes) {
        layer->full = true;
        return NULL;
    }
    l->bytes += count * size;
    return calloc(count, size);
}

static struct block *block_of(struct lattice *l, struct layer *layer, uint32_t unit)
{
    struct block *b = &layer->blocks[unit / LATTICE_BLOCK];
    if (!b->slots) {
        b->slots = allocate_limited(l, layer, layer->nodes, sizeof *b->slots);
        b->marked =
            b->slots ? allocate_limited(l, layer, LATTICE_BLOCK * layer->words, sizeof *b->marked) : NULL;
    }
    return b->marked ? b : NULL;
}

/* Marks a cell that a path may lead to. */
static void mark_cell(struct lattice *l, struct layer *layer, uint32_t node, uint32_t unit)
{
    if (unit >= LATTICE_UNITS || (l->reach && !reach_needs(l->reach, node, unit)))
        return;
    struct block *b = block_of(l, layer, unit);
    if (!b)
        return;
    b->marked[unit % LATTICE_BLOCK * layer->words + node / 64] |= UINT64_C(1) << node % 64;
}

/* Marks what a cell leads to by last resorts other than calls: its own open frame. */
static void mark_open(struct lattice *l, uint32_t node, uint32_t unit)
{
    const struct callers *c = l->callers;
    struct layer *layer = &l->layers[LATTICE_RESORTS];
    const struct callers_open *itself = callers_open_of(c, node);
    if (itself && itself->count)
        mark_cell(l, layer, node, unit + CALLERS_STEP);
    if (node >= c->functions || c->of[node].open == CALLERS_NONE)
        return;
    uint32_t open = c->of[node].open, sizes = callers_open_of(c, open)->count ? 1 : CALLERS_OPEN;
    for (uint32_t i = 0; i < sizes; i++)
        mark_cell(l, layer, open, unit + i * CALLERS_STEP);
}

/* Marks the cells that a cell leads to in a layer. Callees are sorted: functions first. */
static void mark_inner(struct lattice *l, struct layer *layer, uint32_t node, uint32_t unit)
{
    const struct callers *c = l->callers;
    const struct callers_node *n = &c->of[node];
    for (uint32_t i = n->first_callee; i < n->first_callee + n->callees; i++) {
        if (c->callees[i].node >= layer->nodes)
            break;
        mark_cell(l, layer, c->callees[i].node, unit + c->callees[i].rise);
    }
    if (layer->is == LATTICE_RESORTS)
        mark_open(l, node, unit);
}

/* Marks the cells that a plain cell leads to in the other layer: callees through pointers, and its open frame. */
static void mark_resorts(struct lattice *l, uint32_t node, uint32_t unit)
{
    const struct callers *c = l->callers;
    const struct callers_node *n = &c->of[node];
    for (uint32_t i = n->first_callee + n->callees; i-- > n->first_callee;) {
        if (c->callees[i].node < c->functions)
            break;
        mark_cell(l, &l->layers[LATTICE_RESORTS], c->callees[i].node, unit + c->callees[i].rise);
    }
    mark_open(l, node, unit);
}

/* Makes space for one more cell in a row. false: there is none. */
static bool grow_row(struct lattice *l, struct layer *layer, struct row *row, uint32_t width)
{
    if (row->count < row->capacity)
        return true;
    size_t more = row->capacity / 4 + 4, bytes = more * width * sizeof *row->values;
    if (l->bytes > layer->limit || bytes > layer->limit - l->bytes) {
        layer->full = true;
        return false;
    }
    void *larger = realloc(row->values, (row->capacity + more) * width * sizeof *row->values);
    if (!larger)
        return false;
    l->bytes += bytes;
    row->values = larger;
    row->capacity += (uint32_t)more;
    return true;
}

/* Computes a cell's values: 1; 0: no path leads there; -ENOMEM. */
static int fill_cell(struct lattice *l, const struct layer *layer, uint32_t node, uint32_t unit,
                     struct lattice_value *values)
{
    const struct callers *c = l->callers;
    const struct callers_open *open = callers_open_of(c, node);
    if (open && open->count)
        return lattice_fill_open(l, node, unit, values);
    if (!lattice_outer_cells(l, layer->is, node, unit))
        return -ENOMEM;
    if (l->outer_count)
        lattice_fill_met(l, layer, node, values);
    return l->outer_count > 0;
}

/* The steps of work for a cell: for its callers, for each column, and for what it leads to. */
static uint64_t steps_of(const struct lattice *l, uint32_t node)
{
    const struct callers_node *n = &l->callers->of[node];
    return 4 + callers_count(n) + n->callees + COLUMN * (uint64_t)n->pairs;
}

/* Makes the cell, if a path leads there. false: no memory or no work is left. */
static bool make_cell(struct lattice *l, struct layer *layer, uint32_t node, uint32_t unit)
{
    struct row *row = &layer->rows[node];
    uint32_t width = lattice_width(l, layer, node);
    bool plain =
        layer->is != LATTICE_PLAIN && lattice_cell_of(&l->layers[LATTICE_PLAIN], node, unit) != CALLERS_NONE;
    if (!work_take(l->work, plain ? 1 : steps_of(l, node)))
        layer->full = true;
    if (layer->full || (!plain && !grow_row(l, layer, row, width)))
        return false;
    int found = plain ? 0 : fill_cell(l, layer, node, unit, &row->values[(size_t)row->count * width]);
    if (found > 0) {
        layer->blocks[unit / LATTICE_BLOCK].slots[node].live |= UINT64_C(1) << unit % LATTICE_BLOCK;
        row->count++;
        l->cells++;
        mark_inner(l, layer, node, unit);
    }
    return found >= 0;
}

/* The next marked node of a unit, at or after `from`; the number of nodes: none. */
static uint32_t next_marked(const struct layer *layer, uint32_t unit, uint32_t from)
{
    const struct block *b = &layer->blocks[unit / LATTICE_BLOCK];
    const uint64_t *marked = b->marked + unit % LATTICE_BLOCK * layer->words;
    while (from < layer->nodes) {
        uint64_t word = marked[from / 64] >> from % 64;
        if (word)
            return from + (uint32_t)__builtin_ctzll(word);
        from = from / 64 * 64 + 64;
    }
    return layer->nodes;
}

/* Makes the cells of the marked nodes in [from, to). false: no memory or no work is left. */
static bool make_cells(struct lattice *l, struct layer *layer, uint32_t unit, uint32_t from, uint32_t to)
{
    bool good = true;
    for (uint32_t n = from; good && (n = next_marked(layer, unit, n)) < to; n++)
        good = make_cell(l, layer, n, unit);
    return good;
}

/* In order: calls through pointers lead on at the same height, and open frames from it. */
static bool make_unit(struct lattice *l, struct layer *layer, uint32_t unit)
{
    const struct callers *c = l->callers;
    const struct layer *plain = &l->layers[LATTICE_PLAIN];
    uint32_t classes = c->functions + c->classes;
    if (layer == plain)
        return make_cells(l, layer, unit, 0, c->functions);
    for (uint32_t n = 0; (n = next_marked(plain, unit, n)) < plain->nodes; n++)
        if (lattice_cell_of(plain, n, unit) != CALLERS_NONE)
            mark_resorts(l, n, unit);
    return make_cells(l, layer, unit, c->functions, classes) && make_cells(l, layer, unit, 0, c->functions) &&
           make_cells(l, layer, unit, classes, c->nodes);
}

/* Allocates what the cells of a block need. */
static bool begin_block(struct lattice *l, struct layer *layer, uint32_t b)
{
    if (!work_take(l->work, layer->nodes)) {
        layer->full = true;
        return false;
    }
    const struct block *block = block_of(l, layer, b * LATTICE_BLOCK);
    if (!block)
        return false;
    for (uint32_t n = 0; n < layer->nodes; n++)
        block->slots[n].first = layer->rows[n].count;
    return true;
}

/* Makes the layer's cells up to the end of the unit's block, for which the layers before it must have theirs. */
static int extend_layer(struct lattice *l, struct layer *layer, uint32_t unit)
{
    uint32_t end = (unit / LATTICE_BLOCK + 1) * LATTICE_BLOCK;
    for (; layer->unit < end && !layer->full; layer->unit++)
        if ((layer->unit % LATTICE_BLOCK == 0 && !begin_block(l, layer, layer->unit / LATTICE_BLOCK)) ||
            !make_unit(l, layer, layer->unit))
            break;
    if (unit < layer->unit)
        return 0;
    int rc = layer->full ? -ENOSPC : -ENOMEM;
    layer->full = true; /* a part of the unit may be done, and must not be done again */
    return rc;
}

int lattice_extend(struct lattice *l, enum lattice_layer layer, uint32_t unit)
{
    if (unit >= LATTICE_UNITS)
        return -ENOSPC;
    int rc = extend_layer(l, &l->layers[LATTICE_PLAIN], unit);
    return rc == 0 && layer == LATTICE_RESORTS ? extend_layer(l, &l->layers[LATTICE_RESORTS], unit) : rc;
}

/* Marks the nodes at which paths begin with some of their callers. */
static void mark_roots(struct lattice *l, struct layer *layer, uint32_t node, uint32_t from, uint32_t count)
{
    const struct callers *c = l->callers;
    for (uint32_t i = c->of[node].first + from; i < c->of[node].first + from + count; i++)
        if (c->callers[i].outer == CALLERS_ROOT)
            mark_cell(l, layer, node, c->callers[i].rise);
}

static bool prepare_layers(struct lattice *l, size_t bytes)
{
    const struct callers *c = l->callers;
    uint32_t most = 0;
    for (int i = 0; i < LATTICE_LAYERS; i++) {
        struct layer *layer = &l->layers[i];
        layer->is = (enum lattice_layer)i;
        layer->nodes = i == LATTICE_PLAIN ? c->functions : c->nodes;
        layer->words = layer->nodes / 64 + 1;
        layer->limit = i == LATTICE_PLAIN ? bytes / 3 * 2 : bytes;
        layer->rows = calloc((size_t)layer->nodes + 1, sizeof *layer->rows);
    }
    for (uint32_t n = 0; n < c->nodes; n++)
        most = c->of[n].seen > most ? c->of[n].seen : most;
    l->outer_of = malloc(((size_t)most + 1) * sizeof *l->outer_of);
    if (!l->layers[LATTICE_PLAIN].rows || !l->layers[LATTICE_RESORTS].rows || !l->outer_of)
        return false;
    for (uint32_t n = 0; n < c->functions + c->classes; n++) {
        const struct callers_node *of = &c->of[n];
        uint32_t plain = n < c->functions ? of->seen + of->fixed : 0;
        mark_roots(l, &l->layers[LATTICE_PLAIN], n, 0, plain);
        mark_roots(l, &l->layers[LATTICE_RESORTS], n, plain, callers_count(of) - plain);
    }
    return true;
}

struct lattice *lattice_new(const struct callers *callers, const struct reach *reach, size_t bytes,
                            struct work *work)
{
    struct lattice *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->callers = callers;
    l->reach = reach;
    l->work = work;
    return whole_or_free(l, prepare_layers(l, bytes), lattice_free);
}

static void free_layer(struct layer *layer)
{
    for (uint32_t n = 0; layer->rows && n < layer->nodes; n++)
        free(layer->rows[n].values);
    for (uint32_t b = 0; b < LATTICE_BLOCKS; b++) {
        free(layer->blocks[b].slots);
        free(layer->blocks[b].marked);
    }
    free(layer->rows);
}

void lattice_free(struct lattice *l)
{
    if (!l)
        return;
    free_layer(&l->layers[LATTICE_PLAIN]);
    free_layer(&l->layers[LATTICE_RESORTS]);
    free(l->outer);
    free(l->outer_of);
    free(l->ways);
    free(l);
}

bool lattice_has(const struct lattice *l, uint32_t node, uint32_t unit)
{
    bool has = false;
    for (int layer = 0; !has && layer < LATTICE_LAYERS; layer++)
        has = lattice_cell_of(&l->layers[layer], node, unit) != CALLERS_NONE;
    return has;
}

uint64_t lattice_cells(const struct lattice *l)
{
    return l->cells;
}

size_t lattice_bytes(const struct lattice *l)
{
    return l->bytes;
}
