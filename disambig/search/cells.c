/* cells.c - see cells.h. */
#include "disambig/search/cells.h"

#include <stdlib.h>
#include <string.h>

#define DIRECT_BITS 1 /* limit for a table of all heights: its size relative to a hash table's (log2) */

/* The table of the current group. */
struct bench {
    struct cell *cells;
    struct cell_sums *sums; /* NULL: the group has no twins */
    struct cell_table table;
    uint64_t precise; /* modulo 2^64 */
};

static inline struct bench bench_of(const struct cells *cells, uint32_t group)
{
    const struct cell_table *table = &cells->tables[group];
    bool twins = cells->units->groups[group].twins;
    return (struct bench){cells->cells + table->first, twins ? cells->sums + table->first : NULL, *table, 0};
}

static inline uint32_t home_cell(const struct bench *b, uint32_t place)
{
    return (place * b->table.factor) >> b->table.shift & b->table.mask;
}

/* The cell of a place, or a free one for it. */
static inline uint32_t find_cell(const struct bench *b, uint32_t place)
{
    uint32_t at = home_cell(b, place);
    while (b->cells[at].paths && b->cells[at].place != place)
        at = (at + 1) & b->table.mask;
    return at;
}

/* By Cauchy and Schwarz, n times the sum of the squares equals the square of the sum only if all numbers are
 * equal. Modulo 2^64 that is certain for two paths, and nearly certain for more; final results are recounted
 * (search.c). */
static inline bool is_precise(const struct bench *b, uint32_t at)
{
    uint64_t paths = b->cells[at].paths;
    if (__builtin_expect(!b->sums || paths <= 1, 1))
        return paths == 1;
    const struct cell_sums *s = &b->sums[at];
    return paths * s->squares == s->sum * s->sum;
}

static void add_sums(struct bench *b, uint32_t at, const struct unit *unit, const struct unit_origin *origin,
                     uint64_t sign)
{
    struct cell_sums *s = &b->sums[at];
    s->sum += sign * origin->path;
    s->squares += sign * ((uint64_t)origin->path * origin->path);
    if (unit->paths > 1) {
        s->sum += sign * origin->other;
        s->squares += sign * ((uint64_t)origin->other * origin->other);
    }
}

/* Puts a unit into a place; returns the gain. */
static inline int64_t put_unit(struct bench *b, uint32_t place, const struct unit *unit,
                               const struct unit_origin *origin)
{
    uint32_t at = find_cell(b, place);
    struct cell *c = &b->cells[at];
    bool before = is_precise(b, at);
    int64_t gain = before ? -c->value : 0;
    c->place = place;
    c->value += unit->value;
    c->paths += unit->paths;
    if (b->sums)
        add_sums(b, at, unit, origin, 1);
    bool after = is_precise(b, at);
    b->precise += (uint64_t)after - before;
    return gain + (after ? c->value : 0);
}

/* Frees a cell, and moves cells behind it that probing would no longer find. */
static inline void vacate_cell(struct bench *b, uint32_t hole)
{
    bool direct = b->table.factor == 1; /* each place has a cell of its own */
    for (uint32_t at = (hole + 1) & b->table.mask; !direct && b->cells[at].paths;
         at = (at + 1) & b->table.mask) {
        uint32_t wanted = home_cell(b, b->cells[at].place);
        if (((at - wanted) & b->table.mask) < ((at - hole) & b->table.mask))
            continue;
        b->cells[hole] = b->cells[at];
        b->cells[at].paths = 0;
        if (b->sums) {
            b->sums[hole] = b->sums[at];
            b->sums[at] = (struct cell_sums){0};
        }
        hole = at;
    }
    b->cells[hole] = (struct cell){0};
}

/* Removes a unit again; returns the gain, which may be negative. */
static inline int64_t take_unit(struct bench *b, uint32_t place, const struct unit *unit,
                                const struct unit_origin *origin)
{
    uint32_t at = find_cell(b, place);
    struct cell *c = &b->cells[at];
    bool before = is_precise(b, at);
    int64_t gain = before ? -c->value : 0;
    c->value -= unit->value;
    c->paths -= unit->paths;
    if (b->sums)
        add_sums(b, at, unit, origin, UINT64_MAX);
    bool after = is_precise(b, at);
    gain += after ? c->value : 0;
    b->precise += (uint64_t)after - before;
    if (!c->paths)
        vacate_cell(b, at);
    return gain;
}

/* Puts the units of a block where they are with `by` more bytes of pad. */
static int64_t put_block(struct cells *cells, struct bench *b, const struct block *block, uint32_t by)
{
    const struct units *u = cells->units;
    const struct move *moves = u->moves + block->first;
    int64_t gain = 0;
    for (uint32_t m = 0; m < block->count; m++) {
        const struct unit *unit = &u->units[moves[m].unit];
        gain += put_unit(b, unit->place + by * (uint32_t)moves[m].times, unit, &u->origins[moves[m].unit]);
    }
    return gain;
}

