/* lattice.c - the pass from the root inwards, block by block; see lattice.h. */
#include "infer/model/lattice.h"

#include <errno.h>
#include <stdlib.h>

#include "infer/model/cells.h"

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
    struct block *b = &l->blocks[unit / LATTICE_BLOCK];
    if (!b->slots) {
        b->slots = spend(l, l->callers->nodes, sizeof *b->slots);
        b->marked = b->slots ? spend(l, LATTICE_BLOCK * l->words, sizeof *b->marked) : NULL;
    }
    return b->marked ? b : NULL;
}

/* A path may lead there. */
static void mark(struct lattice *l, uint32_t node, uint32_t unit)
{
    if (unit >= LATTICE_UNITS || (l->needed && !l->needed[node]))
        return;
    struct block *b = block_of(l, unit);
    if (!b)
        return;
    b->slots[node].live |= UINT64_C(1) << unit % LATTICE_BLOCK;
    b->marked[unit % LATTICE_BLOCK * l->words + node / 64] |= UINT64_C(1) << node % 64;
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
    for (uint32_t i = n->first_callee; i < n->first_callee + n->callees; i++)
        if (l->resorts || c->callees[i].node < c->functions)
            mark(l, c->callees[i].node, unit + c->callees[i].rise);
    if (!l->resorts)
        return;
    if (node >= c->functions + c->classes && lattice_open_of(l, node)->count)
        mark(l, node, unit + CALLERS_STEP);
    if (node >= c->functions || n->open == CALLERS_NONE)
        return;
    uint32_t sizes = lattice_open_of(l, n->open)->count ? 1 : CALLERS_OPEN;
    for (uint32_t i = 0; i < sizes; i++)
        mark(l, n->open, unit + i * CALLERS_STEP);
}

/* Fills in a cell, for whose values there is room. false: out of memory. */
static bool fill_cell(struct lattice *l, uint32_t node, uint32_t unit, struct cell *cell)
{
    const struct callers *c = l->callers;
    struct lattice_value *values = &l->rows[node].values[cell->first];
    if (node >= c->functions + c->classes && lattice_open_of(l, node)->count) {
        cell->kind = LATTICE_RESORT;
        cell->paths = lattice_fill_open(l, node, unit, values);
        return true;
    }
    enum lattice_kind kind;
    if (!lattice_meet(l, node, unit, &kind))
        return false;
    cell->kind = (uint8_t)kind;
    cell->wide = kind != LATTICE_RESORT && l->rows[node].width > 1;
    cell->paths = lattice_fill_met(l, node, kind, cell->wide ? l->rows[node].width : 1, values);
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
        l->blocks[unit / LATTICE_BLOCK].slots[node].live &= ~(UINT64_C(1) << unit % LATTICE_BLOCK);
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
    const uint64_t *marked = l->blocks[unit / LATTICE_BLOCK].marked + unit % LATTICE_BLOCK * l->words;
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

/* Where the cells of a block will stand. */
static bool begin_block(struct lattice *l, uint32_t b)
{
    const struct block *block = block_of(l, b * LATTICE_BLOCK);
    if (!block)
        return false;
    for (uint32_t n = 0; n < l->callers->nodes; n++)
        block->slots[n].first = l->rows[n].count;
    return true;
}

int lattice_extend(struct lattice *l, uint32_t unit)
{
    if (unit >= LATTICE_UNITS)
        return -ENOSPC;
    uint32_t end = (unit / LATTICE_BLOCK + 1) * LATTICE_BLOCK;
    for (; l->unit < end && !l->full; l->unit++)
        if ((l->unit % LATTICE_BLOCK == 0 && !begin_block(l, l->unit / LATTICE_BLOCK)) ||
            !make_unit(l, l->unit))
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
    l->met_of = malloc(((size_t)most + 1) * sizeof *l->met_of);
    if (!l->rows || !l->met_of)
        return false;
    for (uint32_t n = 0; n < l->callers->nodes; n++)
        l->rows[n].width = n < l->callers->functions ? 1 + l->callers->of[n].pairs : 1;
    mark_roots(l);
    return true;
}

struct lattice *lattice_new(const struct graph *graph, const struct callers *callers, const bool *needed,
                            bool resorts, size_t bytes)
{
    struct lattice *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->graph = graph;
    l->limit = bytes;
    l->callers = callers;
    l->needed = needed;
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
    for (uint32_t b = 0; b < LATTICE_BLOCKS; b++) {
        free(l->blocks[b].slots);
        free(l->blocks[b].marked);
    }
    free(l->rows);
    free(l->met);
    free(l->met_of);
    free(l->ways);
    free(l);
}

bool lattice_find(const struct lattice *l, uint32_t node, uint32_t unit, struct lattice_cell *out)
{
    const struct row *row = &l->rows[node];
    uint32_t cell = lattice_cell_of(l, node, unit);
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
