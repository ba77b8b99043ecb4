/* stack_bases.c - see stack_bases.h. */
#include "infer/bases/stack_bases.h"

#include <stdlib.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "infer/bases/code_votes.h"
#include "infer/bases/main_stacks.h"
#include "infer/bases/map_votes.h"
#include "infer/bases/shared_votes.h"

/* Assumed size of a stack below a base that was not recorded: the default size of a thread's. */
#define STACK_BYTES (8u << 20)
/* share of samples below which no code is read: that takes seconds in large programs (as in model/fit.c) */
#define CODE_LEAST 0.005

struct stack_bases {
    struct table *own; /* (pid, tid) -> base of a thread's own stack */
    struct shared_stacks *shared;
    struct map_votes *ballots; /* with `votes`, set while votes are cast, else NULL */
    struct shared_votes *votes;
    /* (pid, tid) of threads with ballots -> number of samples whose path may depend on the base */
    struct table *voters;
    struct main_stacks *mains; /* of this pass */
    struct code_votes *code;
    uint64_t samples; /* whose base was asked for */
    /* samples whose path may depend on a main thread's base that the ballots did not find */
    uint64_t mains_left;
};

struct stack_bases *stack_bases_new(void)
{
    struct stack_bases *b = allocate(struct stack_bases, .own = table_new(), .voters = table_new(),
                                     .shared = shared_stacks_new(), .code = code_votes_new());
    return whole_or_free(b, b->code && b->own && b->voters && b->shared, stack_bases_free);
}

static void end_ballot(struct stack_bases *b)
{
    map_votes_free(b->ballots);
    shared_votes_free(b->votes);
    b->ballots = NULL;
    b->votes = NULL;
}

void stack_bases_free(struct stack_bases *b)
{
    if (!b)
        return;
    end_ballot(b);
    main_stacks_free(b->mains);
    code_votes_free(b->code);
    table_free(b->own);
    table_free(b->voters);
    shared_stacks_free(b->shared);
    free(b);
}

static uint64_t thread_key(const struct sample *sample)
{
    return (uint64_t)sample->pid << 32 | sample->tid;
}

int stack_bases_learn(struct stack_bases *b, const struct process *process, const struct sample *sample,
                      enum stack_kind before, struct fathom_error *err)
{
    uint64_t base;
    enum stack_kind now = process_stack_base(process, sample->tid, sample->sp, &base);
    if (now == STACK_SHARED && sample->sp < base)
        return shared_stacks_see(b->shared, sample->pid, sample->sp, base, sample->time) ? 0
                                                                                         : error_memory(err);
    if (now != STACK_OWN || before == STACK_OWN)
        return 0;
    return table_set(b->own, thread_key(sample), base) ? 0 : error_memory(err);
}

int stack_bases_begin(struct stack_bases *b, struct fathom_error *err)
{
    main_stacks_free(b->mains);
    b->mains = main_stacks_new();
    return b->mains ? 0 : error_memory(err);
}

int stack_bases_record(struct stack_bases *b, const struct record *record, struct fathom_error *err)
{
    return main_stacks_apply(b->mains, record) < 0 ? error_memory(err) : 0;
}

int stack_bases_ballot(struct stack_bases *b, struct resolver *resolver, struct image_cache *images,
                       struct fathom_error *err)
{
    b->ballots = map_votes_new(resolver);
    b->votes = shared_votes_new(resolver, images);
    return b->ballots && b->votes ? 0 : error_memory(err);
}

int stack_bases_vote(struct stack_bases *b, const struct process *process, const struct sample *sample,
                     const struct leaf_frame *frame, bool proved, struct fathom_error *err)
{
    uint64_t base;
    b->samples++;
    if (process_has_stack(process, sample->tid)) {
        if (process_stack_base(process, sample->tid, sample->sp, &base) == STACK_OWN)
            return 0;
        return shared_votes_add(b->votes, sample, frame, err);
    }
    if (table_find(b->own, thread_key(sample)))
        return 0;
    uint64_t *depending = table_put(b->voters, thread_key(sample), NULL);
    if (!depending)
        return error_memory(err);
    *depending += !proved && frame->reason == UNKNOWN_NOT;
    return map_votes_vote(b->ballots, sample, frame, err);
}

int stack_bases_settle(struct stack_bases *b, uint64_t *voted, struct fathom_error *err)
{
    size_t cursor = 0;
    uint64_t key, value, low, base;
    *voted = 0;
    while (table_next(b->voters, &cursor, &key, &value)) {
        if (!map_votes_winner(b->ballots, (uint32_t)(key >> 32), (uint32_t)key, &low, &base)) {
            if (key >> 32 == (uint32_t)key)
                b->mains_left += value;
            continue;
        }
        if (!table_set(b->own, key, base))
            return error_memory(err);
        (*voted)++;
    }
    int rc = shared_votes_settle(b->votes, b->shared, voted) < 0 ? error_memory(err) : 0;
    end_ballot(b);
    return rc;
}

bool stack_bases_want_code(const struct stack_bases *b)
{
    return b->mains_left && (double)b->mains_left >= CODE_LEAST * (double)b->samples;
}

int stack_bases_code_vote(struct stack_bases *b, const struct sample *sample, uint32_t function, uint64_t cfa,
                          struct fathom_error *err)
{
    uint32_t stack = main_stacks_of(b->mains, sample->pid, sample->tid);
    return stack && code_votes_add(b->code, stack, function, cfa) < 0 ? error_memory(err) : 0;
}

int stack_bases_code_settle(struct stack_bases *b, struct code_heights *heights, uint64_t *voted,
                            struct fathom_error *err)
{
    uint64_t won;
    if (code_votes_settle(b->code, heights, &won) < 0)
        return error_memory(err);
    *voted += won;
    return 0;
}

/* The base of the sample's own stack, if found. */
static bool find_own(const struct stack_bases *b, const struct process *process, const struct sample *sample,
                     uint64_t *base)
{
    if (process_has_stack(process, sample->tid))
        return false;
    const uint64_t *own = table_find(b->own, thread_key(sample));
    if (own)
        *base = *own;
    return own || code_votes_base(b->code, main_stacks_of(b->mains, sample->pid, sample->tid), base);
}

int stack_bases_apply(struct stack_bases *b, struct process *process, const struct sample *sample,
                      struct fathom_error *err)
{
    uint64_t base, own;
    enum stack_kind kind = process_stack_base(process, sample->tid, sample->sp, &base);
    if (kind == STACK_OWN)
        return 0;
    if (find_own(b, process, sample, &own)) {
        uint64_t low = own > STACK_BYTES ? own - STACK_BYTES : 0;
        int rc = process_set_stack(process, sample->tid, low, own, err);
        if (rc < 0 || (sample->sp >= low && sample->sp <= own))
            return rc;
    }
    const struct shared_stack *shared = shared_stacks_find(b->shared, sample->pid, sample->sp, sample->time);
    if (!shared || (kind == STACK_SHARED && shared->base == base))
        return 0;
    return process_set_shared_stack(process, shared->low, shared->base, err);
}
