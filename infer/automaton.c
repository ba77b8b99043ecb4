/* automaton.c - depth-first over states with an explicit stack, each finished once; see automaton.h. */
#include "infer/automaton.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define NONE     UINT32_MAX
#define EXACT    (UINT32_MAX - 1)
#define BACK_OFF 2.0 /* sights of (function, next) that weigh as much as all callers of the function */
#define UNSEEN                                                                                               \
    1.0 /* sights of a function that weigh as much as all its static callers that were never seen */
#define LOG_ZERO (-HUGE_VAL)

/* One of a state's best paths: through which edge, and which of the outer state's best it goes on with. */
struct choice {
    float logarithm; /* of its probability, natural, unnormalised */
    uint32_t
        outer; /* state; NONE: the edge leads to the root; EXACT: the path is that of the map's node `edge` */
    uint32_t edge; /* index in `chosen` */
    uint32_t rank; /* of the outer state's best */
};

struct state {
    uint32_t function, next, height;
    uint32_t first; /* its choices: first .. first + count - 1 */
    uint8_t count;
    bool done;        /* false: on the stack */
    double logarithm; /* of the sum over all its paths; LOG_ZERO: none */
    double paths;
};

struct automaton {
    const struct graph *graph;
    struct table *index; /* hash of (function, next, height) -> first state with it + 1 */
    struct state *states;
    uint32_t *same; /* next state + 1 with the same hash */
    uint32_t state_count, state_room;
    uint32_t limit; /* of state_count, in this look-up */
    struct choice *choices;
    uint32_t choice_count, choice_room;
    struct graph_edge *chosen; /* edges that choices name */
    uint32_t chosen_count, chosen_room;
    uint32_t *stack;
    size_t stack_count, stack_room;
};

struct automaton *automaton_new(const struct graph *graph)
{
    struct automaton *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->graph = graph;
    a->index = table_new();
    if (!a->index) {
        free(a);
        a = NULL;
    }
    return a;
}

void automaton_free(struct automaton *a)
{
    if (!a)
        return;
    table_free(a->index);
    free(a->states);
    free(a->same);
    free(a->choices);
    free(a->chosen);
    free(a->stack);
    free(a);
}

/* Room for one more element of `size` bytes; false: out of memory. */
static bool grow(void **array, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room)
        return true;
    uint32_t wanted = *room ? *room * 2 : 1024;
    void *more = realloc(*array, wanted * size);
    if (!more)
        return false;
    *array = more;
    *room = wanted;
    return true;
}

static uint64_t state_hash(uint32_t function, uint32_t next, uint32_t height)
{
    return hash_u64(hash_u64((uint64_t)function << 32 | height) ^ next);
}

static uint32_t find_state(const struct automaton *a, uint32_t function, uint32_t next, uint32_t height)
{
    const uint64_t *head = table_find(a->index, state_hash(function, next, height));
    for (uint32_t i = head ? (uint32_t)*head : 0; i; i = a->same[i - 1]) {
        const struct state *s = &a->states[i - 1];
        if (s->function == function && s->next == next && s->height == height)
            return i - 1;
    }
    return NONE;
}

/* A new state; NONE: out of memory, or too many (errno tells). */
static uint32_t add_state(struct automaton *a, uint32_t function, uint32_t next, uint32_t height)
{
    if (a->state_count >= a->limit) {
        errno = ENOSPC;
        return NONE;
    }
    errno = ENOMEM;
    if (a->state_count == a->state_room) {
        uint32_t room = a->state_room ? a->state_room * 2 : 1024;
        struct state *states = realloc(a->states, room * sizeof *states);
        if (states)
            a->states = states;
        uint32_t *same = realloc(a->same, room * sizeof *same);
        if (same)
            a->same = same;
        if (!states || !same)
            return NONE;
        a->state_room = room;
    }
    uint64_t *head = table_put(a->index, state_hash(function, next, height), NULL);
    if (!head)
        return NONE;
    uint32_t i = a->state_count++;
    a->states[i] =
        (struct state){.function = function, .next = next, .height = height, .logarithm = LOG_ZERO};
    a->same[i] = (uint32_t)*head;
    *head = i + 1;
    return i;
}

