/* chain_evidence.c - see chain_evidence.h. */
#include "infer/model/chain_evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "image/code/code.h"
#include "infer/contexts/resolver.h"
#include "perfdata/user_chain.h"

#define EVIDENCE_CALLERS 24 /* innermost ones that are stored */

struct evidence {
    uint32_t callers[EVIDENCE_CALLERS]; /* functions of the map, from the inside out */
    uint32_t count;
};

struct gathering {
    struct evidence *out;
    struct resolver *resolver;
    const struct process *process;
};

/* Adds the function at an address of the process, if the map has it. */
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

/* Every entry after the sample's own is a return address. */
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

/* From the latest branch backwards: a return ends the call before it, which is over. In the processor's call-stack mode there
 * are only calls. */
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

/* Reads the branch stack if there is one (calls without a return in it), else the user part of the call chain. Callers that the
 * map does not have are ignored. */
static void evidence_of(struct evidence *out, struct resolver *resolver, const struct process *process,
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

#define MISSING 0.01 /* likelihood for each caller that a candidate lacks */
#define SKIPPED 0.5  /* likelihood for each frame of a candidate that the evidence lacks */
#define DEPTH   512  /* frames of a candidate that are compared */

struct chain_evidence {
    struct resolver *resolver;
    struct table *answers; /* hash of (answer, its candidates' faults) -> new answer + 1 */
    struct evidence evidence;
};

struct chain_evidence *chain_evidence_new(struct resolver *resolver)
{
    struct chain_evidence *n = allocate(struct chain_evidence, .resolver = resolver, .answers = table_new());
    return whole_or_free(n, n->answers, free);
}

void chain_evidence_free(struct chain_evidence *n)
{
    if (!n)
        return;
    table_free(n->answers);
    free(n);
}

/* How a candidate differs from the evidence. */
struct faults {
    uint32_t missing, skipped;
};

/* Searches the candidate's path for the callers in turn, from the inside out. */
static struct faults find_faults(const struct pathmap *map, uint32_t node, const struct evidence *e)
{
    uint32_t functions[DEPTH];
    uint32_t depth = 0;
    for (uint32_t at = pathmap_node(map, node).parent; at != PATHMAP_NONE && depth < DEPTH;
         at = pathmap_node(map, at).parent)
        functions[depth++] = pathmap_node(map, at).function;
    struct faults faults = {0};
    uint32_t next = 0;
    for (uint32_t i = 0; i < e->count; i++) {
        uint32_t found = next;
        while (found < depth && functions[found] != e->callers[i])
            found++;
        if (found == depth) {
            faults.missing++;
            continue;
        }
        faults.skipped += found - next;
        next = found + 1;
    }
    return faults;
}

/* Sets *out to the answer with its candidates weighted by their faults, created once. -1: out of memory. */
static int derive_answer(struct chain_evidence *n, const struct resolved *resolved,
                         const struct faults *faults, uint32_t count, uint32_t *out)
{
    double likelihoods[CANDIDATES_MAX];
    uint64_t key = hash_u64(resolved->answer);
    for (uint32_t i = 0; i < count; i++) {
        key = hash_u64(key ^ ((uint64_t)faults[i].missing << 32 | faults[i].skipped));
        likelihoods[i] = pow(MISSING, faults[i].missing) * pow(SKIPPED, faults[i].skipped);
    }
    bool added;
    uint64_t *place = table_put(n->answers, key, &added);
    if (!place)
        return -1;
    if (added || *place == 0) {
        if (resolver_weigh(n->resolver, resolved->answer, likelihoods, out) < 0)
            return -1;
        *place = (uint64_t)*out + 1;
    }
    *out = (uint32_t)(*place - 1);
    return 0;
}

int chain_evidence_weigh(struct chain_evidence *n, const struct process *process, const struct sample *sample,
                         struct resolved *resolved, struct fathom_error *err)
{
    if (resolved->kind == RESOLVED_UNKNOWN || resolved->posterior_count < 2 ||
        (!sample->callchain && !sample->branches) || table_count(n->answers) >= CHAIN_EVIDENCE_ANSWERS)
        return 0;
    evidence_of(&n->evidence, n->resolver, process, sample);
    const struct pathmap *map = resolver_map(n->resolver);
    struct faults faults[CANDIDATES_MAX];
    uint32_t count = resolved->posterior_count < CANDIDATES_MAX ? resolved->posterior_count : CANDIDATES_MAX;
    bool tells = false;
    for (uint32_t i = 0; i < count; i++) {
        faults[i] = find_faults(map, resolved->posterior[i].node, &n->evidence);
        tells |= memcmp(&faults[i], &faults[0], sizeof *faults) != 0;
    }
    if (!tells)
        return 0;
    uint32_t answer;
    if (derive_answer(n, resolved, faults, count, &answer) < 0)
        return error_memory(err);
    resolver_take(n->resolver, answer, resolved);
    return 0;
}
