/* weights.c - counts by function path that follow each change at once; see weights.h. */
#include "infer/model/weights.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/vec.h"
#include "infer/model/backoff.h"

#define NOT_ADMITTED HUGE_VAL /* as a share: the path cannot be in the CID's setting */
#define LITTLE       1e-9     /* what rounding leaves of counts that went up and down again */

/* A function path: a context, whatever the heights. */
struct path {
    uint32_t parent, function; /* the root has itself, and BACKOFF_OUTSIDE */
    uint32_t depth;
    uint32_t enter, stop;         /* transitions to it from its parent, and from it to none */
    double trained, trained_self; /* samples at or below it, and at it */
    double run, run_self;
    double kinds; /* of what comes below it */
};

struct cid {
    uint32_t setting;
    uint32_t first, count; /* nodes */
    size_t shares;         /* the first of them */
    uint64_t samples;
    double surest; /* the most that one of its paths has when only unwound samples tell */
};

struct weights {
    const struct pathmap *map;
    const uint32_t *unwound; /* while it is made */
    struct backoff *backoff;
    struct path *paths; /* by the map's number; the last is the root */
    uint32_t root;
    uint32_t *by_depth;                /* nodes, the deepest first */
    double *trained, *run;             /* by node: `self` of training, of this run's unwound samples */
    const struct admission *admission; /* NULL: any path can be anywhere */
    double *shares;                    /* CID by CID, of its nodes */
    size_t share_count, share_room;
    struct cid *cids;
    size_t cid_count, cid_room;
};

static double trained_or_run(const struct path *p)
{
    return p->trained + p->run;
}

/* Counts that went up from `before` to `now`: so did kinds below `in`. */
static void count_kind(struct weights *w, struct path *in, uint32_t transition, double before, double now)
{
    double more = backoff_kind(now) - backoff_kind(before);
    in->kinds += more;
    backoff_add(w->backoff, transition, more);
}

/* This run's samples at a path. */
static void add_samples(struct weights *w, uint32_t path, double samples)
{
    struct path *p = &w->paths[path];
    double before = p->trained_self + p->run_self;
    p->run_self += samples;
    count_kind(w, p, p->stop, before, before + samples);
    for (; path != w->root; path = p->parent) {
        p = &w->paths[path];
        before = trained_or_run(p);
        p->run += samples;
        count_kind(w, &w->paths[p->parent], p->enter, before, before + samples);
    }
    w->paths[w->root].run += samples;
}

/* P(f | c): trained and run are those of cf. */
static double chance(const struct weights *w, const struct path *c, double trained, double run,
                     uint32_t transition)
{
    double prior = c->trained < WEIGHTS_PRIOR ? c->trained : WEIGHTS_PRIOR;
    double of_trained = c->trained > 0 ? prior * trained / c->trained : 0;
    double lower = backoff_chance(w->backoff, transition), all = prior + c->run + c->kinds;
    double share = all > LITTLE ? (of_trained + run + c->kinds * lower) / all : lower;
    return share > LITTLE ? share : LITTLE;
}

/* The logarithm of a path's probability. */
static double score(const struct weights *w, uint32_t path)
{
    const struct path *p = &w->paths[path];
    double sum = log(chance(w, p, p->trained_self, p->run_self, p->stop));
    for (; path != w->root; path = p->parent) {
        p = &w->paths[path];
        sum += log(chance(w, &w->paths[p->parent], p->trained, p->run, p->enter));
    }
    return sum;
}

static uint32_t path_of(const struct weights *w, uint32_t node)
{
    return pathmap_node(w->map, node).path;
}

static void read_paths(struct weights *w)
{
    for (uint32_t i = 0; i <= w->root; i++)
        w->paths[i] = (struct path){.parent = w->root, .function = BACKOFF_OUTSIDE};
    for (uint32_t i = 0; i < pathmap_node_count(w->map); i++) {
        struct pathmap_node n = pathmap_node(w->map, i);
        struct path *p = &w->paths[n.path];
        p->function = n.function;
        p->parent = n.parent == PATHMAP_NONE ? w->root : path_of(w, n.parent);
        w->run[i] = w->unwound[i];
    }
}

