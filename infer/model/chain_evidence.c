/* chain_evidence.c - see chain_evidence.h. */
#include "infer/model/chain_evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "image/code/code.h"
#include "infer/contexts/resolver.h"
#include "perfdata/user_chain.h"

#define EVIDENCE_CALLERS 24 /* of the innermost ones are kept */

struct evidence {
    uint32_t callers[EVIDENCE_CALLERS]; /* functions of the map, from the inside out */
    uint32_t count;
};

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

/* Of a branch stack when there is one (calls whose return it does not hold), else of the user's part of the
 * call chain. Callers that the map does not know are left out. */
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

#define MISSING 0.01 /* likelihood of each caller that a candidate lacks */
#define SKIPPED 0.5  /* and of each of its frames that the evidence lacks */
#define DEPTH   512  /* frames of a candidate that are looked at */

struct chain_evidence {
    struct resolver *resolver;
    struct table *answers; /* hash of (answer, its candidates' faults) -> new answer + 1 */
    struct evidence evidence;
};

struct chain_evidence *chain_evidence_new(struct resolver *resolver)
{
    struct chain_evidence *n = calloc(1, sizeof *n);
    if (!n)
        return NULL;
    n->resolver = resolver;
    n->answers = table_new();
    if (!n->answers) {
        free(n);
        n = NULL;
    }
    return n;
}

void chain_evidence_free(struct chain_evidence *n)
{
    if (!n)
        return;
    table_free(n->answers);
    free(n);
}

/* What of the evidence does not fit to a candidate. */
struct faults {
    uint32_t missing, skipped;
};

/* The callers are looked for one after the other, from the inside out. */
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

/* The answer with its candidates weighed by their faults, made once. Returns -1 when out of memory. */
static int derive(struct chain_evidence *n, const struct resolved *resolved, const struct faults *faults,
                  uint32_t count, uint32_t *out)
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
    if (derive(n, resolved, faults, count, &answer) < 0)
        return error_memory(err);
    resolver_take(n->resolver, answer, resolved);
    return 0;
}
