/*
 * choose.c - see choose.h.
 *
 * The callers of a body are split in two so that the worth of the conflicts between the halves is large (a
 * maximum cut, found by moving one caller after the other); one half gets a copy. Both halves can be split again.
 * The split with the most worth for its cost comes first; the cost is bytes of code, and guards executed where
 * callers use pointers, each as a share of what is available.
 */
#include "disambig/clone/choose.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"

#define SWEEPS 16u /* over the callers of a body: few are needed */

/* A body whose callers may be split. */
struct part {
    uint32_t body;
    struct conflicts *conflicts; /* of its callers */
    size_t count;
    double worth;    /* of the best split found; 0: none */
    uint64_t code;   /* bytes */
    uint64_t guards; /* executed with this split */
};

struct caller {
    uint32_t number;
    bool side;     /* it gets the copy */
    double pull;   /* gain of changing sides */
    uint64_t cost; /* guards executed if it gets the copy; POINTED_FULL: it cannot */
};

struct choosing {
    struct bodies *bodies;
    const uint32_t *sizes;
    struct choose_budget *budget;
    uint64_t most_guards; /* guards available at first */
    double guard_cost;    /* of an executed guard, in bytes of code */
    struct part *parts;
    uint32_t count, part_capacity;
    struct caller *callers; /* of the current part, ascending; CONFLICT_OTHERS last */
    uint32_t caller_count, caller_capacity;
};

static uint32_t find_caller(const struct choosing *c, uint32_t caller)
{
    return lower_bound(i, 0u, c->caller_count, c->callers[i].number < caller);
}

static bool list_callers(struct choosing *c, const struct part *part)
{
    uint32_t most = (uint32_t)part->count * 2;
    if (!vec_reserve(c->callers, 0, c->caller_capacity, most))
        return false;
    for (size_t i = 0; i < part->count; i++) {
        c->callers[2 * i] = (struct caller){.number = part->conflicts[i].a};
        c->callers[2 * i + 1] = (struct caller){.number = part->conflicts[i].b};
    }
    sort_by(c->callers, most, number);
    c->caller_count = 0;
    for (uint32_t i = 0; i < most; i++)
        if (!c->caller_count || c->callers[c->caller_count - 1].number != c->callers[i].number)
            c->callers[c->caller_count++] = c->callers[i];
    for (uint32_t i = 0; i < c->caller_count; i++) {
        struct caller *caller = &c->callers[i];
        if (caller->number == CONFLICT_OTHERS)
            caller->cost = POINTED_FULL;
        else if (c->budget->edges)
            caller->cost = pointed_cost(c->budget->edges, c->bodies, caller->number, part->body);
    }
    return true;
}

static void change_side(struct choosing *c, const struct part *part, uint32_t caller)
{
    c->callers[caller].side = !c->callers[caller].side;
    c->callers[caller].pull = -c->callers[caller].pull;
    for (size_t i = 0; i < part->count; i++) {
        uint32_t a = find_caller(c, part->conflicts[i].a), b = find_caller(c, part->conflicts[i].b);
        if (a != caller && b != caller)
            continue;
        uint32_t other = a == caller ? b : a;
        bool parted = c->callers[a].side != c->callers[b].side;
        c->callers[other].pull += (parted ? -2 : 2) * part->conflicts[i].worth;
    }
}

/* Whether the caller may change sides. */
static bool is_free(const struct choosing *c, const struct part *part, uint32_t caller)
{
    return c->callers[caller].cost != POINTED_FULL &&
           (c->callers[caller].side || c->callers[caller].cost <= c->most_guards - part->guards);
}

/* Gives the copy to the other half if that needs fewer guards and is possible. */
static void turn_sides(struct choosing *c, struct part *part)
{
    uint64_t others = 0;
    for (uint32_t i = 0; i < c->caller_count; i++) {
        if (c->callers[i].cost == POINTED_FULL)
            return;
        others += c->callers[i].side ? 0 : c->callers[i].cost;
    }
    if (others >= part->guards)
        return;
    part->guards = others;
    for (uint32_t i = 0; i < c->caller_count; i++)
        c->callers[i].side = !c->callers[i].side;
}

static bool split_part(struct choosing *c, struct part *part)
{
    if (!list_callers(c, part))
        return false;
    for (size_t i = 0; i < part->count; i++) {
        c->callers[find_caller(c, part->conflicts[i].a)].pull += part->conflicts[i].worth;
        c->callers[find_caller(c, part->conflicts[i].b)].pull += part->conflicts[i].worth;
    }
    part->worth = 0;
    part->guards = 0;
    for (unsigned sweep = 0; sweep < SWEEPS; sweep++) {
        uint32_t best = c->caller_count;
        bool changed = false;
        for (uint32_t i = 0; sweep == 0 && i < c->caller_count; i++)
            if (is_free(c, part, i) &&
                (best == c->caller_count || c->callers[i].pull > c->callers[best].pull))
                best = i;
        for (uint32_t k = 0; k < c->caller_count; k++) {
            uint32_t i = best < c->caller_count ? (best + k) % c->caller_count : k;
            if (!is_free(c, part, i) || !(c->callers[i].pull > 0))
                continue;
            part->worth += c->callers[i].pull;
            part->guards += c->callers[i].side ? -c->callers[i].cost : c->callers[i].cost;
            change_side(c, part, i);
            changed = true;
        }
        if (!changed)
            break;
    }
    if (part->guards)
        turn_sides(c, part);
    return true;
}

