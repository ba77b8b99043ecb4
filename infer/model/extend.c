/* extend.c - see extend.h. */
#include "infer/model/extend.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/sort.h"
#include "base/vec.h"
#include "infer/model/automaton.h"
#include "infer/model/realigned.h"
#include "pathmap/map/partial.h"
#include "process/partial.h"

#define MAX_DEPTH 65536
#define BEST      32u /* paths asked for per CID */
/* samples of this run or of training in a context, from which calls are expected there */
#define LIKELY 0.5
#define LEAST  0.01 /* share of the best path's probability below which a path is not entered */

/* If hardly any walk outwards from a CID's function ends at its height, and not because of the number of calls on the way, then
 * it is more probable that the height is wrong (below a signal frame, say) than that this run was there. CIDs of real paths
 * have 1e-4 and more, even if most calls were never seen; exceptions are runs of which nothing was learned, and deep
 * recursions, where of two equal callers each has a little less than a half. */
#define OUTLIER      1e-6
#define OUTLIER_CALL 0.4 /* its powers are 0 from 814 calls on: such paths never count as outliers */

#define OF_OWN      4u /* share of the work reserved for CIDs' own settings, as a divisor */
#define STEP_BYTES  1u /* bytes of an automaton's memory per step of its work */
#define BYTES_LEAST (16u << 20)

#define ROUGHLY 2u  /* steps for each item of a graph and its automaton, roughly, */
#define ENTERED 24u /* and for each frame of a path that is entered into the trie, and weighted later */

#define NONE UINT32_MAX /* as an entry */

/* A step of a path that the automaton found, with the path outside of it. */
struct entry {
    struct automaton_step step;
    uint32_t outer; /* entry, or NONE */
    uint32_t depth;
    uint32_t node;    /* of the trie; TRIE_NONE: not entered */
    uint32_t setting; /* that `admitted` is valid for; NONE: for none yet */
    bool admitted;
    bool open; /* goes through a frame of open size */
};

/* The state of one call of extend_paths(). */
struct extending {
    const struct extend_input *in;
    const struct pathmap *map; /* from the input */
    struct work *work;         /* for the setting; NULL: no limit */
    bool last;                 /* there is no narrower setting in which to search for paths */
    bool handlers;             /* the map has signal handlers */
    uint32_t signal;           /* the root of handlers on alternate stacks; PATHMAP_NONE: none */
    struct graph *graph;
    struct automaton *automaton;
    struct automaton_cid *requested;
    size_t requested_count;
    struct automaton_step *steps; /* scratch */
    struct entry *entries;
    size_t entry_count, entry_capacity;
    uint32_t *chain; /* scratch: paths or entries, from the inside out */
    size_t chain_count, chain_capacity;
    struct extension *out;
};

static int note_path(struct extension *out, struct expected_path path)
{
    return vec_push(out->paths, out->count, out->capacity, path) ? 0 : -ENOMEM;
}

/* Paths of a CID were not searched for in full: counts it as cut if it has none from training or from samples of this run. */
static int note_cut(struct extending *x, const struct wanted *w)
{
    struct extension *out = x->out;
    uint32_t first;
    if (pathmap_find(x->map, w->function, w->height, &first) > 0)
        return 0;
    out->summary.cut += extend_need(w);
    return vec_push(out->cut, out->cut_count, out->cut_capacity, *w) ? 0 : -ENOMEM;
}

/* Whether the setting allows the path in x->steps. */
static bool is_admitted(const struct extending *x, uint32_t setting, size_t depth)
{
    bool good = true;
    for (size_t i = 0; good && x->in->admission && i < depth; i++)
        good = admission_fits(x->in->admission, setting, x->steps[i].function, x->steps[i].height,
                              i ? x->steps[i - 1].function : PATHMAP_NONE);
    return good;
}

