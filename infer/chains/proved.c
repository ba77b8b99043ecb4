/* proved.c - see proved.h. */
#include "infer/chains/proved.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/checksum.h"
#include "base/hash.h"
#include "base/vec.h"

/* What a sample is given. */
struct given {
    const uint8_t *stack; /* NULL: nothing */
    uint32_t stack_size;
    bool has_regs;
    uint64_t ip, sp, bp; /* if the sample had no registers */
};

struct proved {
    enum chain_source *sources; /* of each event */
    size_t event_count;
    struct given *given; /* of each sample with a chain, in order */
    size_t count, room;
    struct table *stacks; /* checksum -> the stack */
    struct arena *arena;
    /* while it is read */
    struct prover *prover;
    struct processes *processes;
};

void proved_free(struct proved *p)
{
    if (!p)
        return;
    free(p->sources);
    free(p->given);
    table_free(p->stacks);
    arena_free(p->arena);
    prover_free(p->prover);
    processes_free(p->processes);
    free(p);
}

static bool has_chain(const struct proved *p, const struct sample *sample)
{
    return sample->event < p->event_count && p->sources[sample->event] != CHAIN_NONE;
}

/* A copy of the stack that lives on. NULL: out of memory. */
static const uint8_t *keep_stack(struct proved *p, const struct sample *sample)
{
    bool added;
    uint64_t key = checksum_of(sample->stack, sample->stack_size) ^ hash_u64(sample->stack_size);
    uint64_t *place = table_put(p->stacks, key, &added);
    if (!place)
        return NULL;
    if (added) {
        uint8_t *copy = arena_alloc(p->arena, sample->stack_size + 1);
        if (copy)
            memcpy(copy, sample->stack, sample->stack_size);
        *place = (uintptr_t)copy;
    }
    return (const uint8_t *)(uintptr_t)*place;
}

static int prove(void *proved, const struct record *record, struct fathom_error *err)
{
    struct proved *p = proved;
    if (record->kind != RECORD_SAMPLE)
        return processes_apply(p->processes, record, err);
    const struct sample *sample = &record->sample;
    if (!has_chain(p, sample))
        return 0;
    struct given given = {0};
    struct sample made;
    const struct process *process = process_find(p->processes, sample->pid);
    enum proof_extent extent = prover_prove(p->prover, process, sample, p->sources[sample->event], &made);
    /* The height of a part is unknown: it goes with registers alone. */
    if (extent == PROOF_WHOLE || (extent == PROOF_PART && sample->has_regs)) {
        given = (struct given){keep_stack(p, &made), made.stack_size, sample->has_regs,
                               made.reg_ip,          made.sp,         made.bp};
        if (!given.stack)
            return error_memory(err);
    }
    return vec_push(p->given, p->count, p->room, given) ? 0 : error_memory(err);
}

int proved_read(struct reader *reader, struct image_cache *images, struct image_calls *calls,
                const struct log *log, struct proved **out, struct fathom_error *err)
{
    const struct event *events;
    size_t count = reader_events(reader, &events), with = 0;
    struct proved *p = calloc(1, sizeof *p);
    *out = NULL;
    if (!p || !(p->sources = calloc(count, sizeof *p->sources))) {
        proved_free(p);
        return error_memory(err);
    }
    p->event_count = count;
    for (size_t i = 0; i < count; i++) {
        p->sources[i] = links_source(&events[i].attr);
        with += p->sources[i] != CHAIN_NONE;
    }
    if (!with) {
        proved_free(p);
        return 0;
    }
    p->stacks = table_new();
    p->arena = arena_new(0);
    p->prover = prover_new(calls);
    p->processes = processes_new(images, log);
    int rc = p->stacks && p->arena && p->prover && p->processes ? reader_run(reader, prove, p, err)
                                                                : error_memory(err);
    prover_free(p->prover);
    processes_free(p->processes);
    p->prover = NULL;
    p->processes = NULL;
    if (rc < 0)
        proved_free(p);
    else
        *out = p;
    return rc;
}

void proved_fill(const struct proved *p, size_t *at, struct sample *sample)
{
    if (!has_chain(p, sample) || *at >= p->count)
        return;
    const struct given *given = &p->given[(*at)++];
    sample->chain = given->stack ? SAMPLE_CHAIN_PROVED : SAMPLE_CHAIN_UNPROVED;
    if (!given->stack)
        return;
    sample->stack = given->stack;
    sample->stack_size = given->stack_size;
    if (given->has_regs)
        return;
    sample->has_regs = sample->user_regs = true;
    sample->reg_ip = given->ip;
    sample->sp = given->sp;
    sample->bp = given->bp;
}