/* The sets of edges that a state's callers come from, and the share of each. */
struct mixture {
    struct graph_edges set[3]; /* with this next; with any; in the binary alone */
    double share[3];
};
enum { WITH_NEXT, WITH_ANY, STATIC, SETS };

static struct mixture mixture_of(const struct automaton *a, const struct state *s)
{
    struct mixture m = {.set = {graph_callers_before(a->graph, s->function, s->next),
                                graph_callers(a->graph, s->function),
                                graph_static_callers(a->graph, s->function)}};
    double with_next = m.set[WITH_NEXT].weight / (m.set[WITH_NEXT].weight + BACK_OFF);
    double fixed = m.set[STATIC].count ? UNSEEN / (m.set[WITH_ANY].weight + UNSEEN) : 0;
    m.share[WITH_NEXT] = (1 - fixed) * with_next;
    m.share[WITH_ANY] = (1 - fixed) * (1 - with_next);
    m.share[STATIC] = fixed;
    return m;
}

static uint32_t mixture_count(const struct mixture *m)
{
    return m->set[WITH_NEXT].count + m->set[WITH_ANY].count + m->set[STATIC].count;
}

/* The i-th edge of the mixture, the set that it is of, and its probability's logarithm. One that is in both
 * trained sets comes twice, its shares add up. */
static const struct graph_edge *mixture_edge(const struct mixture *m, uint32_t i, int *of, double *logarithm)
{
    int k = 0;
    while (i >= m->set[k].count)
        i -= m->set[k++].count;
    const struct graph_edge *edge = &m->set[k].edges[i];
    *of = k;
    *logarithm =
        edge->weight > 0 && m->share[k] > 0 ? log(m->share[k] * edge->weight / m->set[k].weight) : LOG_ZERO;
    return edge;
}

static bool leads_out(const struct automaton *a, const struct graph_edge *edge, int of, uint32_t height)
{
    if (edge->caller == GRAPH_ROOT)
        return edge->rise == height;
    return edge->rise >= 8 && edge->rise <= height &&
           (of != STATIC || graph_possible(a->graph, edge->caller, height - edge->rise));
}

static double log_add(double x, double y)
{
    if (x < y) {
        double swap = x;
        x = y;
        y = swap;
    }
    return y == LOG_ZERO ? x : x + log1p(exp(y - x));
}

/* Keeps the AUTOMATON_BEST most probable. Two ways through the same edge to the same outer path (it stands in
 * both sets of the mixture) are one: their probabilities add up. */
static void keep_choice(struct choice *best, uint32_t *count, struct choice c)
{
    for (uint32_t i = 0; i < *count; i++) {
        if (best[i].outer == c.outer && best[i].rank == c.rank && c.outer != NONE) {
            c.logarithm = (float)log_add((double)best[i].logarithm, (double)c.logarithm);
            memmove(best + i, best + i + 1, (*count - i - 1) * sizeof *best);
            --*count;
            break;
        }
        if (best[i].outer == NONE && c.outer == NONE) {
            best[i].logarithm = (float)log_add((double)best[i].logarithm, (double)c.logarithm);
            return;
        }
    }
    if (*count == AUTOMATON_BEST && best[*count - 1].logarithm >= c.logarithm)
        return;
    uint32_t at = *count < AUTOMATON_BEST ? (*count)++ : AUTOMATON_BEST - 1;
    for (; at > 0 && best[at - 1].logarithm < c.logarithm; at--)
        best[at] = best[at - 1];
    best[at] = c;
}