/* Enters the path in x->steps; -ENOMEM. *open: set if it goes through a frame of open size. */
static int enter_path(struct extending *x, uint32_t setting, size_t depth, double share, bool *open)
{
    uint32_t node = TRIE_ROOT;
    for (size_t i = 0; i < depth; i++) {
        *open |= x->steps[i].open;
        node = trie_child(x->in->trie, node, x->steps[i].function, x->steps[i].height, x->steps[i].site);
        if (node == TRIE_NONE)
            return -ENOMEM;
    }
    return note_path(x->out, (struct expected_path){node, setting, share});
}

/* The entry of an automaton's path, created together with its outer ones. 0 or -ENOMEM. */
static int find_entry(struct extending *x, uint32_t path, uint32_t *entry)
{
    struct automaton_step step;
    x->chain_count = 0;
    for (uint32_t at = path; at != AUTOMATON_END && !*automaton_note(x->automaton, at);)
        if (!vec_push(x->chain, x->chain_count, x->chain_capacity, at) ||
            automaton_step(x->automaton, at, &step, &at) < 0)
            return -ENOMEM;
    work_take(x->work, ROUGHLY * x->chain_count);
    while (x->chain_count) {
        uint32_t at = x->chain[--x->chain_count], outer;
        if (automaton_step(x->automaton, at, &step, &outer) < 0)
            return -ENOMEM;
        struct entry new = {.step = step, .outer = NONE, .depth = 1, .node = TRIE_NONE, .setting = NONE};
        new.open = step.open;
        if (outer != AUTOMATON_END) {
            new.outer = *automaton_note(x->automaton, outer) - 1;
            new.depth += x->entries[new.outer].depth;
            new.open |= x->entries[new.outer].open;
        }
        if (!vec_push(x->entries, x->entry_count, x->entry_capacity, new))
            return -ENOMEM;
        *automaton_note(x->automaton, at) = (uint32_t)x->entry_count;
    }
    *entry = *automaton_note(x->automaton, path) - 1;
    return 0;
}

/* Whether the setting allows an entry's path: 1 or 0; -ENOMEM. */
static int admit_entry(struct extending *x, uint32_t setting, uint32_t entry)
{
    if (!x->in->admission || x->entries[entry].depth > MAX_DEPTH)
        return x->entries[entry].depth <= MAX_DEPTH;
    x->chain_count = 0;
    for (uint32_t at = entry; at != NONE && x->entries[at].setting != setting; at = x->entries[at].outer)
        if (!vec_push(x->chain, x->chain_count, x->chain_capacity, at))
            return -ENOMEM;
    while (x->chain_count) {
        struct entry *e = &x->entries[x->chain[--x->chain_count]];
        const struct entry *outer = e->outer == NONE ? NULL : &x->entries[e->outer];
        e->setting = setting;
        e->admitted = (!outer || outer->admitted) &&
                      admission_fits(x->in->admission, setting, e->step.function, e->step.height,
                                     outer ? outer->step.function : PATHMAP_NONE);
    }
    return x->entries[entry].admitted;
}

/* The trie's parent for an outermost step: for a handler on an alternate stack the root for these. */
static uint32_t root_of(const struct extending *x, const struct automaton_step *step)
{
    uint32_t first, count = x->signal == PATHMAP_NONE || step->height != UNWIND_SIGNAL_HEIGHT
                                ? 0
                                : pathmap_find(x->map, step->function, step->height, &first);
    for (uint32_t i = 0; i < count; i++)
        if (pathmap_node(x->map, first + i).parent == x->signal)
            return partial_node(x->in->trie, PARTIAL_SIGNAL);
    return TRIE_ROOT;
}

