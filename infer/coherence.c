/* coherence.c - see coherence.h. */
#include "infer/coherence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

#define NEAR                                                                                                 \
    64 /* distances from the innermost frame that have shares of their own; the last stands for more */
#define BACK_OFF 4.0   /* pairs below a context that weigh as much as the share by distance */
#define LEARN_AT 32.0  /* pairs at a distance that weigh as much as the guess */
#define LIKELY   0.05  /* a state is, that has this much of the most probable one's weight */
#define LEAST    1e-4  /* no frame stays or leaves for sure */
#define GAPS_MIN 0.125 /* limits of coherence_gaps() */
#define GAPS_MAX 4.0

/* Pairs of samples of which the first is below a context: how many gaps they lie apart, and those after which
 * the second is below it too. */
struct pairs {
    double stayed, all;
};

struct state {
    const struct ancestry *path; /* NULL: not met */
    double *kept; /* path->depth + 1: logarithm of the chance that the outermost i frames stay */
    float *calls; /* path->depth: how often training saw each frame called; NULL: it did not see all calls */
    double self;  /* expected samples */
    double counted, sure; /* in this round, and of those that are kept */
};

struct met {
    uint32_t first, count; /* states */
    uint32_t answer;
    double samples;
};

struct coherence {
    struct resolver *resolver; /* borrowed */
    struct lineage *lineage;
    struct arena *arena;
    struct state *states; /* by the resolver's number of the candidate */
    uint32_t room;
    struct met *met;
    uint32_t met_count, met_room;
    double *below;                            /* by function path's number: expected samples at or below it */
    struct pairs *pairs;                      /* by function path's number */
    struct pairs *sure;                       /* the same, those that are kept */
    struct pairs near[NEAR], near_sure[NEAR]; /* by frames from the innermost one */
    uint32_t paths;
    double total;
    uint64_t gap; /* ns */
};

struct coherence *coherence_new(struct resolver *resolver)
{
    struct coherence *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->resolver = resolver;
    m->paths = pathmap_path_count(resolver_map(resolver));
    m->lineage = lineage_new(resolver_map(resolver));
    m->arena = arena_new(0);
    m->below = calloc((size_t)m->paths + 1, sizeof *m->below);
    m->pairs = calloc((size_t)m->paths + 1, sizeof *m->pairs);
    if (!m->lineage || !m->arena || !m->below || !m->pairs) {
        coherence_free(m);
        m = NULL;
    }
    return m;
}

void coherence_free(struct coherence *m)
{
    if (!m)
        return;
    lineage_free(m->lineage);
    arena_free(m->arena);
    free(m->states);
    free(m->met);
    free(m->below);
    free(m->pairs);
    free(m);
}

void coherence_set_gap(struct coherence *m, uint64_t ns)
{
    m->gap = ns;
}

double coherence_gaps(const struct coherence *m, uint64_t from, uint64_t to)
{
    if (!m->gap)
        return 1;
    double gaps = to > from ? (double)(to - from) / (double)m->gap : 0;
    return gaps < GAPS_MIN ? GAPS_MIN : gaps > GAPS_MAX ? GAPS_MAX : gaps;
}

/* The share of a context, the i-th of a path, among those below the one around it. */
static double share_within(const struct coherence *m, const struct ancestry *path, uint32_t depth)
{
    double around = depth > 1 ? m->below[path->paths[depth - 2]] : m->total;
    double share = around > 0 ? m->below[path->paths[depth - 1]] / around : 0;
    return share < 1 ? share : 1;
}

static uint32_t away_of(const struct ancestry *path, uint32_t depth)
{
    return path->depth - depth < NEAR ? path->depth - depth : NEAR - 1;
}

