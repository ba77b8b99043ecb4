/* coherence.c - see coherence.h. */
#include "infer/model/coherence.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/vec.h"

#define LIKELY   0.05  /* share of the most probable state's weight that makes a state likely */
#define GAPS_MIN 0.125 /* limits of coherence_gaps() */
#define GAPS_MAX 4.0

struct state {
    const struct ancestry *path; /* NULL: the state did not occur yet */
    double self;                 /* expected samples */
    double counted;              /* in this round */
};

struct counted {
    uint32_t answer;
    double samples;
};

struct coherence {
    struct resolver *resolver; /* borrowed */
    struct lineage *lineage;
    struct renewal *renewal;
    struct state *states; /* by the resolver's number of the candidate */
    uint32_t capacity;
    struct counted *answers;
    uint32_t answer_count, answer_capacity;
    uint64_t gap;  /* ns */
    uint32_t most; /* candidates of an answer */
};

struct coherence *coherence_new(struct resolver *resolver)
{
    struct coherence *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->resolver = resolver;
    m->most = CANDIDATES_MAX;
    m->lineage = lineage_new(resolver_map(resolver));
    m->renewal = m->lineage ? renewal_new(m->lineage) : NULL;
    return whole_or_free(m, m->renewal, coherence_free);
}

void coherence_free(struct coherence *m)
{
    if (!m)
        return;
    renewal_free(m->renewal);
    lineage_free(m->lineage);
    free(m->states);
    free(m->answers);
    free(m);
}

void coherence_set_most(struct coherence *m, uint32_t most)
{
    m->most = most;
}

uint32_t coherence_most(const struct coherence *m)
{
    return m->most;
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

static int reserve_states(struct coherence *m, uint32_t states)
{
    uint32_t before = m->capacity;
    if (!vec_reserve(m->states, 0, m->capacity, states))
        return -1;
    if (m->capacity > before)
        memset(m->states + before, 0, (m->capacity - before) * sizeof *m->states);
    return vec_reserve(m->answers, m->answer_count, m->answer_capacity, 1) ? 0 : -1;
}

int coherence_count(struct coherence *m, uint32_t answer, double samples)
{
    const struct candidate_path *candidates;
    uint32_t first, count = resolver_candidates(m->resolver, answer, &candidates, &first);
    if (reserve_states(m, first + count) < 0)
        return -ENOMEM;
    if (m->states[first].path)
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        struct state *s = &m->states[first + i];
        *s = (struct state){.path = lineage_of(m->lineage, candidates[i].node),
                            .self = samples * (double)candidates[i].probability};
        if (!s->path || renewal_add_state(m->renewal) < 0)
            return -ENOMEM;
        renewal_expect(m->renewal, s->path, s->self);
    }
    m->answers[m->answer_count++] = (struct counted){answer, samples};
    return 0;
}

double coherence_share(const struct coherence *m, uint32_t state)
{
    double total = renewal_total(m->renewal);
    return total > 0 ? m->states[state].self / total : 0;
}

double coherence_step(struct coherence *m, uint32_t from, uint32_t to, uint32_t level)
{
    const struct state *a = &m->states[from], *b = &m->states[to];
    return b->self * renewal_step(m->renewal, a->path, b->path, level);
}

/* Counts, for each likely state of a column, how many of the outermost frames of `a` it has. Returns the number of likely
 * states: at least the most probable one. */
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
            renewal_count(m->renewal, a->contexts[k - 1], stayed ? 0 : 1, stayed ? gaps : 1);
    }
}

void coherence_count_state(struct coherence *m, uint32_t state, double weight)
{
    m->states[state].counted += weight;
}

/* Distributes an answer's samples again: by what was counted, and by the resolver's ranks as far as its evidence goes. Returns
 * how many moved. */
static double share_out(struct coherence *m, const struct counted *answer)
{
    const struct candidate_path *candidates;
    uint32_t first, count = resolver_candidates(m->resolver, answer->answer, &candidates, &first);
    double evidence = resolver_evidence(m->resolver, answer->answer) + answer->samples, counted = 0,
           moved = 0;
    for (uint32_t i = 0; i < count; i++)
        counted += m->states[first + i].counted;
    for (uint32_t i = 0; i < count; i++) {
        struct state *s = &m->states[first + i];
        double share = (s->counted + evidence * (double)candidates[i].probability) / (counted + evidence) *
                       answer->samples;
        moved += fabs(share - s->self) / 2;
        renewal_expect(m->renewal, s->path, share - s->self);
        s->self = share;
        s->counted = 0;
    }
    return moved;
}

void coherence_set_strength(struct coherence *m, double strength)
{
    renewal_set_strength(m->renewal, strength);
}

double coherence_update(struct coherence *m)
{
    double moved = 0, total = renewal_total(m->renewal);
    for (uint32_t i = 0; i < m->answer_count; i++)
        moved += share_out(m, &m->answers[i]);
    renewal_update(m->renewal);
    return total > 0 ? moved / total : 0;
}
