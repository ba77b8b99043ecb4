/* weights.c - counts by function path, updated after each change, for the paths that are needed; see weights.h. */
#include "infer/model/weights.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/vec.h"
#include "infer/model/backoff.h"

#define NOT_ADMITTED HUGE_VAL /* as a share: the CID's setting does not allow the path */
#define LITTLE       1e-9     /* below this is rounding error, left by counts that went up and down again */

/* A function path, whatever its heights, on a CID's path or an unwound sample's. */
struct context {
    uint32_t parent;              /* the root has itself */
    uint32_t enter, stop;         /* transitions: from its parent to it; from it to none */
    double trained, trained_self; /* samples at or below it; at it */
    double run, run_self;
    double kinds; /* of transitions below it */
};

#define ROOT 0u         /* as a context */
#define NONE UINT32_MAX /* as a context: not needed */

struct cid {
    uint32_t setting;
    uint32_t first, count; /* nodes */
    size_t shares;         /* index of the first */
    uint64_t samples;
    double surest; /* the largest share of one of its paths, by unwound samples alone */
};

struct weights {
    const struct pathmap *map;
    const uint32_t *unwound;
    uint32_t *order;                   /* nodes, children before parents */
    uint32_t *parent;                  /* by node */
    double *trained;                   /* by node: training's `self` */
    const struct admission *admission; /* NULL: any path is possible anywhere */
    /* Made by weights_run(). */
    struct backoff *backoff;
    uint32_t *number; /* by the map's path: its context */
    struct context *contexts;
    uint32_t context_count, context_capacity;
    double *shares; /* by CID, then node */
    size_t share_count, share_capacity;
    struct cid *cids;
    size_t cid_count, cid_capacity;
};

static double trained_or_run(const struct context *c)
{
    return c->trained + c->run;
}

/* A count went from `before` to `now`: updates the kinds below `in` (NULL: not needed). */
static void count_kind(struct weights *w, struct context *in, uint32_t transition, double before, double now)
{
    double more = backoff_kind(now) - backoff_kind(before);
    if (in)
        in->kinds += more;
    backoff_add(w->backoff, transition, more);
}

/* Adds samples of this run to a context. */
static void add_samples(struct weights *w, uint32_t context, double samples)
{
    struct context *c = &w->contexts[context];
    double before = c->trained_self + c->run_self;
    c->run_self += samples;
    count_kind(w, c, c->stop, before, before + samples);
    for (; context != ROOT; context = c->parent) {
        c = &w->contexts[context];
        before = trained_or_run(c);
        c->run += samples;
        count_kind(w, &w->contexts[c->parent], c->enter, before, before + samples);
    }
    w->contexts[ROOT].run += samples;
}

/* P(f | c); trained and run are the counts for cf. */
static double transition_chance(const struct weights *w, const struct context *c, double trained, double run,
                                uint32_t transition)
{
    double prior = c->trained < WEIGHTS_PRIOR ? c->trained : WEIGHTS_PRIOR;
    double of_trained = c->trained > 0 ? prior * trained / c->trained : 0;
    double lower = backoff_chance(w->backoff, transition), all = prior + c->run + c->kinds;
    double share = all > LITTLE ? (of_trained + run + c->kinds * lower) / all : lower;
    return share > LITTLE ? share : LITTLE;
}

/* The logarithm of a path's probability. */
static double score_path(const struct weights *w, uint32_t context)
{
    const struct context *c = &w->contexts[context];
    double sum = log(transition_chance(w, c, c->trained_self, c->run_self, c->stop));
    for (; context != ROOT; context = c->parent) {
        c = &w->contexts[context];
        sum += log(transition_chance(w, &w->contexts[c->parent], c->trained, c->run, c->enter));
    }
    return sum;
}

static uint32_t context_of(const struct weights *w, uint32_t node)
{
    return w->number[pathmap_node(w->map, node).path];
}

/* Sorts nodes by height, the highest first (parents are lower), equal ones by number. false: out of memory. */
static bool sort_nodes(struct weights *w)
{
    struct by_height {
        uint64_t below; /* difference to the greatest possible height */
        uint32_t node;
    };
    const uint32_t nodes = pathmap_node_count(w->map);
    struct by_height *order = calloc((size_t)nodes + 1, sizeof *order);
    if (!order)
        return false;
    for (uint32_t i = 0; i < nodes; i++) {
        struct pathmap_node n = pathmap_node(w->map, i);
        w->parent[i] = n.parent;
        order[i] = (struct by_height){UINT32_MAX - n.height, i};
    }
    sort_by(order, nodes, below);
    for (uint32_t i = 0; i < nodes; i++)
        w->order[i] = order[i].node;
    free(order);
    return true;
}

