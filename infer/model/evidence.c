/* evidence.c - see evidence.h. */
#include "infer/model/evidence.h"

#include <string.h>

#include "image/code/code.h"
#include "perfdata/user_chain.h"

struct gathering {
    struct evidence *out;
    struct resolver *resolver;
    const struct process *process;
};

/* The function at an address of the process, when the map knows it. */
static void add_caller(const struct gathering *g, uint64_t pc)
{
    struct place place;
    if (g->out->count == EVIDENCE_CALLERS || !process_place(g->process, pc, &place) ||
        place.function == IMAGE_NO_FUNCTION)
        return;
    uint32_t function = resolver_function(g->resolver, place.image, place.function);
    if (function != PATHMAP_NONE)
        g->out->callers[g->out->count++] = function;
}

/* Behind the sample's own, each is the end of a call. */
static void read_chain(const struct gathering *g, const struct sample *sample)
{
    struct user_chain chain = user_chain_begin(sample);
    uint64_t address;
    if (!user_chain_next(&chain, &address))
        return;
    while (user_chain_next(&chain, &address))
        add_caller(g, address - 1);
}

static bool read_kind(const struct process *process, uint64_t pc, uint8_t *kind)
{
    struct place place;
    struct code_insn insn;
    size_t size;
    const uint8_t *code =
        process_place(process, pc, &place) ? image_bytes(place.image, place.address, &size) : NULL;
    if (!code || !code_read(code, size, place.address, &insn))
        return false;
    *kind = insn.kind;
    return true;
}

/* Back in time: behind a return lies the call that it came from, which is over. In the call-stack mode of the
 * processor there are calls only. */
static void read_branches(const struct gathering *g, const struct sample *sample)
{
    uint32_t returned = 0;
    for (uint32_t i = 0; i < sample->branch_count; i++) {
        uint64_t from;
        uint8_t kind;
        memcpy(&from, sample->branches + (size_t)SAMPLE_BRANCH * i, sizeof from);
        if (!read_kind(g->process, from, &kind))
            continue;
        if (kind == CODE_RETURN)
            returned++;
        else if ((kind == CODE_CALL || kind == CODE_CALL_INDIRECT) && returned)
            returned--;
        else if (kind == CODE_CALL || kind == CODE_CALL_INDIRECT)
            add_caller(g, from);
    }
}

void evidence_of(struct evidence *out, struct resolver *resolver, const struct process *process,
                 const struct sample *sample)
{
    const struct gathering g = {out, resolver, process};
    out->count = 0;
    if (!process)
        return;
    if (sample->branches)
        read_branches(&g, sample);
    if (out->count == 0)
        read_chain(&g, sample);
}