/* A state whose paths are those of the map's nodes. false: out of memory. */
static bool finish_exact(struct automaton *a, uint32_t i, uint32_t first, uint32_t nodes)
{
    struct state *s = &a->states[i];
    const struct pathmap *map = graph_map(a->graph);
    struct choice best[AUTOMATON_BEST];
    uint32_t count = 0;
    double all = graph_callers(a->graph, s->function).weight, sum = 0;
    for (uint32_t n = first; n < first + nodes; n++) {
        double passes = (double)pathmap_node(map, n).passes;
        if (passes <= 0)
            continue;
        sum += passes;
        keep_choice(best, &count, (struct choice){(float)log(passes / all), EXACT, n, n});
    }
    s->first = a->choice_count;
    for (uint32_t b = 0; b < count; b++) {
        if (!grow((void **)&a->choices, a->choice_count, &a->choice_room, sizeof *a->choices))
            return false;
        a->choices[a->choice_count++] = best[b];
    }
    s->count = (uint8_t)count;
    s->logarithm = sum > 0 ? log(sum / all) : LOG_ZERO;
    s->paths = nodes;
    s->done = true;
    return true;
}

/* All outer states of state i are done: sums it up. false: out of memory. */
static bool finish_state(struct automaton *a, uint32_t i)
{
    struct state *s = &a->states[i];
    struct mixture m = mixture_of(a, s);
    struct choice best[AUTOMATON_BEST];
    uint32_t count = 0;
    double sum = LOG_ZERO, paths = 0;
    for (uint32_t e = 0; e < mixture_count(&m); e++) {
        double logarithm;
        int of;
        const struct graph_edge *edge = mixture_edge(&m, e, &of, &logarithm);
        if (logarithm == LOG_ZERO || !leads_out(a, edge, of, s->height))
            continue;
        /* Callers of the pair are all among those of the function: paths are counted there. */
        bool counts = of != WITH_NEXT;
        struct choice c = {.logarithm = (float)logarithm, .outer = NONE, .edge = e};
        if (edge->caller == GRAPH_ROOT) {
            sum = log_add(sum, logarithm);
            paths += counts;
            keep_choice(best, &count, c);
            continue;
        }
        c.outer = find_state(a, edge->caller, s->function, s->height - edge->rise);
        const struct state *outer = &a->states[c.outer];
        if (outer->logarithm == LOG_ZERO)
            continue;
        sum = log_add(sum, logarithm + outer->logarithm);
        paths += counts ? outer->paths : 0;
        for (c.rank = 0; c.rank < outer->count; c.rank++) {
            c.logarithm = (float)(logarithm + (double)a->choices[outer->first + c.rank].logarithm);
            keep_choice(best, &count, c);
        }
    }
    s->first = a->choice_count;
    for (uint32_t b = 0; b < count; b++) {
        double unused;
        int of;
        if (!grow((void **)&a->choices, a->choice_count, &a->choice_room, sizeof *a->choices) ||
            !grow((void **)&a->chosen, a->chosen_count, &a->chosen_room, sizeof *a->chosen))
            return false;
        a->chosen[a->chosen_count] = *mixture_edge(&m, best[b].edge, &of, &unused);
        best[b].edge = a->chosen_count++;
        a->choices[a->choice_count++] = best[b];
    }
    s->count = (uint8_t)count;
    s->logarithm = sum;
    s->paths = paths;
    s->done = true;
    return true;
}

static bool push(struct automaton *a, uint32_t state)
{
    if (a->stack_count == a->stack_room) {
        size_t room = a->stack_room ? a->stack_room * 2 : 1024;
        uint32_t *stack = realloc(a->stack, room * sizeof *stack);
        if (!stack)
            return false;
        a->stack = stack;
        a->stack_room = room;
    }
    a->stack[a->stack_count++] = state;
    return true;
}

/* Pushes the outer states that are not done: 1 when there were any, 0 when none, negative errno. One may
 * stand deeper in the stack already; it is done when it comes up a second time. */
