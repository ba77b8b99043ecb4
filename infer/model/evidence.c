/* evidence.c - see evidence.h. */
#include "infer/model/evidence.h"

#include <linux/perf_event.h>
#include <string.h>

#include "image/code/code.h"

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

/* The first entry of the user's part is the sample itself; then come return addresses, each of which is the
 * end of a call. */
static void read_chain(const struct gathering *g, const struct sample *sample)
{
    bool user = sample->mode != SAMPLE_MODE_KERNEL, first = true;
    for (uint32_t i = 0; i < sample->callchain_count; i++) {
        uint64_t entry = sample->callchain[i];
        if (entry >= (uint64_t)PERF_CONTEXT_MAX) {
            user = entry == (uint64_t)PERF_CONTEXT_USER;
            continue;
        }
        if (!user)
            continue;
        if (!first)
            add_caller(g, entry - 1);
        first = false;
    }
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