/* Turns the samples at each node into those at or below it. */
static void sum_below(const struct weights *w, double *samples)
{
    for (uint32_t k = 0; k < pathmap_node_count(w->map); k++) {
        uint32_t node = w->order[k];
        if (w->parent[node] != PATHMAP_NONE)
            samples[w->parent[node]] += samples[node];
    }
}

static double *copy_of(const struct weights *w, const double *samples)
{
    size_t size = ((size_t)pathmap_node_count(w->map) + 1) * sizeof *samples;
    double *copy = malloc(size);
    if (copy)
        memcpy(copy, samples, size);
    return copy;
}

/* Sets training's samples at each node, or its calls, which count as samples, without those of this run, which the map
 * includes. */
static void count_training(struct weights *w, bool calls)
{
    uint32_t nodes = pathmap_node_count(w->map);
    for (uint32_t i = 0; i < nodes; i++) {
        struct pathmap_node n = pathmap_node(w->map, i);
        w->trained[i] = calls ? (double)n.passes : (double)n.self;
    }
    for (uint32_t i = 0; i < nodes; i++)
        for (uint32_t at = w->unwound[i] ? i : PATHMAP_NONE; at != PATHMAP_NONE;
             at = calls ? w->parent[at] : PATHMAP_NONE)
            w->trained[at] = w->trained[at] > w->unwound[i] ? w->trained[at] - w->unwound[i] : 0;
}

struct weights *weights_new(const struct pathmap *map, const uint32_t *unwound, bool calls)
{
    struct weights *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    size_t nodes = pathmap_node_count(map);
    w->map = map;
    w->unwound = unwound;
    w->order = malloc((nodes + 1) * sizeof *w->order);
    w->parent = malloc((nodes + 1) * sizeof *w->parent);
    w->trained = calloc(nodes + 1, sizeof *w->trained);
    if (!w->order || !w->parent || !w->trained || !sort_nodes(w)) {
        weights_free(w);
        return NULL;
    }
    count_training(w, calls);
    return w;
}

void weights_free(struct weights *w)
{
    if (!w)
        return;
    backoff_free(w->backoff);
    free(w->order);
    free(w->parent);
    free(w->trained);
    free(w->number);
    free(w->contexts);
    free(w->shares);
    free(w->cids);
    free(w);
}

/* Creates the contexts of a node's path that do not exist yet, from the inside out. false: out of memory. */
static bool add_contexts(struct weights *w, uint32_t node)
{
    for (uint32_t inner = NONE;; node = w->parent[node]) {
        uint32_t *number = node == PATHMAP_NONE ? NULL : &w->number[pathmap_node(w->map, node).path];
        uint32_t known = number ? *number : ROOT;
        if (inner != NONE)
            w->contexts[inner].parent = known == NONE ? w->context_count : known;
        if (known != NONE)
            return true;
        if (!vec_push(w->contexts, w->context_count, w->context_capacity, (struct context){0}))
            return false;
        *number = inner = w->context_count - 1;
    }
}

static bool add_all_contexts(struct weights *w)
{
    uint32_t paths = pathmap_path_count(w->map);
    w->number = malloc(((size_t)paths + 1) * sizeof *w->number);
    bool good =
        w->number && vec_push(w->contexts, w->context_count, w->context_capacity, (struct context){0});
    for (uint32_t i = 0; good && i < paths; i++)
        w->number[i] = NONE;
    for (uint32_t i = 0; good && i < pathmap_node_count(w->map); i++)
        good = !w->unwound[i] || add_contexts(w, i);
    for (size_t c = 0; good && c < w->cid_count; c++)
        for (uint32_t i = 0; good && i < w->cids[c].count; i++)
            good = w->shares[w->cids[c].shares + i] == NOT_ADMITTED || add_contexts(w, w->cids[c].first + i);
    return good;
}

/* Training's counts for all paths: samples at or below each, or at each. */
struct counting {
    struct weights *w;
    double *samples; /* by path */
    bool *counted;   /* by path */
    bool *needed;    /* by function: some context is of it */
    bool below;
};

static uint32_t function_of(const struct weights *w, uint32_t node)
{
    return node == PATHMAP_NONE ? BACKOFF_OUTSIDE : pathmap_node(w->map, node).function;
}

