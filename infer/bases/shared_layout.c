/* shared_layout.c - see shared_layout.h. */
#include "infer/bases/shared_layout.h"

#include <errno.h>
#include <stdlib.h>

#include "base/sort.h"

#define PAGE          4096u
#define DISTANCES     (PAGE / 8)
#define POSITIONS_MAX 256u /* examined per place */
#define BASES_MAX     16u  /* candidates per place: with more, one has the right distance by chance */

/* A place: positions near each other, first to end - 1. */
struct place_on {
    size_t first, end;
    uint64_t bases[BASES_MAX]; /* those at which half of the samples have heights that are in the map */
    size_t base_count;
};

struct claim {
    uint64_t base, samples;
};

static unsigned distance_of(uint64_t base)
{
    return (unsigned)(base % PAGE / 8);
}

/* The next place, at or after `first`; false if there is none. */
static bool next_place(const struct positions *g, size_t first, struct place_on *out)
{
    while (first < g->count && g->positions[first].taken)
        first++;
    size_t end = first;
    while (end < g->count && !g->positions[end].taken &&
           (end == first || g->positions[end].cfa - g->positions[end - 1].cfa <= POSITIONS_NEAR))
        end++;
    *out = (struct place_on){.first = first, .end = end};
    return end > first;
}

/* Finds the bases that the place can have; none if there are too many. claims: SHARED_LEVELS * POSITIONS_MAX, scratch. -ENOMEM. */
static int find_bases(const struct positions *g, struct place_on *place, struct claim *claims)
{
    size_t count = 0;
    uint64_t samples = 0;
    for (size_t i = place->first; i < place->end; i++) {
        const struct position *position = &g->positions[i];
        const struct levels *levels = shared_levels_of(g->levels, position->function);
        if (!levels)
            return -ENOMEM;
        samples += position->samples;
        for (uint32_t l = 0; l < levels->count && i - place->first < POSITIONS_MAX; l++)
            claims[count++] = (struct claim){position->cfa + levels->of[l].height, position->samples};
    }
    sort_by(claims, count, base);
    for (size_t i = 0, end; i < count; i = end) {
        uint64_t agree = 0;
        for (end = i; end < count && claims[end].base == claims[i].base; end++)
            agree += claims[end].samples;
        if (agree < samples - samples / 2 || claims[i].base < g->positions[place->end - 1].cfa)
            continue;
        if (place->base_count == BASES_MAX) {
            place->base_count = 0;
            return 0;
        }
        place->bases[place->base_count++] = claims[i].base;
    }
    return 0;
}

/* The distance that enough places have, if no other has nearly as many; DISTANCES: none. */
static unsigned clear_winner(const uint32_t places[DISTANCES])
{
    unsigned best = 0;
    uint32_t rival = 0;
    for (unsigned i = 1; i < DISTANCES; i++)
        best = places[i] > places[best] ? i : best;
    for (unsigned i = 0; i < DISTANCES; i++)
        rival = i != best && places[i] > rival ? places[i] : rival;
    bool clear = places[best] >= LAYOUT_QUORUM && rival + 2 <= places[best] && rival * 4 <= places[best] * 3;
    return clear ? best : DISTANCES;
}

/* Uses the known stacks if these are enough, else all places. */
static unsigned find_layout(const struct positions *g, struct shared_stacks *stacks, struct claim *claims,
                            int *rc)
{
    uint32_t places[DISTANCES] = {0}, last[DISTANCES] = {0}, number = 0;
    struct shared_stack *known;
    size_t count = shared_stacks_of(stacks, g->positions[0].owner, &known);
    for (size_t i = 0; i < count; i++)
        places[distance_of(known[i].base)]++;
    unsigned layout = clear_winner(places);
    if (layout != DISTANCES)
        return layout;
    struct place_on place;
    for (size_t at = 0; *rc == 0 && next_place(g, at, &place); at = place.end) {
        *rc = find_bases(g, &place, claims);
        number++;
        for (size_t i = 0; i < place.base_count; i++) {
            unsigned distance = distance_of(place.bases[i]);
            places[distance] += last[distance] != number; /* once for each place */
            last[distance] = number;
        }
    }
    return clear_winner(places);
}

/* The only base of the place at this distance; 0: none or several. */
static uint64_t base_by_layout(const struct place_on *place, unsigned layout)
{
    uint64_t base = 0;
    for (size_t i = 0; i < place->base_count; i++) {
        if (distance_of(place->bases[i]) != layout)
            continue;
        if (base)
            return 0;
        base = place->bases[i];
    }
    return base;
}

int shared_layout_settle(struct positions *g, struct shared_stacks *stacks, uint64_t *won)
{
    struct claim *claims = malloc(POSITIONS_MAX * SHARED_LEVELS * sizeof *claims);
    int rc = claims ? 0 : -ENOMEM;
    unsigned layout = rc == 0 ? find_layout(g, stacks, claims, &rc) : DISTANCES;
    struct place_on place;
    for (size_t at = 0; rc == 0 && layout != DISTANCES && next_place(g, at, &place); at = place.end) {
        rc = find_bases(g, &place, claims);
        uint64_t base = base_by_layout(&place, layout), low = g->positions[place.end - 1].low;
        /* With another stack between the place and this base, the place is not on the base's stack. */
        size_t above = positions_above(g, base);
        if (rc < 0 || !base || above != place.end)
            continue;
        low = positions_occupy(g, low, base);
        (*won)++;
        rc = shared_stacks_add(stacks, g->positions[0].owner, low, base) ? 0 : -ENOMEM;
    }
    free(claims);
    return rc;
}
