/* narrow.c - see narrow.h. */
#include "infer/model/narrow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "infer/model/evidence.h"

#define MISSING 0.01 /* likelihood of each caller that a candidate lacks */
#define SKIPPED 0.5  /* and of each of its frames that the evidence lacks */
#define DEPTH   512  /* frames of a candidate that are looked at */

struct narrow {
    struct resolver *resolver;
    struct table *answers; /* hash of (answer, its candidates' faults) -> new answer + 1 */
    struct evidence evidence;
};

struct narrow *narrow_new(struct resolver *resolver)
{
    struct narrow *n = calloc(1, sizeof *n);
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

void narrow_free(struct narrow *n)
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
static int derive(struct narrow *n, const struct resolved *resolved, const struct faults *faults,
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

int narrow_resolved(struct narrow *n, const struct process *process, const struct sample *sample,
                    struct resolved *resolved, struct fathom_error *err)
{
    if (resolved->kind == RESOLVED_UNKNOWN || resolved->posterior_count < 2 ||
        (!sample->callchain && !sample->branches) || table_count(n->answers) >= NARROW_ANSWERS)
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
