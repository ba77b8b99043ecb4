/* clone.c - see clone.h. */
#include "disambig/clone/clone.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "disambig/clone/choose.h"
#include "disambig/clone/copyable.h"
#include "disambig/clone/rivals.h"

/* Copies of copies need a round each. Each round has its share of the code, as what is ambiguous after it may be something else: of
 * lua5.4's contexts 87.4% are precise after 3 rounds, 92.1% after 6, 91.4% after 10. */
#define ROUNDS 6u

struct cloning {
    const struct clone_problem *problem;
    struct copyable copyable;
    struct clone_result best, latest; /* the latest is empty if it is the best */
};

/* By how much bodies can grow, and which nodes grow with them. */
static int read_frames(const struct cloning *c, struct clone_result *r, struct fathom_error *err)
{
    const struct clone_problem *p = c->problem;
    uint32_t count = bodies_count(r->bodies), nodes = pathmap_node_count(r->cloned.map);
    uint32_t *functions = malloc((count + 1ul) * sizeof *functions);
    r->most = malloc((count + 1ul) * sizeof *r->most);
    r->unshifted = calloc(nodes + 1ul, sizeof *r->unshifted);
    if (!functions || !r->most || !r->unshifted) {
        free(functions);
        return error_memory(err);
    }
    for (uint32_t b = 0; b < count; b++) {
        uint32_t f = bodies_function(r->bodies, b);
        r->most[b] = p->frames->most[f];
        if (bodies_copies(r->bodies, f) > 1)
            r->most[b] = c->copyable.growing[f] ? p->largest : 0;
        functions[b] = p->frames->functions[f];
    }
    map_frames_read_nodes(r->cloned.map, p->of->growth, functions, r->most, r->unshifted);
    free(functions);
    return 0;
}

/* Which bodies' pads cost instructions. NULL: out of memory. */
static bool *costly_bodies(const struct cloning *c, const struct clone_result *r)
{
    uint32_t count = bodies_count(r->bodies);
    bool *costly = malloc(count + 1ul);
    for (uint32_t b = 0; costly && b < count; b++)
        costly[b] = c->problem->search->costly[bodies_function(r->bodies, b)];
    return costly;
}

static int search(const struct cloning *c, struct clone_result *r, struct fathom_error *err)
{
    struct search_problem problem = *c->problem->search;
    bool *costly = NULL;
    int rc = cloned_map_make(c->problem->of->map, c->copyable.leaders, r->bodies, &r->cloned, err);
    if (rc == 0)
        rc = read_frames(c, r, err);
    if (rc == 0 && problem.costly && !(costly = costly_bodies(c, r)))
        rc = error_memory(err);
    problem.costly = costly;
    problem.map = r->cloned.map;
    problem.most = r->most;
    problem.unshifted = r->unshifted;
    if (rc == 0)
        rc = search_run(&problem, &r->found, err);
    free(costly);
    return rc;
}

/* Whether there is nothing left to do. */
static bool is_done(const struct cloning *c)
{
    const struct search_result *r = &c->best.found;
    double target = c->problem->search->target;
    return r->paths_precise_after == r->paths ||
           (target < 1 && (double)r->precise_after >= target * (double)r->weight);
}

/* Adds copies to `next`, for what is still ambiguous in `last`. */
static int add_copies(const struct cloning *c, const struct clone_result *last, struct clone_result *next,
                      uint64_t room, uint32_t *made, struct fathom_error *err)
{
    struct rivals_of of = {.map = c->problem->of->map,
                           .leaders = c->copyable.leaders,
                           .bodies = last->bodies,
                           .cloned = &last->cloned,
                           .pads = last->found.pads,
                           .unshifted = last->unshifted,
                           .clonable = c->copyable.functions,
                           .growing = c->copyable.growing};
    struct rivals *rivals;
    size_t count;
    int rc = rivals_find(&of, &rivals, &count, err);
    if (rc < 0)
        return rc;
    uint64_t left = room;
    rc = choose_copies(next->bodies, rivals, count, c->copyable.sizes, &left, made, err);
    next->copies = last->copies + *made;
    next->code = last->code + (room - left);
    free(rivals);
    return rc;
}

static void keep(struct cloning *c, struct clone_result *next)
{
    const struct search_result *first = &c->best.found;
    next->found.steps += (c->latest.bodies ? &c->latest : &c->best)->found.steps;
    next->found.precise_before = first->precise_before;
    next->found.paths_precise_before = first->paths_precise_before;
    next->found.paths_before = first->paths_before;
    clone_clear(&c->latest);
    if (search_value(&next->found) > search_value(&c->best.found)) {
        clone_clear(&c->best);
        c->best = *next;
    } else {
        c->latest = *next;
    }
}

/* One round. *room: bytes that it may use, with all rounds before. */
static int go_on(struct cloning *c, uint64_t room, struct fathom_error *err)
{
    const struct clone_result *last = c->latest.bodies ? &c->latest : &c->best;
    struct clone_result next = {.bodies = bodies_again(last->bodies)};
    uint32_t made = 0;
    int rc = next.bodies ? add_copies(c, last, &next, room - last->code, &made, err) : error_memory(err);
    if (rc == 0 && made)
        rc = search(c, &next, err);
    if (rc < 0 || !made)
        clone_clear(&next);
    else
        keep(c, &next);
    return rc;
}

int clone_run(const struct clone_problem *problem, struct clone_result *out, struct fathom_error *err)
{
    struct cloning c = {.problem = problem,
                        .best.bodies = bodies_new(pathmap_function_count(problem->of->map))};
    int rc =
        c.best.bodies ? copyable_find(problem->of, problem->frames, &c.copyable, err) : error_memory(err);
    if (rc == 0)
        rc = search(&c, &c.best, err);
    uint64_t all = (uint64_t)(problem->code * (double)c.copyable.code);
    for (unsigned round = 1; round <= ROUNDS && rc == 0 && !is_done(&c); round++)
        rc = go_on(&c, all * round / ROUNDS, err);
    c.best.all_code = c.copyable.code;
    copyable_clear(&c.copyable);
    clone_clear(&c.latest);
    if (rc < 0)
        clone_clear(&c.best);
    else
        *out = c.best;
    return rc;
}

void clone_clear(struct clone_result *r)
{
    bodies_free(r->bodies);
    cloned_map_clear(&r->cloned);
    free(r->found.pads);
    free(r->most);
    free(r->unshifted);
    memset(r, 0, sizeof *r);
}