static bool add_part(struct choosing *c, uint32_t body, const struct conflicts *conflicts, size_t count)
{
    struct part part = {
        .body = body, .count = count, .code = 1ul + c->sizes[bodies_function(c->bodies, body)]};
    if (!count)
        return true;
    part.conflicts = malloc(count * sizeof *part.conflicts);
    if (!part.conflicts)
        return false;
    memcpy(part.conflicts, conflicts, count * sizeof *part.conflicts);
    if (split_part(c, &part) && vec_push(c->parts, c->count, c->part_capacity, part))
        return true;
    free(part.conflicts);
    return false;
}

static bool part_fits(const struct choosing *c, const struct part *part)
{
    return part->worth > 0 && part->code <= c->budget->code && part->guards <= c->budget->guards;
}

/* Redirects a caller to a copy of the part's body. */
static bool lead_caller(struct choosing *c, const struct part *part, uint32_t caller, uint32_t copy)
{
    if (c->budget->edges && !bodies_copy(c->bodies, part->body))
        pointed_add_guards(c->budget->edges, caller, bodies_function(c->bodies, copy));
    return bodies_lead(c->bodies, caller, copy);
}

/* Gives one half of a part's callers a copy; both halves become parts. */
static bool apply_split(struct choosing *c, struct part *part, uint32_t *made)
{
    size_t ends[2] = {0, part->count}; /* conflicts on the body's side come first, those on the copy's last */
    bool good = split_part(c, part);
    if (!good || !part_fits(c, part)) { /* other copies may have used the guards up */
        part->worth = 0;
        return good;
    }
    uint32_t copy = bodies_add(c->bodies, part->body);
    good = copy != UINT32_MAX;
    c->budget->code -= part->code;
    c->budget->guards -= part->guards;
    ++*made;
    for (uint32_t i = 0; good && i < c->caller_count; i++)
        good = !c->callers[i].side || lead_caller(c, part, c->callers[i].number, copy);
    struct conflicts *sorted = malloc((part->count + 1) * sizeof *sorted);
    good = good && sorted;
    for (size_t i = 0; good && i < part->count; i++) {
        bool side = c->callers[find_caller(c, part->conflicts[i].a)].side;
        if (side == c->callers[find_caller(c, part->conflicts[i].b)].side)
            sorted[side ? --ends[1] : ends[0]++] = part->conflicts[i];
    }
    size_t count = part->count;
    uint32_t body = part->body;
    part->worth = 0;
    good = good && add_part(c, body, sorted, ends[0]) && add_part(c, copy, sorted + ends[1], count - ends[1]);
    free(sorted);
    return good;
}

static double cost_of(const struct choosing *c, const struct part *part)
{
    return (double)part->code + (double)part->guards * c->guard_cost;
}

static struct part *best_part(const struct choosing *c)
{
    struct part *best = NULL;
    for (uint32_t i = 0; i < c->count; i++) {
        struct part *p = &c->parts[i];
        if (part_fits(c, p) && (!best || p->worth / cost_of(c, p) > best->worth / cost_of(c, best)))
            best = p;
    }
    return best;
}

static bool choose_part(struct choosing *c, const struct conflicts *conflicts, size_t count, uint32_t *made)
{
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i; end < count && conflicts[end].body == conflicts[i].body; end++)
            ;
        if (!add_part(c, conflicts[i].body, conflicts + i, end - i))
            return false;
    }
    for (struct part *best; (best = best_part(c)) != NULL;)
        if (!apply_split(c, best, made))
            return false;
    return true;
}

int choose_copies(struct bodies *bodies, const struct conflicts *conflicts, size_t count,
                  const uint32_t *sizes, struct choose_budget *budget, uint32_t *made,
                  struct fathom_error *err)
{
    struct choosing c = {.bodies = bodies,
                         .sizes = sizes,
                         .budget = budget,
                         .most_guards = budget->guards,
                         .guard_cost = budget->guards ? (double)budget->code / (double)budget->guards : 0};
    *made = 0;
    bool good = choose_part(&c, conflicts, count, made);
    for (uint32_t i = 0; i < c.count; i++)
        free(c.parts[i].conflicts);
    free(c.parts);
    free(c.callers);
    return good ? 0 : error_memory(err);
}