static int push_outer(struct automaton *a, uint32_t i)
{
    struct state s = a->states[i];
    struct mixture m = mixture_of(a, &s);
    int pushed = 0;
    for (uint32_t e = 0; e < mixture_count(&m); e++) {
        double logarithm;
        int of;
        const struct graph_edge *edge = mixture_edge(&m, e, &of, &logarithm);
        if (logarithm == LOG_ZERO || edge->caller == GRAPH_ROOT || !leads_out(a, edge, of, s.height))
            continue;
        uint32_t height = s.height - edge->rise;
        uint32_t outer = find_state(a, edge->caller, s.function, height);
        if (outer != NONE && a->states[outer].done)
            continue;
        if (outer == NONE)
            outer = add_state(a, edge->caller, s.function, height);
        if (outer == NONE)
            return -errno;
        if (!push(a, outer))
            return -ENOMEM;
        pushed = 1;
    }
    return pushed;
}

/* Finishes the state and all that it needs. Heights fall from each state to its outer ones, so this ends. */
static int run(struct automaton *a, uint32_t start)
{
    a->stack_count = 0;
    if (!push(a, start))
        return -ENOMEM;
    while (a->stack_count) {
        uint32_t i = a->stack[a->stack_count - 1];
        const struct state *s = &a->states[i];
        uint32_t first, nodes = s->done ? 0 : graph_exact(a->graph, s->function, s->height, &first);
        if (nodes && !finish_exact(a, i, first, nodes))
            return -ENOMEM;
        int pushed = a->states[i].done ? 0 : push_outer(a, i);
        if (pushed < 0)
            return pushed;
        if (pushed)
            continue;
        a->stack_count--;
        if (!a->states[i].done && !finish_state(a, i))
            return -ENOMEM;
    }
    return 0;
}

int automaton_find(struct automaton *a, uint32_t function, uint32_t height, struct automaton_answer *out)
{
    a->limit = a->state_count < AUTOMATON_STATES - AUTOMATON_EACH ? a->state_count + AUTOMATON_EACH
                                                                  : AUTOMATON_STATES;
    uint32_t i = find_state(a, function, GRAPH_LEAF, height);
    if (i == NONE) {
        i = add_state(a, function, GRAPH_LEAF, height);
        if (i == NONE)
            return -errno;
    }
    if (!a->states[i].done) {
        int rc = run(a, i);
        if (rc < 0)
            return rc;
    }
    const struct state *s = &a->states[i];
    if (s->logarithm == LOG_ZERO)
        return -ENOENT;
    *out = (struct automaton_answer){.paths = s->paths, .best = s->count};
    for (uint32_t r = 0; r < s->count; r++) {
        double p = exp((double)a->choices[s->first + r].logarithm - s->logarithm);
        out->probability[r] = p < 1 ? p : 1;
    }
    return 0;
}

/* The map's node and its ancestors, from the inside out; returns the new depth. */
static size_t append_node(const struct automaton *a, uint32_t node, struct automaton_step *steps,
                          size_t depth, size_t max)
{
    const struct pathmap *map = graph_map(a->graph);
    for (; node != PATHMAP_NONE; depth++) {
        struct pathmap_node n = pathmap_node(map, node);
        if (depth < max)
            steps[depth] = (struct automaton_step){n.function, n.height, n.site};
        node = n.parent;
    }
    return depth;
}

size_t automaton_path(const struct automaton *a, uint32_t function, uint32_t height, uint32_t rank,
                      struct automaton_step *steps, size_t max)
{
    uint32_t i = find_state(a, function, GRAPH_LEAF, height);
    size_t depth = 0;
    for (; i != NONE && rank < a->states[i].count; depth++) {
        const struct state *s = &a->states[i];
        const struct choice *c = &a->choices[s->first + rank];
        if (c->outer == EXACT) {
            depth = append_node(a, c->edge, steps, depth, max);
            break;
        }
        if (depth < max)
            steps[depth] = (struct automaton_step){s->function, s->height, a->chosen[c->edge].site};
        i = c->outer;
        rank = c->rank;
    }
    size_t kept = depth < max ? depth : max;
    for (size_t j = 0; j < kept / 2; j++) {
        struct automaton_step swap = steps[j];
        steps[j] = steps[kept - 1 - j];
        steps[kept - 1 - j] = swap;
    }
    return depth;
}

size_t automaton_states(const struct automaton *a)
{
    return a->state_count;
}