/* Enters an entry's path into the trie. 0 or -ENOMEM. */
static int enter_entry(struct extending *x, uint32_t setting, uint32_t entry, double share)
{
    x->chain_count = 0;
    for (uint32_t at = entry; at != NONE && x->entries[at].node == TRIE_NONE; at = x->entries[at].outer)
        if (!vec_push(x->chain, x->chain_count, x->chain_capacity, at))
            return -ENOMEM;
    while (x->chain_count) {
        struct entry *e = &x->entries[x->chain[--x->chain_count]];
        uint32_t parent = e->outer == NONE ? root_of(x, &e->step) : x->entries[e->outer].node;
        e->node = parent == TRIE_NONE
                      ? TRIE_NONE
                      : trie_child(x->in->trie, parent, e->step.function, e->step.height, e->step.site);
        if (e->node == TRIE_NONE)
            return -ENOMEM;
    }
    return note_path(x->out, (struct expected_path){x->entries[entry].node, setting, share});
}

/* Whether the CID's height is an outlier: 1 or 0; -ENOMEM. */
static int is_outlier(struct extending *x, const struct automaton_answer *answer)
{
    uint32_t best;
    if (answer->chance >= OUTLIER || !pathmap_node_count(x->map))
        return 0;
    int rc = find_entry(x, answer->path[0], &best);
    return rc < 0 ? rc : answer->chance < pow(OUTLIER_CALL, x->entries[best].depth);
}

/* Enters the most probable paths of the CID that was found last. */
static int enter_paths(struct extending *x, const struct wanted *w, const struct automaton_answer *answer)
{
    uint32_t entries[AUTOMATON_BEST_MAX];
    double share[AUTOMATON_BEST_MAX], most = 0;
    int rc = 0;
    bool open = false;
    for (uint32_t r = 0; rc >= 0 && r < answer->best; r++) {
        rc = find_entry(x, answer->path[r], &entries[r]);
        if (rc == 0)
            rc = admit_entry(x, w->setting, entries[r]);
        share[r] = rc > 0 ? answer->probability[r] : 0;
        most = share[r] > most ? share[r] : most;
    }
    for (uint32_t r = 0; rc >= 0 && r < answer->best; r++) {
        if (share[r] <= 0 || share[r] < LEAST * most)
            continue;
        work_take(x->work, (uint64_t)ENTERED * x->entries[entries[r]].depth);
        rc = enter_entry(x, w->setting, entries[r], share[r]);
        open |= x->entries[entries[r]].open;
    }
    x->out->summary.open += open;
    return rc < 0 ? rc : 0;
}

/* Enters a path: that of a map's node, and a call of the CID's function from it. */
static int enter_call(struct extending *x, const struct wanted *w, uint32_t node, uint64_t site)
{
    size_t depth = 0;
    for (uint32_t at = node; at != PATHMAP_NONE; at = pathmap_node(x->map, at).parent)
        depth++;
    if (depth >= MAX_DEPTH || !work_take(x->work, ENTERED * ((uint64_t)depth + 1)))
        return 0;
    x->steps[depth] = (struct automaton_step){w->function, w->height, site, false};
    for (size_t i = depth; i-- > 0;) {
        struct pathmap_node n = pathmap_node(x->map, node);
        x->steps[i] = (struct automaton_step){n.function, n.height, n.site, false};
        node = n.parent;
    }
    bool open = false;
    return is_admitted(x, w->setting, depth + 1) ? enter_path(x, w->setting, depth + 1, 0, &open) : 0;
}

/* Enters calls of the CID's function from contexts that this run probably has: among the best paths others may displace them,
 * or they may be missing, as calls through pointers are if direct ones lead outwards. */
static int enter_calls(struct extending *x, const struct wanted *w, struct graph_edges edges)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < edges.count; i++) {
        const struct graph_edge *e = &edges.edges[i];
        uint32_t first, count = 0;
        if (e->caller != GRAPH_ROOT && e->rise >= 8 && e->rise <= w->height)
            count = pathmap_find(x->map, e->caller, w->height - e->rise, &first);
        work_take(x->work, 1 + count);
        for (uint32_t n = 0; rc == 0 && n < count && !work_is_done(x->work); n++)
            if (x->in->weights->passes[first + n] >= LIKELY)
                rc = enter_call(x, w, first + n, e->site);
    }
    return rc;
}

