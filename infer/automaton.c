/* automaton.c - depth-first over states with an explicit stack, each finished once; see automaton.h. */
#include "infer/automaton.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "infer/callers.h"

#define NONE       UINT32_MAX
#define EXACT      (UINT32_MAX - 1)
#define ROOT       (UINT32_MAX - 2)
#define LOG_ZERO   (-HUGE_VAL)
#define NEGLIGIBLE 40.0 /* e to the -40th is below what a double tells of 1 */
#define INDEX_SIZE 48   /* bytes of the index for each state, at most */

/* One of a state's best paths: through which edge, and which of the outer state's best it goes on with. */
struct choice {
    float logarithm; /* of its probability, natural, unnormalised */
    uint32_t outer;  /* state; ROOT: the edge leads there; EXACT: the path is that of the map's node `edge` */
    uint32_t edge;   /* number in the graph */
    uint32_t rank;   /* of the outer state's best */
};

struct key {
    uint32_t function, height;
    uint32_t next; /* what the function called; below second order NEXT_FIRST or NEXT_NARROWED */
    bool resort;   /* of a state that has no paths without last resorts: those that it has with them */
};

struct state {
    struct key key;
    uint32_t first; /* its choices: first .. first + count - 1 */
    uint8_t count;
    bool last_resort; /* resort: the callers that are tried first led nowhere */
    bool done;        /* false: on the stack */
    bool given_up;    /* takes too many states, in all orders */
    double logarithm; /* of the sum over all its paths; LOG_ZERO: none */
    double paths;
};

/* As `next`: no number of a function, nor GRAPH_LEAF. */
#define NEXT_FIRST    (UINT32_MAX - 5)
#define NEXT_NARROWED (UINT32_MAX - 6)

struct automaton {
    const struct graph *graph;
    struct automaton_options options;
    struct table *index; /* hash of a key -> first state with it + 1 */
    struct state *states;
    uint32_t *same; /* next state + 1 with the same hash */
    uint32_t state_count, state_room, same_room;
    uint32_t limit; /* of state_count, in this look-up */
    uint64_t forgotten;
    struct choice *choices;
    uint32_t choice_count, choice_room;
    struct callers callers; /* of the state that is looked at */
    struct reach *reach[2]; /* without and with last resorts */
    uint32_t *stack;
    uint32_t stack_count, stack_room;
};

/* What a state can take. */
static size_t state_bytes(const struct automaton *a)
{
    return sizeof(struct state) + sizeof(uint32_t) + INDEX_SIZE + a->options.best * sizeof(struct choice);
}

struct automaton *automaton_new(const struct graph *graph, const struct automaton_options *options)
{
    struct automaton *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->graph = graph;
    if (options)
        a->options = *options;
    if (!a->options.best)
        a->options.best = AUTOMATON_BEST;
    if (a->options.best > AUTOMATON_BEST_MAX)
        a->options.best = AUTOMATON_BEST_MAX;
    if (!a->options.bytes)
        a->options.bytes = AUTOMATON_BYTES;
    if (!a->options.each)
        a->options.each = AUTOMATON_EACH;
    /* arrays grow by half of what they are */
    size_t most = a->options.bytes / 3 * 2 / AUTOMATON_ORDERS / state_bytes(a);
    if (a->options.each > most)
        a->options.each = (uint32_t)most;
    a->index = table_new();
    if (!a->index) {
        free(a);
        a = NULL;
    }
    return a;
}

/* Frees all states. */
static void forget(struct automaton *a)
{
    table_free(a->index);
    free(a->states);
    free(a->same);
    free(a->choices);
    a->forgotten += a->state_count;
    a->index = NULL;
    a->states = NULL;
    a->same = NULL;
    a->choices = NULL;
    a->state_count = a->state_room = a->same_room = 0;
    a->choice_count = a->choice_room = 0;
}

void automaton_free(struct automaton *a)
{
    if (!a)
        return;
    forget(a);
    callers_free(&a->callers);
    reach_free(a->reach[0]);
    reach_free(a->reach[1]);
    free(a->stack);
    free(a);
}

/* Room for one more element of `size` bytes; false: out of memory. */
static bool grow(void **array, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room)
        return true;
    uint32_t wanted = *room + *room / 2 + 64;
    void *more = realloc(*array, wanted * size);
    if (!more)
        return false;
    *array = more;
    *room = wanted;
    return true;
}

