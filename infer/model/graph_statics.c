/* graph_statics.c - see graph_statics.h. */
#include "infer/model/graph_statics.h"

#include <errno.h>
#include <stdlib.h>

#define JUMPS 0.5 /* of a function's runs end by a certain one of its jumps */
/* What the loader runs before the program, beside that: programs run longer than it takes. */
#define LOADER 0.01

struct translating {
    const struct graph *seen; /* what training saw */
    const uint32_t *to_map;
};

/* Whether the map has the caller. */
static bool translate_edge(const struct translating *t, const struct static_edge *e, double weight,
                           struct graph_edge *out)
{
    uint32_t caller = e->caller == STATIC_ROOT ? GRAPH_ROOT : t->to_map[e->caller];
    *out = (struct graph_edge){caller, e->rise, e->site, weight, e->open};
    return caller != PATHMAP_NONE;
}

/* The calls that training saw of a function that jumps. */
static struct graph_edges callers_of_jump(const struct translating *t, const struct static_jump *jump)
{
    uint32_t from = t->to_map[jump->from];
    return from == PATHMAP_NONE ? (struct graph_edges){0} : graph_callers(t->seen, from);
}

static size_t count_callers(const struct translating *t, const struct static_jump *jumps, size_t count)
{
    size_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += callers_of_jump(t, &jumps[i]).count;
    return sum;
}

/* The same call when what is called jumps on: as often as it was seen, in calls for each run of its
 * caller. */
static struct graph_edge passed_on(const struct translating *t, const struct graph_edge *edge)
{
    struct graph_edge out = *edge;
    double runs = edge->caller == GRAPH_ROOT ? 0 : graph_callers(t->seen, edge->caller).weight;
    out.weight = JUMPS * (runs > 0 ? edge->weight / runs : 1);
    return out;
}

/* Whether what is called may jump on in this caller's stead. Training ascribes what the loader runs before
 * the program to `_start`, without a call site: that tells nothing of what `_start` calls. */
static bool is_passed_on(const struct graph_edge *edge)
{
    return edge->caller == GRAPH_ROOT || edge->site != 0;
}

/* How often a call is made in a run of its caller. */
static double weight_of(const struct statics *statics, const struct static_edge *edge)
{
    for (size_t i = 0; edge->caller == STATIC_ROOT && i < statics->start_count; i++)
        if (statics->starts[i].function == edge->callee && !statics->starts[i].only)
            return LOADER;
    return 1;
}

static bool translate_calls(const struct translating *t, const struct statics *statics,
                            struct graph_calls *out)
{
    size_t most = statics->count + count_callers(t, statics->jumps, statics->jump_count);
    out->calls = malloc((most + 1) * sizeof *out->calls);
    if (!out->calls)
        return false;
    for (size_t i = 0; i < statics->count; i++) {
        struct graph_call call = {.callee = t->to_map[statics->edges[i].callee]};
        if (translate_edge(t, &statics->edges[i], weight_of(statics, &statics->edges[i]), &call.edge) &&
            call.callee != PATHMAP_NONE)
            out->calls[out->count++] = call;
    }
    for (size_t i = 0; i < statics->jump_count; i++) {
        uint32_t to = t->to_map[statics->jumps[i].to];
        struct graph_edges edges = callers_of_jump(t, &statics->jumps[i]);
        for (uint32_t e = 0; e < edges.count && to != PATHMAP_NONE; e++)
            if (is_passed_on(&edges.edges[e]))
                out->calls[out->count++] = (struct graph_call){to, passed_on(t, &edges.edges[e])};
    }
    return true;
}

static bool translate_class(const struct translating *t, const struct static_class *class,
                            struct graph_class *out)
{
    size_t most = class->count + count_callers(t, class->jumps, class->jump_count);
    *out = (struct graph_class){.callers = malloc((most + 1) * sizeof *out->callers),
                                .targets = malloc((class->target_count + 1) * sizeof *out->targets)};
    if (!out->callers || !out->targets)
        return false;
    for (size_t i = 0; i < class->count; i++)
        if (translate_edge(t, &class->edges[i], class->share, &out->callers[out->caller_count]))
            out->caller_count++;
    for (size_t i = 0; i < class->jump_count; i++) {
        struct graph_edges edges = callers_of_jump(t, &class->jumps[i]);
        for (uint32_t e = 0; e < edges.count; e++) {
            if (!is_passed_on(&edges.edges[e]))
                continue;
            out->callers[out->caller_count] = passed_on(t, &edges.edges[e]);
            out->callers[out->caller_count++].weight *= class->share;
        }
    }
    for (size_t i = 0; i < class->target_count; i++) {
        uint32_t target = t->to_map[class->targets[i]];
        if (target != PATHMAP_NONE)
            out->targets[out->target_count++] = target;
    }
    return true;
}

int graph_calls_of(const struct pathmap *map, const struct statics *statics, const uint32_t *to_map,
                   struct graph_calls *out)
{
    struct graph *seen = graph_new(map, NULL);
    struct translating t = {seen, to_map};
    struct graph_calls calls = {.classes = calloc(statics->class_count + 1, sizeof *calls.classes)};
    bool good = seen && calls.classes && translate_calls(&t, statics, &calls);
    for (size_t i = 0; good && i < statics->class_count; i++) {
        good = translate_class(&t, &statics->classes[i], &calls.classes[calls.class_count++]);
    }
    calls.ends = malloc((statics->end_count + 1) * sizeof *calls.ends);
    good &= calls.ends != NULL;
    for (size_t i = 0; good && i < statics->end_count; i++)
        if (to_map[statics->ends[i]] != PATHMAP_NONE)
            calls.ends[calls.end_count++] = to_map[statics->ends[i]];
    graph_free(seen);
    if (!good) {
        graph_calls_free(&calls);
        return -ENOMEM;
    }
    *out = calls;
    return 0;
}

void graph_calls_free(struct graph_calls *calls)
{
    for (size_t i = 0; i < calls->class_count; i++) {
        free(calls->classes[i].callers);
        free(calls->classes[i].targets);
    }
    free(calls->calls);
    free(calls->classes);
    free(calls->ends);
    *calls = (struct graph_calls){0};
}