/* The chance that the frame at this depth stays when those around it do. */
static double stay_of(const struct coherence *m, const struct state *s, uint32_t depth)
{
    uint32_t away = away_of(s->path, depth);
    double last = ((double)away + 1) * (away + 3) / ((away + 2.0) * (away + 2.0));
    last = (m->near[away].stayed + LEARN_AT * last) / (m->near[away].all + LEARN_AT);
    double again = share_within(m, s->path, depth);
    if (s->calls)
        last = exp(-s->calls[depth - 1] / (m->below[s->path->paths[depth - 1]] + 0.5));
    last = last < 0 ? 0 : last;
    const struct pairs *pairs = &m->pairs[s->path->paths[depth - 1]];
    double stay = (pairs->stayed + BACK_OFF * (again + (1 - again) * last)) / (pairs->all + BACK_OFF);
    return stay < LEAST ? LEAST : stay > 1 - LEAST ? 1 - LEAST : stay;
}

static void weigh_frames(struct coherence *m, struct state *s)
{
    s->kept[0] = 0;
    for (uint32_t i = 1; i <= s->path->depth; i++)
        s->kept[i] = s->kept[i - 1] + log(stay_of(m, s, i));
}

/* Adds to what the model expects at a state and below the contexts above it. */
static void expect(struct coherence *m, struct state *s, double samples)
{
    s->self += samples;
    m->total += samples;
    for (uint32_t i = 0; i < s->path->depth; i++)
        m->below[s->path->paths[i]] += samples;
}

static int reserve(struct coherence *m, uint32_t states)
{
    if (states > m->room) {
        uint32_t room = states + states / 2 + 256;
        struct state *more = realloc(m->states, room * sizeof *more);
        if (!more)
            return -1;
        memset(more + m->room, 0, (room - m->room) * sizeof *more);
        m->states = more;
        m->room = room;
    }
    if (m->met_count == m->met_room) {
        uint32_t room = m->met_room ? m->met_room * 2 : 256;
        struct met *more = realloc(m->met, room * sizeof *more);
        if (!more)
            return -1;
        m->met = more;
        m->met_room = room;
    }
    return 0;
}

/* Training's calls of each frame of the node's path, when all its images are hooked. false: out of memory. */
static bool count_calls(struct coherence *m, struct state *s, uint32_t node)
{
    const struct pathmap *map = resolver_map(m->resolver);
    uint32_t hooked = 0;
    for (uint32_t i = 0; i < pathmap_image_count(map); i++)
        hooked += pathmap_image(map, i).hooked;
    if (!hooked)
        return true;
    float *calls = arena_alloc(m->arena, (s->path->depth + 1) * sizeof *calls);
    if (!calls)
        return false;
    for (uint32_t i = s->path->depth; i-- > 0;) {
        struct pathmap_node n = pathmap_node(map, node);
        calls[i] = (float)n.passes;
        node = n.parent;
    }
    s->calls = calls;
    return true;
}

int coherence_meet(struct coherence *m, uint32_t answer, double samples)
{
    const struct candidate_path *candidates;
    uint32_t first, count = resolver_candidates(m->resolver, answer, &candidates, &first);
    if (reserve(m, first + count) < 0)
        return -1;
    if (m->states[first].path)
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        struct state *s = &m->states[first + i];
        const struct ancestry *path = lineage_of(m->lineage, candidates[i].node);
        double *kept = path ? arena_alloc(m->arena, (path->depth + 1) * sizeof *kept) : NULL;
        if (!kept)
            return -1;
        *s = (struct state){.path = path, .kept = kept};
        if (!count_calls(m, s, candidates[i].node))
            return -1;
        expect(m, s, samples * (double)candidates[i].probability);
        weigh_frames(m, s);
    }
    m->met[m->met_count++] = (struct met){first, count, answer, samples};
    return 0;
}

double coherence_share(const struct coherence *m, uint32_t state)
{
    return m->total > 0 ? m->states[state].self / m->total : 0;
}

double coherence_step(const struct coherence *m, uint32_t from, uint32_t to, double gaps)
{
    const struct state *a = &m->states[from], *b = &m->states[to];
    uint32_t common = ancestry_common(a->path, b->path);
    double kept = gaps * a->kept[common];
    double below = common ? m->below[a->path->paths[common - 1]] : m->total;
    double leave = 1;
    if (common < a->path->depth) {
        leave = 1 - exp(gaps * (a->kept[common + 1] - a->kept[common]));
        below -= m->below[a->path->paths[common]];
    }
    return below > b->self ? exp(kept) * leave * b->self / below : b->self > 0 ? exp(kept) * leave : 0;
}