static uint64_t key_hash(struct key key)
{
    return hash_u64(hash_u64((uint64_t)key.function << 32 | key.height) ^ (uint64_t)key.resort << 32 ^
                    key.next);
}

static uint32_t find_state(const struct automaton *a, struct key key)
{
    const uint64_t *head = table_find(a->index, key_hash(key));
    for (uint32_t i = head ? (uint32_t)*head : 0; i; i = a->same[i - 1]) {
        const struct key *k = &a->states[i - 1].key;
        if (k->function == key.function && k->next == key.next && k->height == key.height &&
            k->resort == key.resort)
            return i - 1;
    }
    return NONE;
}

/* A new state; NONE: out of memory, or too many (errno tells). */
static uint32_t add_state(struct automaton *a, struct key key)
{
    if (a->state_count >= a->limit) {
        errno = ENOSPC;
        return NONE;
    }
    errno = ENOMEM;
    if (!grow((void **)&a->states, a->state_count, &a->state_room, sizeof *a->states) ||
        !grow((void **)&a->same, a->state_count, &a->same_room, sizeof *a->same))
        return NONE;
    uint64_t *head = table_put(a->index, key_hash(key), NULL);
    if (!head)
        return NONE;
    uint32_t i = a->state_count++;
    a->states[i] = (struct state){.key = key, .logarithm = LOG_ZERO};
    a->same[i] = (uint32_t)*head;
    *head = i + 1;
    return i;
}

/* What is to be known of the state with this key: of itself, or when it has no paths so, with last resorts.
 * false: the state *i with the key *key has to be done first (NONE: made). */
static bool is_known(const struct automaton *a, struct key *key, uint32_t *i)
{
    bool resort = key->resort;
    key->resort = false;
    *i = find_state(a, *key);
    if (resort && *i != NONE && a->states[*i].done && a->states[*i].logarithm == LOG_ZERO) {
        key->resort = true;
        *i = find_state(a, *key);
    }
    return *i != NONE && a->states[*i].done;
}

/* Keeps the most probable; false: it is none of them. */
static bool keep_choice(struct choice *best, uint32_t *count, uint32_t most, struct choice c)
{
    if (*count == most && best[*count - 1].logarithm >= c.logarithm)
        return false;
    uint32_t at = *count < most ? (*count)++ : most - 1;
    for (; at > 0 && best[at - 1].logarithm < c.logarithm; at--)
        best[at] = best[at - 1];
    best[at] = c;
    return true;
}

static bool store_choices(struct automaton *a, struct state *s, const struct choice *best, uint32_t count)
{
    s->first = a->choice_count;
    for (uint32_t b = 0; b < count; b++) {
        if (!grow((void **)&a->choices, a->choice_count, &a->choice_room, sizeof *a->choices))
            return false;
        a->choices[a->choice_count++] = best[b];
    }
    s->count = (uint8_t)count;
    s->done = true;
    return true;
}

/* A state whose paths are those of the map's nodes. false: out of memory. */
static bool finish_exact(struct automaton *a, uint32_t i, uint32_t first, uint32_t nodes)
{
    struct state *s = &a->states[i];
    const struct pathmap *map = graph_map(a->graph);
    struct choice best[AUTOMATON_BEST_MAX];
    uint32_t count = 0;
    double all = graph_callers(a->graph, s->key.function).weight, sum = 0;
    for (uint32_t n = first; n < first + nodes; n++) {
        double passes = (double)pathmap_node(map, n).passes;
        if (passes <= 0)
            continue;
        sum += passes;
        struct choice c = {(float)log(passes / all), EXACT, n, 0};
        keep_choice(best, &count, a->options.best, c);
    }
    s->logarithm = sum > 0 ? log(sum / all) : LOG_ZERO;
    s->paths = nodes;
    return store_choices(a, s, best, count);
}

static bool is_second_order(const struct state *s)
{
    return s->key.next != NEXT_FIRST && s->key.next != NEXT_NARROWED;
}

static struct key outer_key(const struct state *s, const struct caller *caller)
{
    return (struct key){caller->function, caller->height, is_second_order(s) ? s->key.function : s->key.next,
                        s->key.resort};
}

/* A sum of probabilities, given by their logarithms, that cannot underflow: exp(most) * share. */
struct sum {
    double most, share;
};

