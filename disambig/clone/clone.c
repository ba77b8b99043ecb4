/* clone.c - see clone.h. */
#include "disambig/clone/clone.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "disambig/clone/choose.h"
#include "disambig/clone/conflicts.h"

/* Copies of copies need a round each. Each round gets a share of the code, as other paths may be ambiguous after
 * it: of lua5.4's contexts 87.4% are precise after 3 rounds, 92.1% after 6, 91.4% after 10. */
#define ROUNDS 6u
/* Additional rounds with guards. */
#define EDGE_ROUNDS 3u

/* Which functions of a map can have copies, and which of its calls can lead to them. */
struct copyable {
    bool *functions; /* by function of the map: can have copies */
    bool *growing;   /* by function of the map: with larger frames */
    uint32_t *sizes; /* by function of the map: bytes of one copy's code */
    struct redirects redirectors;
    uint64_t code; /* bytes of all functions of the image */
};

struct cloning {
    const struct clone_problem *problem;
    struct copyable copyable;
    bool edges;                       /* calls through pointers may lead to copies, too */
    struct clone_result best, latest; /* `latest` is empty if it is the best */
};

static void measure_code(const struct map_frames_of *of, const struct map_frames *frames, uint32_t *by_owner,
                         struct copyable *c)
{
    for (uint32_t i = 0; i < image_function_count(of->image); i++) {
        const struct image_function *f = image_function(of->image, i);
        by_owner[f->owner] += f->size;
        c->code += f->size;
    }
    for (uint32_t f = 0; f < pathmap_function_count(of->map); f++)
        c->sizes[f] = frames->functions[f] == IMAGE_NO_FUNCTION ? 0 : by_owner[frames->functions[f]];
}

/* Tries two copies of each requested function, with larger or unchanged frames. */
static int try_copies(const struct map_frames_of *of, const bool *asked, bool grow, bool *out,
                      struct fathom_error *err)
{
    uint32_t all = pathmap_function_count(of->map), count = 0;
    struct pad *pads = malloc((2ul * all + 1) * sizeof *pads);
    bool *movable = malloc(2ul * all + 1);
    int rc = pads && movable ? 0 : error_memory(err);
    for (uint32_t f = 0; f < all && rc == 0; f++)
        for (uint32_t copy = 0; copy < 2 && asked[f]; copy++)
            pads[count++] = (struct pad){pathmap_function(of->map, f).address, grow ? GROWTH_MOST : 0, copy};
    if (rc == 0 && count)
        rc = enlarge_movable(of->image, of->growth, &(struct enlarge_plan){.pads = pads, .count = count},
                             movable, err);
    count = 0;
    for (uint32_t f = 0; f < all && rc == 0; f++)
        if (asked[f]) {
            out[f] = movable[count] && movable[count + 1];
            count += 2;
        }
    free(pads);
    free(movable);
    return rc;
}

/* Drops guards in callers that cannot be emitted anew. */
static void drop_guards(const struct pathmap *map, struct copyable *c)
{
    for (uint32_t i = 0; i < pathmap_node_count(map); i++)
        if (c->redirectors.pointed[i] && !c->functions[pathmap_node(map, c->redirectors.nodes[i]).function]) {
            c->redirectors.pointed[i] = false;
            c->redirectors.nodes[i] = PATHMAP_NONE;
        }
}

static int find_functions(const struct map_frames_of *of, const struct map_frames *frames, struct copyable *c,
                          struct fathom_error *err)
{
    uint32_t all = pathmap_function_count(of->map);
    bool *asked = calloc(all + 1ul, sizeof *asked);
    if (!asked)
        return error_memory(err);
    for (uint32_t i = 0; i < pathmap_node_count(of->map); i++) {
        uint32_t redirector = c->redirectors.nodes[i];
        if (redirector != PATHMAP_NONE)
            c->functions[pathmap_node(of->map, i).function] = true;
        if (c->redirectors.pointed[i]) /* guards require that the function is emitted anew */
            c->functions[pathmap_node(of->map, redirector).function] = true;
    }
    for (uint32_t f = 0; f < all; f++)
        asked[f] =
            c->functions[f] && (growth_is_understood(of->growth, frames->functions[f]) ||
                                (of->inserted && growth_by_insertion(of->growth, frames->functions[f])));
    int rc = try_copies(of, asked, true, c->growing, err);
    for (uint32_t f = 0; f < all; f++) {
        asked[f] = c->functions[f] && !c->growing[f];
        c->functions[f] = c->growing[f];
    }
    if (rc == 0)
        rc = try_copies(of, asked, false, c->functions, err);
    free(asked);
    if (rc == 0)
        drop_guards(of->map, c);
    return rc;
}