static int enter_all_calls(struct extending *x, const struct wanted *w)
{
    uint32_t function = w->function;
    const uint32_t *classes;
    if (!x->in->weights)
        return 0;
    uint32_t count = graph_classes(x->graph, function, &classes);
    int rc = enter_calls(x, w, graph_callers(x->graph, function));
    if (rc == 0)
        rc = enter_calls(x, w, graph_static_callers(x->graph, function));
    for (uint32_t c = 0; rc == 0 && c < count; c++)
        rc = enter_calls(x, w, graph_class_callers(x->graph, classes[c]));
    return rc;
}

/* Paths that the CID has if a signal frame has another alignment than in training. */
struct realigning {
    struct realigned paths[BEST];
    double chance[BEST], sum;
    size_t count;
};

static void find_realigned(struct extending *x, const struct wanted *w, struct realigning *out)
{
    struct realigned paths[BEST];
    size_t count = x->handlers ? realigned_find(x->map, w->function, w->height, paths, BEST) : 0;
    out->count = 0;
    out->sum = 0;
    for (size_t i = 0; i < count; i++) {
        size_t depth = realigned_path(x->map, paths[i], x->steps, MAX_DEPTH);
        if (!depth || !is_admitted(x, w->setting, depth))
            continue;
        out->paths[out->count] = paths[i];
        out->chance[out->count] = realigned_chance(x->map, paths[i].node);
        out->sum += out->chance[out->count++];
    }
}

/* Enters these paths; whole: the total probability of the CID's paths. */
static int enter_realigned(struct extending *x, const struct wanted *w, const struct realigning *r,
                           double whole)
{
    int rc = 0;
    bool open = false;
    for (size_t i = 0; rc == 0 && i < r->count; i++) {
        size_t depth = realigned_path(x->map, r->paths[i], x->steps, MAX_DEPTH);
        rc = enter_path(x, w->setting, depth, r->chance[i] / whole, &open);
    }
    return rc;
}

/* Finds the automaton's paths of a CID, with their probabilities in proportion to those of realigned ones. 0; -ENOENT: there
 * are none worth entering; -ENOSPC; -ENOMEM. */
static int find_with_realigned(struct extending *x, const struct wanted *w,
                               const struct realigning *realigned, struct automaton_answer *answer)
{
    int rc = automaton_find(x->automaton, w->function, w->height, answer);
    if (rc < 0 || realigned->count == 0)
        return rc < 0 ? rc : (rc = is_outlier(x, answer)) > 0 ? -ENOENT : rc;
    double share = answer->chance / (answer->chance + realigned->sum);
    if (share < LEAST)
        return -ENOENT;
    for (uint32_t r = 0; r < answer->best; r++)
        answer->probability[r] *= share;
    return 0;
}

/* Enters the CID's paths. Returns 1 if it is done, 0 if a narrower setting may have more; or -ENOMEM. */
static int extend_one(struct extending *x, const struct wanted *w)
{
    struct automaton_answer answer;
    struct realigning realigned;
    struct extend_summary *summary = &x->out->summary;
    size_t before = x->out->count;
    find_realigned(x, w, &realigned);
    int rc = find_with_realigned(x, w, &realigned, &answer);
    double beside = rc == 0 ? answer.chance : 0;
    if (rc == -ENOMEM || enter_realigned(x, w, &realigned, realigned.sum + beside) < 0)
        return -ENOMEM;
    bool only = realigned.count && rc < 0;
    if ((!only && enter_all_calls(x, w) < 0) || (rc == 0 && enter_paths(x, w, &answer) < 0))
        return -ENOMEM;
    bool found = x->out->count > before, cut = !found && (work_is_done(x->work) || x->in->statics->left_out),
         ends = found || x->last;
    if (cut && (ends || work_is_done(x->work)))
        return note_cut(x, w) < 0 ? -ENOMEM : 1;
    summary->found += found;
    summary->impossible += ends && !found && rc != -ENOSPC;
    summary->too_high += ends && !found && rc == -ENOSPC;
    return found;
}