static void sum_add(struct sum *sum, double logarithm)
{
    if (logarithm > sum->most) {
        sum->share = 1 + (sum->share > 0 ? sum->share * exp(sum->most - logarithm) : 0);
        sum->most = logarithm;
    } else if (logarithm > sum->most - NEGLIGIBLE) {
        sum->share += exp(logarithm - sum->most);
    }
}

/* One caller, whose state is done: its paths into the best and into the sum. */
static void add_caller(const struct automaton *a, struct state *s, const struct caller *caller,
                       struct choice *best, uint32_t *count, struct sum *sum)
{
    double logarithm = log(caller->probability);
    struct choice c = {(float)logarithm, ROOT, caller->edge, 0};
    if (caller->function == GRAPH_ROOT) {
        sum_add(sum, logarithm);
        s->paths++;
        keep_choice(best, count, a->options.best, c);
        return;
    }
    struct key key = outer_key(s, caller);
    is_known(a, &key, &c.outer);
    const struct state *outer = &a->states[c.outer];
    if (outer->logarithm == LOG_ZERO)
        return;
    sum_add(sum, logarithm + outer->logarithm);
    s->paths += outer->paths;
    for (c.rank = 0; c.rank < outer->count; c.rank++) {
        c.logarithm = (float)(logarithm + (double)a->choices[outer->first + c.rank].logarithm);
        if (!keep_choice(best, count, a->options.best, c))
            break;
    }
}

/* All outer states of state i, of a->callers, are done: sums it up, or lets it try its last resort. false:
 * out of memory. */
static bool finish_state(struct automaton *a, uint32_t i)
{
    struct state *s = &a->states[i];
    struct choice best[AUTOMATON_BEST_MAX];
    struct sum sum = {LOG_ZERO, 0};
    uint32_t count = 0;
    s->paths = 0;
    for (uint32_t k = 0; k < a->callers.count; k++)
        add_caller(a, s, &a->callers.items[k], best, &count, &sum);
    s->logarithm = sum.share > 0 ? sum.most + log(sum.share) : LOG_ZERO;
    if (s->logarithm == LOG_ZERO && s->key.resort && !s->last_resort) {
        s->last_resort = true;
        return true;
    }
    return store_choices(a, s, best, count);
}

static bool push(struct automaton *a, uint32_t state)
{
    if (!grow((void **)&a->stack, a->stack_count, &a->stack_room, sizeof *a->stack))
        return false;
    a->stack[a->stack_count++] = state;
    return true;
}

/* Pushes those outer states of state i, of a->callers, that are not done: 1 when there were any, 0 when none,
 * negative errno. One may stand deeper in the stack already; it is done when it comes up a second time. */
static int push_outer(struct automaton *a, uint32_t i)
{
    int pushed = 0;
    for (uint32_t k = 0; k < a->callers.count; k++) {
        const struct caller *caller = &a->callers.items[k];
        struct key key = outer_key(&a->states[i], caller);
        uint32_t outer;
        if (caller->function == GRAPH_ROOT || is_known(a, &key, &outer))
            continue;
        if (outer == NONE)
            outer = add_state(a, key);
        if (outer == NONE)
            return -errno;
        if (!push(a, outer))
            return -ENOMEM;
        pushed = 1;
    }
    return pushed;
}

static int find_callers(struct automaton *a, const struct state *s)
{
    const struct callers_question question = {
        s->key.function, is_second_order(s) ? s->key.next : CALLERS_ANY_NEXT, s->key.height, s->last_resort};
    int rc = callers_find(&a->callers, a->graph, &question);
    if (rc == 0)
        callers_reduce(&a->callers, a->reach[s->key.resort]);
    if (rc == 0 && s->key.next == NEXT_NARROWED)
        callers_narrow(&a->callers, AUTOMATON_BEAM);
    return rc;
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
        uint32_t first, nodes = s->done ? 0 : graph_exact(a->graph, s->key.function, s->key.height, &first);
        if (nodes && !finish_exact(a, i, first, nodes))
            return -ENOMEM;
        if (s->done) {
            a->stack_count--;
            continue;
        }
        int rc = find_callers(a, &a->states[i]);
        int pushed = rc < 0 ? rc : push_outer(a, i);
        if (pushed < 0)
            return pushed;
        if (!pushed && !finish_state(a, i))
            return -ENOMEM;
    }
    return 0;
}