static int64_t take_block(struct cells *cells, struct bench *b, const struct block *block, uint32_t by)
{
    const struct units *u = cells->units;
    const struct move *moves = u->moves + block->first;
    int64_t gain = 0;
    for (uint32_t m = 0; m < block->count; m++) {
        const struct unit *unit = &u->units[moves[m].unit];
        gain += take_unit(b, unit->place + by * (uint32_t)moves[m].times, unit, &u->origins[moves[m].unit]);
    }
    return gain;
}

void cells_try(struct cells *cells, uint32_t function, uint32_t pad, const uint32_t *pads, uint32_t count,
               int64_t *gains)
{
    struct units *u = cells->units;
    memset(gains, 0, count * sizeof *gains);
    for (size_t i = u->first_block[function]; i < u->first_block[function + 1]; i++) {
        const struct block *block = &u->blocks[i];
        if (cells->weighted_only && !u->groups[block->group].weighted)
            continue;
        struct bench b = bench_of(cells, block->group);
        int64_t without = take_block(cells, &b, block, 0);
        for (uint32_t o = 0; o < count; o++) {
            gains[o] += without + put_block(cells, &b, block, pads[o] - pad);
            take_block(cells, &b, block, pads[o] - pad);
        }
        put_block(cells, &b, block, 0);
        cells->work += (uint64_t)block->count * (count + 1);
    }
}

void cells_change(struct cells *cells, uint32_t function, uint32_t from, uint32_t to)
{
    struct units *u = cells->units;
    for (size_t i = u->first_block[function]; i < u->first_block[function + 1]; i++) {
        const struct block *block = &u->blocks[i];
        const struct move *moves = u->moves + block->first;
        struct bench b = bench_of(cells, block->group);
        cells->value += take_block(cells, &b, block, 0);
        for (uint32_t m = 0; m < block->count; m++)
            u->units[moves[m].unit].place += (to - from) * (uint32_t)moves[m].times;
        cells->value += put_block(cells, &b, block, 0);
        cells->precise += b.precise;
        cells->work += block->count;
    }
}

bool cells_unit_precise(const struct cells *cells, uint32_t unit)
{
    struct bench b = bench_of(cells, cells->units->origins[unit].group);
    return is_precise(&b, find_cell(&b, cells->units->units[unit].place));
}

static unsigned bits_for(uint64_t count)
{
    unsigned bits = 2;
    while (((uint64_t)1 << bits) < count && bits < 31)
        bits++;
    return bits;
}

/* With any pads, a group's heights range from its lowest one to the limit, in steps of a power of two. A table of
 * all of them has a cell for each, with neighbours adjacent; only if that is far more than the number of units,
 * they are hashed. */
static struct cell_table choose_table(const struct units *units, const struct group *group, uint64_t limit)
{
    uint32_t low = UINT32_MAX, differ = PAD_UNIT;
    for (uint32_t i = 0; i < group->count; i++) {
        uint32_t place = units->units[group->first + i].place;
        differ |= place ^ units->units[group->first].place;
        low = place < low ? place : low;
    }
    unsigned step = (unsigned)__builtin_ctz(differ), bits = bits_for(2 * (uint64_t)group->count);
    unsigned range = bits_for(((limit - low) >> step) + 1);
    if (range <= bits + DIRECT_BITS)
        return (struct cell_table){.mask = ((uint32_t)1 << range) - 1, .factor = 1, .shift = step};
    return (struct cell_table){.mask = ((uint32_t)1 << bits) - 1, .factor = 0x9e3779b1u, .shift = 32 - bits};
}

int cells_make(struct cells *cells, struct units *units, uint64_t limit, struct fathom_error *err)
{
    *cells = (struct cells){.units = units};
    cells->tables = malloc((units->group_count + 1ul) * sizeof *cells->tables);
    size_t all = 0;
    for (uint32_t g = 0; cells->tables && g < units->group_count; g++) {
        cells->tables[g] = choose_table(units, &units->groups[g], limit);
        cells->tables[g].first = all;
        all += cells->tables[g].mask + 1ul;
    }
    bool twins = false;
    for (uint32_t g = 0; g < units->group_count; g++)
        twins |= units->groups[g].twins;
    cells->cells = calloc(all + 1, sizeof *cells->cells);
    cells->sums = twins ? calloc(all + 1, sizeof *cells->sums) : NULL;
    if (!cells->tables || !cells->cells || (twins && !cells->sums)) {
        cells_clear(cells);
        return error_memory(err);
    }
    for (uint32_t g = 0; g < units->group_count; g++) {
        struct bench b = bench_of(cells, g);
        for (uint32_t i = 0; i < units->groups[g].count; i++) {
            const struct unit *unit = &units->units[units->groups[g].first + i];
            cells->value += put_unit(&b, unit->place, unit, &units->origins[units->groups[g].first + i]);
        }
        cells->precise += b.precise;
    }
    return 0;
}

void cells_clear(struct cells *cells)
{
    free(cells->cells);
    free(cells->sums);
    free(cells->tables);
    *cells = (struct cells){0};
}