static int heavier_first(const void *a, const void *b)
{
    const struct wanted *x = a, *y = b;
    return order_of(y->samples, x->samples) ?: order_of(x->function, y->function) ?: order_of(x->height, y->height) ?: order_of(x->setting, y->setting);
}

static uint64_t calls_steps(const struct statics *statics)
{
    uint64_t steps = statics->count;
    for (size_t i = 0; i < statics->class_count; i++)
        steps += statics->classes[i].count + statics->classes[i].target_count;
    return ROUGHLY * steps;
}

static bool prepare_extension(struct extending *x, size_t count)
{
    x->steps = malloc(MAX_DEPTH * sizeof *x->steps);
    x->requested = malloc((count + 1) * sizeof *x->requested);
    x->handlers = realigned_any(x->map);
    x->signal = partial_find(x->map, PARTIAL_SIGNAL);
    if (!x->steps || !x->requested)
        return false;
    work_take(x->in->work, calls_steps(x->in->statics));
    return true;
}

/* Less work needs less memory. */
static size_t bytes_for(const struct work *work)
{
    uint64_t bytes = work ? work->left * STEP_BYTES : AUTOMATON_BYTES;
    bytes = bytes < BYTES_LEAST ? BYTES_LEAST : bytes;
    return bytes < AUTOMATON_BYTES ? (size_t)bytes : AUTOMATON_BYTES;
}

/* Makes the automaton of a setting, for x->asked. false: out of memory. */
static bool enter_setting(struct extending *x, uint32_t setting)
{
    struct automaton_options options = {.best = BEST,
                                        .cids = x->requested,
                                        .cid_count = x->requested_count,
                                        .least = x->in->least,
                                        .bytes = bytes_for(x->work),
                                        .work = x->work};
    x->graph =
        graph_new(x->map, x->in->statics, x->in->weights, (struct graph_scope){x->in->admission, setting});
    x->automaton = x->graph ? automaton_new(x->graph, &options) : NULL;
    return x->automaton;
}

static void leave_setting(struct extending *x)
{
    if (x->automaton)
        x->out->summary.states += automaton_states(x->automaton);
    automaton_free(x->automaton);
    graph_free(x->graph);
    x->automaton = NULL;
    x->graph = NULL;
}

/* CIDs whose paths are searched for, in up to two settings each. */
struct search {
    const struct wanted *wanted;
    size_t count;
    /* by setting: where paths are searched for in this round */
    const uint32_t *in;
    uint8_t *progress;                                   /* by CID: enum progress */
    enum progress { NOT_TRIED, TRIED_WIDER, DONE } from; /* those that this round is for */
};

static bool is_in(const struct search *s, size_t cid, uint32_t setting)
{
    return s->progress[cid] == s->from && s->in[s->wanted[cid].setting] == setting;
}

/* The setting's share of the work, by the number of its samples. */
static struct work part_of(const struct extending *x, const struct search *s, uint32_t setting)
{
    uint64_t here = 0, all = 0;
    for (size_t i = 0; i < s->count; i++) {
        uint64_t need = s->progress[i] == s->from ? extend_need(&s->wanted[i]) + 1 : 0;
        all += need;
        here += is_in(s, i, setting) ? need : 0;
    }
    uint64_t left = x->in->work ? x->in->work->left : 0;
    return work_part(x->in->work, all ? (uint64_t)((double)left * ((double)here / (double)all)) : 0);
}