/* Tells a path's depth, and those of the paths around it. */
static void tell_depth(struct weights *w, uint32_t path)
{
    uint32_t depth = 0;
    uint32_t at = path;
    for (; at != w->root && !w->paths[at].depth; at = w->paths[at].parent)
        depth++;
    depth += w->paths[at].depth;
    for (at = path; at != w->root && !w->paths[at].depth; at = w->paths[at].parent)
        w->paths[at].depth = depth--;
}

/* Nodes by depth, the deepest first. false: out of memory. */
static bool sort_nodes(struct weights *w)
{
    uint32_t nodes = pathmap_node_count(w->map), deepest = 0;
    for (uint32_t i = 0; i < w->root; i++) {
        tell_depth(w, i);
        deepest = w->paths[i].depth > deepest ? w->paths[i].depth : deepest;
    }
    uint32_t *first = calloc((size_t)deepest + 2, sizeof *first);
    if (!first)
        return false;
    for (uint32_t i = 0; i < nodes; i++)
        first[deepest - w->paths[path_of(w, i)].depth + 1]++;
    for (uint32_t d = 0; d <= deepest; d++)
        first[d + 1] += first[d];
    for (uint32_t i = 0; i < nodes; i++)
        w->by_depth[first[deepest - w->paths[path_of(w, i)].depth]++] = i;
    free(first);
    return true;
}

/* What stops at or below each node, of what stops at each. NULL: out of memory. */
static double *sum_below(const struct weights *w, const double *self)
{
    uint32_t nodes = pathmap_node_count(w->map);
    double *below = malloc(((size_t)nodes + 1) * sizeof *below);
    if (!below)
        return NULL;
    for (uint32_t i = 0; i < nodes; i++)
        below[i] = self[i];
    for (uint32_t k = 0; k < nodes; k++) {
        uint32_t parent = pathmap_node(w->map, w->by_depth[k]).parent;
        if (parent != PATHMAP_NONE)
            below[parent] += below[w->by_depth[k]];
    }
    return below;
}

/* Training's samples at each node; where it counted calls, each stands for one. false: out of memory. */
static bool count_training(struct weights *w, bool calls)
{
    double *walks = sum_below(w, w->run); /* of the unwound samples */
    for (uint32_t i = 0; walks && i < pathmap_node_count(w->map); i++) {
        struct pathmap_node n = pathmap_node(w->map, i);
        double trained = calls ? (double)n.passes - walks[i] : (double)n.self - w->run[i];
        w->trained[i] = trained > 0 ? trained : 0;
        w->paths[n.path].trained_self += w->trained[i];
    }
    free(walks);
    return walks;
}

/* What training has at or below each path. false: out of memory. */
static bool sum_training(struct weights *w)
{
    double *below = sum_below(w, w->trained);
    for (uint32_t i = 0; below && i < pathmap_node_count(w->map); i++) {
        struct pathmap_node n = pathmap_node(w->map, i);
        w->paths[n.path].trained += below[i];
        if (n.parent == PATHMAP_NONE)
            w->paths[w->root].trained += below[i];
    }
    free(below);
    return below;
}

/* Names the path's transitions, counts training's. false: out of memory. */
static bool count_path(struct weights *w, uint32_t path)
{
    struct path *p = &w->paths[path], *c = &w->paths[p->parent];
    uint32_t outer = p->parent == w->root ? BACKOFF_OUTSIDE : w->paths[c->parent].function;
    p->enter = backoff_transition(w->backoff, outer, c->function, p->function);
    p->stop = backoff_transition(w->backoff, c->function, p->function, BACKOFF_STOP);
    if (p->enter == BACKOFF_NONE || p->stop == BACKOFF_NONE)
        return false;
    count_kind(w, c, p->enter, 0, p->trained);
    count_kind(w, p, p->stop, 0, p->trained_self);
    return true;
}

static bool build(struct weights *w, bool calls)
{
    uint32_t nodes = pathmap_node_count(w->map);
    w->root = pathmap_path_count(w->map);
    w->backoff = backoff_new();
    w->paths = malloc(((size_t)w->root + 1) * sizeof *w->paths);
    w->by_depth = malloc(((size_t)nodes + 1) * sizeof *w->by_depth);
    w->trained = calloc((size_t)nodes + 1, sizeof *w->trained);
    w->run = calloc((size_t)nodes + 1, sizeof *w->run);
    if (!w->backoff || !w->paths || !w->by_depth || !w->trained || !w->run)
        return false;
    read_paths(w);
    if (!sort_nodes(w) || !count_training(w, calls) || !sum_training(w))
        return false;
    for (uint32_t i = 0; i < w->root; i++)
        if (!count_path(w, i))
            return false;
    for (uint32_t i = 0; i < nodes; i++)
        if (w->unwound[i])
            add_samples(w, path_of(w, i), w->unwound[i]);
    return true;
}

