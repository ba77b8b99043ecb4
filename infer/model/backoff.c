/* backoff.c - see backoff.h. Both orders are in the same arrays; a transition has the number of the one that it backs off to. */
#include "infer/model/backoff.h"

#include <stdlib.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "base/vec.h"

#define LITTLE 1e-9 /* below this is rounding error, left by sums that went up and down again */

struct context {
    double count, kinds;
};

struct transition {
    uint32_t context;
    uint32_t lower; /* BACKOFF_NONE: none */
    double count;
};

struct backoff {
    struct table
        *context_of; /* outer << 32 | inner -> number + 1; outer is BACKOFF_NONE in the lower order */
    struct table *transition_of; /* context << 32 | next -> number + 1 */
    struct context *contexts;
    uint32_t context_count, context_capacity;
    struct transition *transitions;
    uint32_t transition_count, transition_capacity;
};

struct backoff *backoff_new(void)
{
    struct backoff *b = allocate(struct backoff, .context_of = table_new(), .transition_of = table_new());
    return whole_or_free(b, b->context_of && b->transition_of, backoff_free);
}

void backoff_free(struct backoff *b)
{
    if (!b)
        return;
    table_free(b->context_of);
    table_free(b->transition_of);
    free(b->contexts);
    free(b->transitions);
    free(b);
}

static uint32_t context_at(struct backoff *b, uint32_t outer, uint32_t inner)
{
    return (uint32_t)table_index(b->context_of, (uint64_t)outer << 32 | inner, b->contexts, b->context_count,
                                 b->context_capacity, (struct context){0});
}

static uint32_t transition_at(struct backoff *b, uint32_t context, uint32_t next, uint32_t lower)
{
    return context == BACKOFF_NONE
               ? BACKOFF_NONE
               : (uint32_t)table_index(b->transition_of, (uint64_t)context << 32 | next, b->transitions,
                                       b->transition_count, b->transition_capacity,
                                       (struct transition){context, lower, 0});
}

uint32_t backoff_transition(struct backoff *b, uint32_t outer, uint32_t inner, uint32_t next)
{
    uint32_t lower = transition_at(b, context_at(b, BACKOFF_NONE, inner), next, BACKOFF_NONE);
    if (lower == BACKOFF_NONE)
        return BACKOFF_NONE;
    return transition_at(b, context_at(b, outer, inner), next, lower);
}

double backoff_kind(double count)
{
    return count < 0 ? 0 : count < 1 ? count : 1;
}

void backoff_add(struct backoff *b, uint32_t transition, double contexts)
{
    for (uint32_t t = transition; t != BACKOFF_NONE && contexts != 0; t = b->transitions[t].lower) {
        struct transition *of = &b->transitions[t];
        struct context *context = &b->contexts[of->context];
        double before = backoff_kind(of->count);
        of->count += contexts;
        context->count += contexts;
        contexts = backoff_kind(of->count) - before;
        context->kinds += contexts;
    }
}

double backoff_chance(const struct backoff *b, uint32_t transition)
{
    const struct transition *t = &b->transitions[transition];
    const struct context *context = &b->contexts[t->context];
    double lower = t->lower == BACKOFF_NONE ? BACKOFF_NEVER : backoff_chance(b, t->lower);
    double all = context->count + context->kinds;
    return all > LITTLE ? (t->count + context->kinds * lower) / all : lower;
}