/* Counts the transition into this node's path (or its stop). false: out of memory. */
static bool count_path(struct counting *x, uint32_t node)
{
    struct weights *w = x->w;
    struct pathmap_node n = pathmap_node(w->map, node);
    uint32_t own = w->number[n.path], in = own, outer = n.parent, inner = node;
    if (x->below) {
        inner = n.parent;
        outer = inner == PATHMAP_NONE ? PATHMAP_NONE : w->parent[inner];
        in = inner == PATHMAP_NONE ? ROOT : context_of(w, inner);
    }
    uint32_t function = function_of(w, inner);
    if (function != BACKOFF_OUTSIDE && !x->needed[function])
        return true;
    uint32_t transition =
        backoff_transition(w->backoff, function_of(w, outer), function, x->below ? n.function : BACKOFF_STOP);
    if (transition == BACKOFF_NONE)
        return false;
    double samples = x->samples[n.path];
    count_kind(w, in == NONE ? NULL : &w->contexts[in], transition, 0, samples);
    if (own == NONE)
        return true;
    *(x->below ? &w->contexts[own].enter : &w->contexts[own].stop) = transition;
    *(x->below ? &w->contexts[own].trained : &w->contexts[own].trained_self) = samples;
    return true;
}

/* Adds the samples of nodes to their paths. false: out of memory. */
static bool count_paths(struct counting *x, const double *of_nodes)
{
    struct weights *w = x->w;
    uint32_t nodes = pathmap_node_count(w->map), paths = pathmap_path_count(w->map);
    bool good = true;
    memset(x->counted, 0, paths);
    memset(x->samples, 0, paths * sizeof *x->samples);
    for (uint32_t i = 0; i < nodes; i++)
        x->samples[pathmap_node(w->map, i).path] += of_nodes[i];
    for (uint32_t i = 0; i < nodes && good; i++) {
        uint32_t path = pathmap_node(w->map, i).path;
        good = x->counted[path] || count_path(x, i);
        x->counted[path] = true;
    }
    return good;
}

/* Counts only functions of contexts: the others are not needed. */
static bool count_all(struct weights *w)
{
    size_t paths = pathmap_path_count(w->map), functions = pathmap_function_count(w->map);
    struct counting x = {.w = w,
                         .samples = malloc((paths + 1) * sizeof *x.samples),
                         .counted = malloc(paths + 1),
                         .needed = calloc(functions + 1, 1)};
    double *below = copy_of(w, w->trained);
    w->backoff = backoff_new();
    bool good = x.samples && x.counted && x.needed && below && w->backoff;
    for (uint32_t i = 0; good && i < pathmap_node_count(w->map); i++)
        if (context_of(w, i) != NONE)
            x.needed[pathmap_node(w->map, i).function] = true;
    if (good) {
        good = count_paths(&x, w->trained);
        sum_below(w, below);
        for (uint32_t i = 0; i < pathmap_node_count(w->map); i++)
            w->contexts[ROOT].trained += w->parent[i] == PATHMAP_NONE ? below[i] : 0;
        x.below = true;
        good = good && count_paths(&x, below);
    }
    free(x.samples);
    free(x.counted);
    free(x.needed);
    free(below);
    return good;
}

static bool count_evidence(struct weights *w)
{
    if (!add_all_contexts(w) || !count_all(w))
        return false;
    for (uint32_t i = 0; i < pathmap_node_count(w->map); i++)
        if (w->unwound[i])
            add_samples(w, context_of(w, i), w->unwound[i]);
    return true;
}

void weights_admit(struct weights *w, const struct admission *admission)
{
    w->admission = admission;
}

/* Whether the CID's setting allows this node of it. */
static bool is_admitted(const struct weights *w, const struct cid *c, uint32_t node)
{
    return c->setting == SETTING_ANY || !w->admission || admission_allows(w->admission, c->setting, node);
}

int weights_add(struct weights *w, uint32_t setting, uint32_t function, uint32_t height, uint64_t samples)
{
    struct cid cid = {.setting = setting, .samples = samples, .shares = w->share_count};
    bool any = false;
    cid.count = pathmap_find(w->map, function, height, &cid.first);
    if (cid.count == 0)
        return 0;
    if (!vec_reserve(w->shares, w->share_count, w->share_capacity, cid.count))
        return -ENOMEM;
    for (uint32_t i = 0; i < cid.count; i++) {
        bool admitted = is_admitted(w, &cid, cid.first + i);
        w->shares[cid.shares + i] = admitted ? 0 : NOT_ADMITTED;
        any |= admitted;
    }
    if (!any)
        return 0;
    if (!vec_reserve(w->cids, w->cid_count, w->cid_capacity, 1))
        return -ENOMEM;
    w->share_count += cid.count;
    w->cids[w->cid_count++] = cid;
    return 0;
}