static void clear_copyable(struct copyable *c)
{
    free(c->functions);
    free(c->growing);
    free(c->sizes);
    redirects_clear(&c->redirectors);
    memset(c, 0, sizeof *c);
}

/* Errors as of enlarge_movable(). */
static int find_copyable(const struct map_frames_of *of, const struct map_frames *frames,
                         struct copyable *out, struct fathom_error *err)
{
    size_t functions = pathmap_function_count(of->map) + 1ul;
    struct copyable c = {.functions = calloc(functions, sizeof *c.functions),
                         .growing = calloc(functions, sizeof *c.growing),
                         .sizes = calloc(functions, sizeof *c.sizes)};
    uint32_t *by_owner = calloc(image_function_count(of->image) + 1ul, sizeof *by_owner);
    struct calls *calls = NULL;
    int rc = c.functions && c.growing && c.sizes && by_owner && calls_build(of->image, &calls, err) == 0
                 ? 0
                 : error_memory(err);
    if (rc == 0)
        measure_code(of, frames, by_owner, &c);
    if (rc == 0)
        rc = redirects_find(of, frames, calls, &c.redirectors, err);
    if (rc == 0)
        rc = find_functions(of, frames, &c, err);
    calls_free(calls);
    free(by_owner);
    if (rc < 0)
        clear_copyable(&c);
    else
        *out = c;
    return rc;
}

/* Whether the body has guards, so it must be emitted anew. */
static bool is_guarded(const struct clone_result *r, uint32_t body)
{
    const struct pointed_place *places = r->edges.places;
    for (uint32_t i = 0; i < r->edges.place_count; i++)
        if (places[i].body == body && places[i].guards)
            return true;
    return false;
}

/* Determines by how much bodies can grow, and which nodes move with them. */
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
        if (bodies_copies(r->bodies, f) > 1 || is_guarded(r, b))
            r->most[b] = c->copyable.growing[f] ? p->largest : 0;
        functions[b] = p->frames->functions[f];
    }
    map_frames_read_nodes(r->cloned.map, p->of->growth, functions, r->most, r->unshifted);
    free(functions);
    return 0;
}

/* The bodies whose pads cost instructions. NULL: out of memory. */
static bool *costly_bodies(const struct cloning *c, const struct clone_result *r)
{
    uint32_t count = bodies_count(r->bodies);
    bool *costly = malloc(count + 1ul);
    for (uint32_t b = 0; costly && b < count; b++)
        costly[b] = c->problem->search->costly[bodies_function(r->bodies, b)];
    return costly;
}

/* Finds the calls through pointers, and how each node was reached. */
static int find_edges(const struct cloning *c, struct clone_result *r, struct fathom_error *err)
{
    const uint32_t *heads = c->copyable.redirectors.heads, *numbers = r->cloned.numbers;
    uint32_t nodes = pathmap_node_count(r->cloned.map);
    pointed_clear(&r->edges);
    free(r->heads);
    r->heads = malloc((nodes + 1ul) * sizeof *r->heads);
    if (!r->heads)
        return error_memory(err);
    for (uint32_t i = 0; i < nodes; i++)
        r->heads[numbers[i]] = heads[i] == PATHMAP_NONE ? PATHMAP_NONE : numbers[heads[i]];
    return pointed_find(c->problem->of->map, &c->copyable.redirectors, r->bodies, &r->cloned, &r->edges, err);
}

