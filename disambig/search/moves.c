/*
 * moves.c - see moves.h.
 *
 * One walk records, for one node of each unit, the functions among its ancestors and how often they occur; sorted
 * by group and function, these are then compared with what is most frequent in the group.
 */
#include "disambig/search/moves.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

#define MOST_NOTES ((size_t)1 << 27) /* 1.5 GiB of notes; gnugo's 2.4 million nodes have fewer */

struct note {
    uint32_t function, unit, times;
};

struct finding {
    struct units *u;
    const struct lineage_order *order;
    uint32_t *unit_of; /* by node: the unit that it represents, or PATHMAP_NONE */
    struct note *notes;
    size_t *first;       /* index of each group's first note; group_count + 1 */
    struct note *sorted; /* notes of one group, by function */
    uint32_t *touched;   /* functions in the group's notes */
    uint32_t *many; /* by function: number of the group's notes; later, where its notes end in `sorted` */
    uint32_t *seen; /* by unit of the group: 1 + the last function seen for it */
    uint32_t *frequencies; /* by number of times, up to FEW */
    size_t block_count, block_capacity, move_capacity;
    uint32_t *block_function;
    size_t block_function_capacity;
};

#define FEW 64u /* larger numbers of times are never taken for the most frequent one */

static int walk_notes(struct finding *x, bool fill, struct fathom_error *err)
{
    const struct search_problem *p = x->u->problem;
    struct lineage walk;
    struct lineage_movers movers = search_movers(p);
    int rc = lineage_start(&walk, p->map, x->order, &movers, err);
    if (rc < 0)
        return rc;
    while (lineage_next(&walk)) {
        uint32_t unit = x->unit_of[walk.node];
        if (unit == PATHMAP_NONE)
            continue;
        uint32_t group = x->u->origins[unit].group;
        for (uint32_t i = 0; fill && i < walk.count; i++)
            x->notes[x->first[group + 1]++] = (struct note){walk.held[i], unit, walk.times[walk.held[i]]};
        if (!fill)
            x->first[group + 2] += walk.count;
    }
    lineage_end(&walk);
    return 0;
}

/* Sorts notes by group: first[g + 1] is where group g's next note goes and, at the end, where group g + 1 begins. */
static int take_notes(struct finding *x, struct fathom_error *err)
{
    struct units *u = x->u;
    for (uint32_t i = 0; i < u->count; i++)
        x->unit_of[u->origins[i].node] = i;
    int rc = walk_notes(x, false, err);
    if (rc < 0)
        return rc;
    for (uint32_t g = 0; g < u->group_count; g++)
        x->first[g + 2] += x->first[g + 1];
    size_t notes = x->first[u->group_count + 1];
    if (notes > MOST_NOTES)
        return error_set(err, EFBIG, "the map's paths are too long to search: %zu functions on them", notes);
    x->notes = malloc((notes + 1) * sizeof *x->notes);
    return x->notes ? walk_notes(x, true, err) : error_memory(err);
}

/* How often most units of the group hold the function that these notes are about. */
static uint32_t most_frequent(struct finding *x, const struct note *notes, uint32_t count, uint32_t units)
{
    uint32_t best = 0, most = units - count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t times = notes[i].times;
        if (times < FEW && ++x->frequencies[times] > most) {
            most = x->frequencies[times];
            best = times;
        }
    }
    for (uint32_t i = 0; i < count; i++)
        if (notes[i].times < FEW)
            x->frequencies[notes[i].times] = 0;
    return best;
}