/* Counts a CID's samples for its paths, by their shares. */
static void count_cid(struct weights *w, const struct cid *c)
{
    const double *shares = w->shares + c->shares;
    for (uint32_t i = 0; i < c->count; i++)
        if (shares[i] > 0 && shares[i] != NOT_ADMITTED)
            add_samples(w, context_of(w, c->first + i), WEIGHTS_GUESS * (double)c->samples * shares[i]);
}

/* Computes the shares of a CID's paths from all counts; returns the largest. */
static double share_out(struct weights *w, const struct cid *c)
{
    double *shares = w->shares + c->shares, most = -HUGE_VAL, sum = 0, largest = 0;
    uint32_t last = NONE; /* context that was scored last: nodes of one are consecutive */
    for (uint32_t i = 0; i < c->count; i++) {
        if (shares[i] == NOT_ADMITTED)
            continue;
        uint32_t context = context_of(w, c->first + i);
        shares[i] = context != last ? score_path(w, context) : -HUGE_VAL;
        most = shares[i] > most ? shares[i] : most;
        last = context;
    }
    for (uint32_t i = 0; i < c->count; i++)
        sum += shares[i] == NOT_ADMITTED ? 0 : exp(shares[i] - most);
    for (uint32_t i = 0; i < c->count; i++) {
        if (shares[i] == NOT_ADMITTED)
            continue;
        shares[i] = exp(shares[i] - most) / sum;
        largest = shares[i] > largest ? shares[i] : largest;
    }
    return largest;
}

static int surest_first(const void *a, const void *b)
{
    const struct cid *x = a, *y = b;
    return order_of(y->surest, x->surest) ?: order_of(y->samples, x->samples) ?: order_of(x->first, y->first);
}

int weights_run(struct weights *w, bool learn)
{
    if (w->cid_count && !count_evidence(w))
        return -ENOMEM;
    for (size_t i = 0; i < w->cid_count; i++)
        w->cids[i].surest = share_out(w, &w->cids[i]);
    if (learn && w->cid_count)
        qsort(w->cids, w->cid_count, sizeof *w->cids, surest_first);
    for (size_t i = 0; learn && i < w->cid_count; i++) {
        share_out(w, &w->cids[i]);
        count_cid(w, &w->cids[i]);
    }
    for (size_t i = 0; i < w->share_count; i++)
        w->shares[i] = w->shares[i] == NOT_ADMITTED ? 0 : w->shares[i];
    return 0;
}

bool weights_cid(const struct weights *w, size_t number, struct weights_cid *out)
{
    if (number >= w->cid_count)
        return false;
    const struct cid *c = &w->cids[number];
    *out = (struct weights_cid){c->setting, c->first, c->count, w->shares + c->shares};
    return true;
}

/* By function: the share of training's samples below it that counts. NULL: out of memory. */
static double *scale_training(const struct weights *w, const double *below)
{
    uint32_t functions = pathmap_function_count(w->map);
    double *scale = calloc((size_t)functions + 1, sizeof *scale);
    for (uint32_t i = 0; scale && i < pathmap_node_count(w->map); i++)
        if (pathmap_node_sound(w->map, i))
            scale[pathmap_node(w->map, i).function] += below[i];
    for (uint32_t f = 0; scale && f < functions; f++)
        scale[f] = scale[f] > WEIGHTS_PRIOR ? WEIGHTS_PRIOR / scale[f] : 1;
    return scale;
}

int weights_of_nodes(const struct weights *w, struct graph_weights *out)
{
    uint32_t nodes = pathmap_node_count(w->map);
    double *self = malloc(((size_t)nodes + 1) * sizeof *self);
    for (uint32_t i = 0; self && i < nodes; i++)
        self[i] = w->unwound[i];
    for (size_t c = 0; self && c < w->cid_count; c++)
        for (uint32_t i = 0; i < w->cids[c].count; i++) {
            double share = w->shares[w->cids[c].shares + i];
            self[w->cids[c].first + i] += WEIGHTS_GUESS * (double)w->cids[c].samples * share;
        }
    double *passes = self ? copy_of(w, self) : NULL, *trained = copy_of(w, w->trained);
    if (passes && trained) {
        sum_below(w, passes);
        sum_below(w, trained);
    }
    double *scale = passes && trained ? scale_training(w, trained) : NULL;
    for (uint32_t i = 0; scale && i < nodes; i++) {
        if (!pathmap_node_sound(w->map, i))
            continue;
        double part = scale[pathmap_node(w->map, i).function];
        self[i] += part * w->trained[i];
        passes[i] += part * trained[i];
    }
    free(trained);
    if (scale) {
        free(scale);
        *out = (struct graph_weights){passes, self};
        return 0;
    }
    free(self);
    free(passes);
    return -ENOMEM;
}