static int search_pads(const struct cloning *c, struct clone_result *r, struct fathom_error *err)
{
    struct search_problem problem = *c->problem->search;
    bool *costly = NULL;
    int rc = cloned_map_make(c->problem->of->map, c->copyable.redirectors.nodes, r->bodies, &r->cloned, err);
    if (rc == 0 && c->edges)
        rc = find_edges(c, r, err);
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

/* Whether nothing is left to improve. */
static bool is_done(const struct cloning *c)
{
    const struct search_result *r = &c->best.found;
    double target = c->problem->search->target;
    return r->paths_precise_after == r->paths ||
           (target < 1 && (double)r->precise_after >= target * (double)r->weight);
}

static uint64_t count_calls(const struct pathmap *map)
{
    uint64_t calls = 0;
    for (uint32_t i = 0; i < pathmap_node_count(map); i++)
        calls += pathmap_node(map, i).passes;
    return calls;
}

/* How many more guards may be executed. */
static uint64_t guards_left(const struct cloning *c, const struct clone_result *last)
{
    uint64_t all = (uint64_t)(c->problem->guards * (double)count_calls(c->problem->of->map));
    uint64_t used = pointed_sum(&last->edges).executed;
    return all > used ? all - used : 0;
}

/* Adds copies to `next` for what is still ambiguous in `last`. */
static int add_copies(const struct cloning *c, const struct clone_result *last, struct clone_result *next,
                      uint64_t code, uint32_t *made, struct fathom_error *err)
{
    struct conflicts_of of = {.map = c->problem->of->map,
                              .redirectors = c->copyable.redirectors.nodes,
                              .bodies = last->bodies,
                              .cloned = &last->cloned,
                              .pads = last->found.pads,
                              .unshifted = last->unshifted,
                              .clonable = c->copyable.functions,
                              .growing = c->copyable.growing};
    struct conflicts *conflicts;
    size_t count;
    int rc = conflicts_find(&of, &conflicts, &count, err);
    if (rc < 0)
        return rc;
    struct choose_budget left = {.code = code};
    if (c->edges) {
        left.guards = guards_left(c, last);
        left.edges = &next->edges; /* shared: the choice adds to them */
        rc = pointed_find(of.map, &c->copyable.redirectors, last->bodies, &last->cloned, &next->edges, err);
    }
    if (rc == 0)
        rc = choose_copies(next->bodies, conflicts, count, c->copyable.sizes, &left, made, err);
    next->copies = last->copies + *made;
    next->code = last->code + (code - left.code);
    free(conflicts);
    return rc;
}

static void keep_better(struct cloning *c, struct clone_result *next)
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

/* Runs one round. code: bytes available to this and all earlier rounds. */
static int run_round(struct cloning *c, uint64_t code, struct fathom_error *err)
{
    const struct clone_result *last = c->latest.bodies ? &c->latest : &c->best;
    struct clone_result next = {.bodies = bodies_again(last->bodies)};
    uint32_t made = 0;
    int rc = next.bodies ? add_copies(c, last, &next, code - last->code, &made, err) : error_memory(err);
    if (rc == 0 && made)
        rc = search_pads(c, &next, err);
    if (rc < 0 || !made)
        clone_clear(&next);
    else
        keep_better(c, &next);
    return rc;
}

/* Lets calls through pointers lead to copies in the following rounds. */
static int begin_edges(struct cloning *c, struct fathom_error *err)
{
    struct map_frames_of of = *c->problem->of;
    of.edges = true;
    clone_clear(&c->latest);
    clear_copyable(&c->copyable);
    int rc = find_copyable(&of, c->problem->frames, &c->copyable, err);
    c->edges = rc == 0;
    return rc == 0 ? find_edges(c, &c->best, err) : rc;
}

int clone_run(const struct clone_problem *problem, struct clone_result *out, struct fathom_error *err)
{
    struct cloning c = {.problem = problem,
                        .best.bodies = bodies_new(pathmap_function_count(problem->of->map))};
    int rc =
        c.best.bodies ? find_copyable(problem->of, problem->frames, &c.copyable, err) : error_memory(err);
    if (rc == 0)
        rc = search_pads(&c, &c.best, err);
    uint64_t all = (uint64_t)(problem->code * (double)c.copyable.code);
    unsigned rounds = problem->guards > 0 ? ROUNDS + EDGE_ROUNDS : ROUNDS;
    for (unsigned round = 1; round <= rounds && rc == 0 && !is_done(&c); round++) {
        if (round == ROUNDS + 1)
            rc = begin_edges(&c, err);
        if (rc == 0)
            rc = run_round(&c, all * round / rounds, err);
    }
    c.best.all_code = c.copyable.code;
    c.best.guarded = pointed_sum(&c.best.edges);
    clear_copyable(&c.copyable);
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
    free(r->heads);
    pointed_clear(&r->edges);
    memset(r, 0, sizeof *r);
}