/* Searches for the paths of this round's CIDs in the setting. 0 or -ENOMEM. */
static int extend_each(struct extending *x, const struct search *s, uint32_t setting)
{
    uint64_t nodes = (uint64_t)pathmap_node_count(x->map) + pathmap_function_count(x->map);
    int rc = 0;
    x->requested_count = 0;
    for (size_t i = 0; i < s->count; i++)
        if (is_in(s, i, setting))
            x->requested[x->requested_count++] =
                (struct automaton_cid){s->wanted[i].function, s->wanted[i].height};
    if (work_take(x->work, calls_steps(x->in->statics) + ROUGHLY * nodes))
        rc = enter_setting(x, setting) ? 0 : -ENOMEM;
    for (size_t i = 0; rc >= 0 && i < s->count; i++) {
        if (!is_in(s, i, setting))
            continue;
        x->last = setting == s->wanted[i].setting;
        bool cut = work_is_done(x->work);
        rc = cut ? note_cut(x, &s->wanted[i]) : extend_one(x, &s->wanted[i]);
        s->progress[i] = rc > 0 || cut || x->last ? DONE : TRIED_WIDER;
    }
    leave_setting(x);
    return rc < 0 ? rc : 0;
}

/* The same with the setting's part of the work. */
static int extend_in(struct extending *x, const struct search *s, uint32_t setting)
{
    struct work part = part_of(x, s, setting);
    x->work = x->in->work ? &part : NULL;
    int rc = extend_each(x, s, setting);
    work_give_back(x->in->work, &part);
    x->work = NULL;
    return rc;
}

/* Searches for the paths of all CIDs in wider settings first, then in their own. */
static int extend_all(struct extending *x, const struct wanted *wanted, size_t count)
{
    uint32_t settings = 1, any = SETTING_ANY;
    for (size_t i = 0; i < count; i++)
        settings = wanted[i].setting >= settings ? wanted[i].setting + 1 : settings;
    uint32_t *own = malloc(settings * sizeof *own);
    struct search s = {wanted, count, x->in->admission ? x->in->wider : &any, calloc(count + 1, 1),
                       NOT_TRIED};
    bool narrower = false;
    for (size_t i = 0; x->in->admission && i < count; i++)
        narrower |= x->in->wider[wanted[i].setting] != wanted[i].setting;
    uint64_t kept = x->in->work && narrower ? x->in->work->left / OF_OWN : 0;
    struct work rest = work_part(x->in->work, kept);
    int rc = own && s.progress ? 0 : -ENOMEM;
    for (uint32_t i = 0; rc == 0 && i < settings; i++)
        own[i] = i;
    for (size_t i = 0; rc == 0 && i < count; i++)
        if (s.progress[i] == NOT_TRIED)
            rc = extend_in(x, &s, s.in[wanted[i].setting]);
    work_give_back(x->in->work, &rest);
    s.in = own;
    s.from = TRIED_WIDER;
    for (size_t i = 0; rc == 0 && i < count; i++)
        if (s.progress[i] == TRIED_WIDER)
            rc = extend_in(x, &s, wanted[i].setting);
    free(own);
    free(s.progress);
    return rc;
}

int extend_paths(const struct extend_input *input, struct wanted *wanted, size_t count, struct extension *out,
                 struct fathom_error *err)
{
    struct extending x = {.in = input, .map = input->map, .out = out};
    *out = (struct extension){0};
    int rc = prepare_extension(&x, count) ? 0 : -ENOMEM;
    qsort(wanted, count, sizeof *wanted,
          heavier_first); /* since equal paths rank in the order in which they were entered */
    if (rc == 0)
        rc = extend_all(&x, wanted, count);
    free(x.steps);
    free(x.entries);
    free(x.chain);
    free(x.requested);
    if (rc < 0)
        extension_free(out);
    return rc < 0 ? error_memory(err) : 0;
}

void extension_free(struct extension *extension)
{
    free(extension->paths);
    free(extension->cut);
    *extension = (struct extension){0};
}