static bool add_block(struct finding *x, uint32_t group, const struct note *notes, uint32_t count)
{
    struct units *u = x->u;
    const struct group *of = &u->groups[group];
    uint32_t usual = most_frequent(x, notes, count, of->count), mark = notes->function + 1;
    struct block block = {.group = group, .first = u->move_count};
    if (!vec_reserve(u->moves, u->move_count, x->move_capacity, of->count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        x->seen[notes[i].unit - of->first] = mark;
        if (notes[i].times != usual)
            u->moves[u->move_count++] =
                (struct move){notes[i].unit, (int32_t)notes[i].times - (int32_t)usual};
    }
    for (uint32_t i = 0; usual && i < of->count; i++)
        if (x->seen[i] != mark)
            u->moves[u->move_count++] = (struct move){of->first + i, -(int32_t)usual};
    block.count = (uint32_t)(u->move_count - block.first);
    if (!block.count)
        return true;
    size_t blocks = x->block_count;
    return vec_push(x->block_function, blocks, x->block_function_capacity, notes->function) &&
           vec_push(u->blocks, x->block_count, x->block_capacity, block);
}

static bool compare_group(struct finding *x, uint32_t group)
{
    const struct note *notes = x->notes + x->first[group];
    uint32_t count = (uint32_t)(x->first[group + 1] - x->first[group]), touched = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!x->many[notes[i].function]++)
            x->touched[touched++] = notes[i].function;
    for (uint32_t t = 0, end = 0; t < touched; t++) {
        uint32_t many = x->many[x->touched[t]];
        x->many[x->touched[t]] = end;
        end += many;
    }
    for (uint32_t i = 0; i < count; i++)
        x->sorted[x->many[notes[i].function]++] = notes[i];
    memset(x->seen, 0, x->u->groups[group].count * sizeof *x->seen);
    bool good = true;
    for (uint32_t t = 0, from = 0; t < touched; t++) {
        uint32_t end = x->many[x->touched[t]];
        x->many[x->touched[t]] = 0;
        good = good && add_block(x, group, x->sorted + from, end - from);
        from = end;
    }
    return good;
}

/* The blocks were made in the order of groups. */
static bool sort_blocks(struct finding *x)
{
    struct units *u = x->u;
    struct block *sorted = malloc((x->block_count + 1) * sizeof *sorted);
    u->first_block = calloc(u->functions + 2ul, sizeof *u->first_block);
    if (!sorted || !u->first_block) {
        free(sorted);
        return false;
    }
    for (size_t i = 0; i < x->block_count; i++)
        u->first_block[x->block_function[i] + 2]++;
    for (uint32_t f = 0; f < u->functions; f++)
        u->first_block[f + 1] += u->first_block[f];
    for (size_t i = 0; i < x->block_count; i++)
        sorted[u->first_block[x->block_function[i] + 1]++] = u->blocks[i];
    free(u->blocks);
    u->blocks = sorted;
    return true;
}

static int find_moves(struct finding *x, struct fathom_error *err)
{
    struct units *u = x->u;
    int rc = take_notes(x, err);
    size_t most = 0, largest = 0;
    for (uint32_t g = 0; rc == 0 && g < u->group_count; g++) {
        most = x->first[g + 1] - x->first[g] > most ? x->first[g + 1] - x->first[g] : most;
        largest = u->groups[g].count > largest ? u->groups[g].count : largest;
    }
    x->sorted = malloc((most + 1) * sizeof *x->sorted);
    x->seen = malloc((largest + 1) * sizeof *x->seen);
    if (rc < 0 || !x->sorted || !x->seen)
        return rc < 0 ? rc : error_memory(err);
    for (uint32_t g = 0; g < u->group_count; g++)
        if (!compare_group(x, g))
            return error_memory(err);
    return sort_blocks(x) ? 0 : error_memory(err);
}

int moves_find(struct units *u, const struct lineage_order *order, struct fathom_error *err)
{
    size_t functions = u->functions + 1ul;
    struct finding x = {.u = u, .order = order};
    x.unit_of = malloc((order->count + 1ul) * sizeof *x.unit_of);
    x.first = calloc(u->group_count + 2ul, sizeof *x.first);
    x.touched = malloc(functions * sizeof *x.touched);
    x.many = calloc(functions, sizeof *x.many);
    x.frequencies = calloc(FEW, sizeof *x.frequencies);
    int rc = 0;
    if (!x.unit_of || !x.first || !x.touched || !x.many || !x.frequencies)
        rc = error_memory(err);
    else {
        memset(x.unit_of, 0xff, (order->count + 1ul) * sizeof *x.unit_of);
        rc = find_moves(&x, err);
    }
    free(x.unit_of);
    free(x.notes);
    free(x.first);
    free(x.sorted);
    free(x.touched);
    free(x.many);
    free(x.seen);
    free(x.frequencies);
    free(x.block_function);
    return rc;
}
