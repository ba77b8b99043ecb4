/* proved.c - see proved.h. */
#include "infer/chains/proved.h"

#include <errno.h>
#include <stdlib.h>

struct proved {
    enum chain_source *sources; /* by event */
    size_t event_count;
    struct prover *prover;
};

void proved_free(struct proved *p)
{
    if (!p)
        return;
    free(p->sources);
    prover_free(p->prover);
    free(p);
}

int proved_new(const struct event *events, size_t count, struct image_calls *calls, struct proved **out)
{
    struct proved *p = calloc(1, sizeof *p);
    size_t with = 0;
    *out = NULL;
    if (!p || !(p->sources = calloc(count, sizeof *p->sources)) || !(p->prover = prover_new(calls))) {
        proved_free(p);
        return -ENOMEM;
    }
    p->event_count = count;
    for (size_t i = 0; i < count; i++) {
        p->sources[i] = links_source(&events[i].attr);
        with += p->sources[i] != CHAIN_NONE;
    }
    if (with)
        *out = p;
    else
        proved_free(p);
    return 0;
}

void proved_fill(struct proved *p, const struct process *process, struct sample *sample)
{
    struct sample made;
    if (sample->event >= p->event_count || p->sources[sample->event] == CHAIN_NONE)
        return;
    enum proof_extent extent = prover_prove(p->prover, process, sample, p->sources[sample->event], &made);
    /* The height of a partial chain is unknown, so it is used only with registers. */
    bool used = extent == PROOF_WHOLE || (extent == PROOF_PART && sample->has_regs);
    sample->chain = used ? SAMPLE_CHAIN_PROVED : SAMPLE_CHAIN_UNPROVED;
    if (!used)
        return;
    sample->stack = made.stack;
    sample->stack_size = made.stack_size;
    if (sample->has_regs)
        return;
    sample->has_regs = sample->user_regs = true;
    sample->reg_ip = made.reg_ip;
    sample->sp = made.sp;
    sample->bp = made.bp;
}