/* Counts what became of one frame. Among all frames so far from the innermost one, only what goes beyond
 * chance counts: those that were left may come back at once. */
static void count_frame(struct coherence *m, const struct ancestry *a, uint32_t depth, double stayed,
                        double all)
{
    struct pairs *of = &m->pairs[a->paths[depth - 1]], *near = &m->near[away_of(a, depth)];
    double again = share_within(m, a, depth);
    of->stayed += stayed;
    of->all += all;
    near->stayed += stayed - again * all;
    near->all += (1 - again) * all;
}

/* How many of the outermost frames of `a` each likely state of a column has. Returns how many are likely: at
 * least the most probable one. */
static uint32_t count_common(const struct coherence *m, const struct column *c, const struct ancestry *a,
                             uint32_t common[CANDIDATES_MAX])
{
    const struct state *states = &m->states[c->first];
    double best = 0;
    uint32_t likely = 0;
    for (uint32_t i = 0; i < c->count; i++)
        best = states[i].self > best ? states[i].self : best;
    for (uint32_t i = 0; i < c->count; i++) {
        if (states[i].self >= LIKELY * best)
            common[likely++] = ancestry_common(a, states[i].path);
    }
    return likely;
}

static const struct state *best_of(const struct coherence *m, const struct column *c)
{
    const struct state *best = &m->states[c->first];
    for (uint32_t i = 1; i < c->count; i++)
        best = m->states[c->first + i].self > best->self ? &m->states[c->first + i] : best;
    return best;
}

void coherence_count_pair(struct coherence *m, const struct column *from, const struct column *to)
{
    const struct ancestry *a = best_of(m, from)->path;
    double gaps = coherence_gaps(m, from->time, to->time);
    uint32_t common[CANDIDATES_MAX], likely = count_common(m, from, a, common), sure = a->depth;
    for (uint32_t i = 0; i < likely; i++)
        sure = common[i] < sure ? common[i] : sure;
    likely = count_common(m, to, a, common);
    bool stayed = true;
    for (uint32_t k = 1; k <= sure && stayed; k++) {
        bool left = stayed = false;
        for (uint32_t i = 0; i < likely; i++) {
            stayed |= common[i] >= k;
            left |= common[i] == k - 1;
        }
        if (stayed != left)
            count_frame(m, a, k, stayed ? gaps : 0, stayed ? gaps : 1);
    }
}

void coherence_count_state(struct coherence *m, uint32_t state, double weight)
{
    m->states[state].counted += weight;
}

void coherence_keep_counts(struct coherence *m)
{
    for (uint32_t i = 0; i < m->room; i++)
        m->states[i].sure = m->states[i].counted;
}

/* Shares an answer's samples out anew: by what was counted, and the resolver's ranks as far as its evidence
 * goes. Returns how many moved. */
static double share_out(struct coherence *m, const struct met *met)
{
    const struct candidate_path *candidates;
    uint32_t first, count = resolver_candidates(m->resolver, met->answer, &candidates, &first);
    double evidence = resolver_evidence(m->resolver, met->answer) + met->samples, counted = 0, moved = 0;
    for (uint32_t i = 0; i < count; i++)
        counted += m->states[first + i].counted;
    for (uint32_t i = 0; i < count; i++) {
        struct state *s = &m->states[first + i];
        double share =
            (s->counted + evidence * (double)candidates[i].probability) / (counted + evidence) * met->samples;
        moved += fabs(share - s->self) / 2;
        expect(m, s, share - s->self);
        s->counted = s->sure;
    }
    return moved;
}

double coherence_update(struct coherence *m)
{
    double moved = 0;
    for (uint32_t i = 0; i < m->met_count; i++)
        moved += share_out(m, &m->met[i]);
    for (uint32_t i = 0; i < m->met_count; i++) {
        for (uint32_t s = 0; s < m->met[i].count; s++)
            weigh_frames(m, &m->states[m->met[i].first + s]);
    }
    return m->total > 0 ? moved / m->total : 0;
}