/* What a look-up of a CID starts from, in one of the orders. */
static struct key start_key(uint32_t function, uint32_t height, enum automaton_order order)
{
    static const uint32_t next[AUTOMATON_ORDERS] = {GRAPH_LEAF, NEXT_FIRST, NEXT_NARROWED};
    return (struct key){function, height, next[order], true};
}

/* The state that a CID was found with; NONE: it was not asked for, or takes too many states. */
static uint32_t find_start(const struct automaton *a, uint32_t function, uint32_t height,
                           enum automaton_order *order)
{
    for (*order = 0; *order < AUTOMATON_ORDERS; ++*order) {
        struct key key = start_key(function, height, *order);
        uint32_t i;
        if (is_known(a, &key, &i))
            return i;
    }
    return NONE;
}

/* Forgets all when the memory could be too small for one more CID. */
static bool make_room(struct automaton *a)
{
    size_t used = a->state_count * (state_bytes(a) - a->options.best * sizeof(struct choice)) +
                  a->choice_count * sizeof(struct choice);
    size_t more = (size_t)AUTOMATON_ORDERS * a->options.each * state_bytes(a);
    if (used + more > a->options.bytes / 3 * 2)
        forget(a);
    if (!a->index)
        a->index = table_new();
    return a->index;
}

/* What is reachable, as far as a look-up of this key needs it: outer states stand above it. */
static int prepare_reach(struct automaton *a, struct key key)
{
    for (int resort = 0; resort <= key.resort; resort++) {
        if (!a->reach[resort])
            a->reach[resort] = reach_new(a->graph, resort);
        if (!a->reach[resort] || reach_extend(a->reach[resort], key.height) < 0)
            return -ENOMEM;
    }
    return 0;
}

/* Runs one order, by last resorts too when all else leads nowhere. */
static int run_order(struct automaton *a, struct key key)
{
    uint32_t i;
    a->limit = a->state_count + a->options.each;
    while (!is_known(a, &key, &i)) {
        if (i == NONE)
            i = add_state(a, key);
        if (i == NONE)
            return -errno;
        int rc = a->states[i].given_up ? -ENOSPC : prepare_reach(a, key);
        if (rc == 0)
            rc = run(a, i);
        if (rc < 0) {
            a->states[i].given_up = rc == -ENOSPC;
            return rc;
        }
        key.resort = true;
    }
    return 0;
}

/* Finds a CID that was not asked for, with as much as there is room for. */
static int find_new(struct automaton *a, uint32_t function, uint32_t height)
{
    int rc = make_room(a) ? -ENOSPC : -ENOMEM;
    for (enum automaton_order order = 0; order < AUTOMATON_ORDERS && rc == -ENOSPC; order++)
        rc = run_order(a, start_key(function, height, order));
    return rc;
}

int automaton_find(struct automaton *a, uint32_t function, uint32_t height, struct automaton_answer *out)
{
    enum automaton_order order;
    uint32_t i = find_start(a, function, height, &order);
    if (i == NONE) {
        int rc = find_new(a, function, height);
        if (rc < 0)
            return rc;
        i = find_start(a, function, height, &order);
    }
    const struct state *s = &a->states[i];
    if (s->logarithm == LOG_ZERO)
        return -ENOENT;
    out->paths = s->paths;
    out->best = s->count;
    out->order = order;
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
            steps[depth] = (struct automaton_step){n.function, n.height, n.site, false};
        node = n.parent;
    }
    return depth;
}

size_t automaton_path(const struct automaton *a, uint32_t function, uint32_t height, uint32_t rank,
                      struct automaton_step *steps, size_t max)
{
    enum automaton_order order;
    uint32_t i = find_start(a, function, height, &order);
    size_t depth = 0;
    while (i < ROOT && rank < a->states[i].count) {
        const struct state *s = &a->states[i];
        const struct choice *c = &a->choices[s->first + rank];
        if (c->outer == EXACT) {
            depth = append_node(a, c->edge, steps, depth, max);
            break;
        }
        const struct graph_edge *edge = graph_edge_at(a->graph, c->edge);
        if (depth < max)
            steps[depth] = (struct automaton_step){s->key.function, s->key.height, edge->site, edge->open};
        depth++;
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
    return (size_t)a->forgotten + a->state_count;
}