struct weights *weights_new(const struct pathmap *map, const uint32_t *unwound, bool calls)
{
    struct weights *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->map = map;
    w->unwound = unwound;
    if (!build(w, calls)) {
        weights_free(w);
        w = NULL;
    }
    return w;
}

void weights_free(struct weights *w)
{
    if (!w)
        return;
    backoff_free(w->backoff);
    free(w->paths);
    free(w->by_depth);
    free(w->trained);
    free(w->run);
    free(w->shares);
    free(w->cids);
    free(w);
}

void weights_admit(struct weights *w, const struct admission *admission)
{
    w->admission = admission;
}

/* Whether a node of the CID can be in its setting. */
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
    if (!vec_reserve(w->shares, w->share_count, w->share_room, cid.count))
        return -ENOMEM;
    for (uint32_t i = 0; i < cid.count; i++) {
        bool admitted = is_admitted(w, &cid, cid.first + i);
        w->shares[cid.shares + i] = admitted ? 0 : NOT_ADMITTED;
        any |= admitted;
    }
    if (!any)
        return 0;
    if (!vec_reserve(w->cids, w->cid_count, w->cid_room, 1))
        return -ENOMEM;
    w->share_count += cid.count;
    w->cids[w->cid_count++] = cid;
    return 0;
}

/* Counts a CID's samples at its paths, by their shares. */
static void count_cid(struct weights *w, const struct cid *c)
{
    const double *shares = w->shares + c->shares;
    for (uint32_t i = 0; i < c->count; i++)
        if (shares[i] > 0 && shares[i] != NOT_ADMITTED)
            add_samples(w, path_of(w, c->first + i), WEIGHTS_GUESS * (double)c->samples * shares[i]);
}

/* The shares of a CID's paths by all that is counted; returns the largest. */
static double share_out(struct weights *w, const struct cid *c)
{
    double *shares = w->shares + c->shares, most = -HUGE_VAL, sum = 0, largest = 0;
    uint32_t last = PATHMAP_NONE; /* path that was scored last: nodes of one stand side by side */
    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t path = path_of(w, c->first + i);
        if (shares[i] == NOT_ADMITTED)
            continue;
        shares[i] = path != last ? score(w, path) : -HUGE_VAL;
        most = shares[i] > most ? shares[i] : most;
        last = path;
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
    if (x->surest != y->surest)
        return x->surest > y->surest ? -1 : 1;
    if (x->samples != y->samples)
        return x->samples > y->samples ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

void weights_run(struct weights *w, bool learn)
{
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
}

bool weights_cid(const struct weights *w, size_t number, struct weights_cid *out)
{
    if (number >= w->cid_count)
        return false;
    const struct cid *c = &w->cids[number];
    *out = (struct weights_cid){c->setting, c->first, c->count, w->shares + c->shares};
    return true;
}

/* Of training's samples below each function, how much counts. NULL: out of memory. */
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
        self[i] = w->run[i];
    for (size_t c = 0; self && c < w->cid_count; c++)
        for (uint32_t i = 0; i < w->cids[c].count; i++) {
            double share = w->shares[w->cids[c].shares + i];
            self[w->cids[c].first + i] += WEIGHTS_GUESS * (double)w->cids[c].samples * share;
        }
    double *passes = self ? sum_below(w, self) : NULL, *trained = sum_below(w, w->trained);
    double *scale = trained ? scale_training(w, trained) : NULL;
    bool good = passes && scale;
    for (uint32_t i = 0; good && i < nodes; i++) {
        if (!pathmap_node_sound(w->map, i))
            continue;
        double part = scale[pathmap_node(w->map, i).function];
        self[i] += part * w->trained[i];
        passes[i] += part * trained[i];
    }
    free(trained);
    free(scale);
    if (good) {
        *out = (struct graph_weights){passes, self};
        return 0;
    }
    free(self);
    free(passes);
    return -ENOMEM;
}
