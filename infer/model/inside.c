/* inside.c - see inside.h. */
#include "infer/model/inside.h"

#include <stdlib.h>

#include "base/allocate.h"
#include "base/hash.h"

struct inside {
    struct resolver *resolver;
    struct table *answers; /* answer << 32 | fine block -> new answer + 1; 0: no evidence */
};

/* Samples in a function, in one coarse block of it, and in one fine block of that. */
struct counts {
    double all, coarse, fine;
};

struct inside *inside_new(struct resolver *resolver)
{
    struct inside *s = allocate(struct inside, .resolver = resolver, .answers = table_new());
    return whole_or_free(s, s->answers, free);
}

void inside_free(struct inside *s)
{
    if (!s)
        return;
    table_free(s->answers);
    free(s);
}

static void add_node(const struct pathmap *map, uint32_t node, uint32_t block, struct counts *counts)
{
    uint32_t first, count = pathmap_pcs(map, node, &first);
    for (uint32_t i = first; i < first + count; i++) {
        struct pathmap_pc pc = pathmap_pc(map, i);
        counts->all += pc.samples;
        if (pc.offset / INSIDE_COARSE == block / (INSIDE_COARSE / INSIDE_FINE))
            counts->coarse += pc.samples;
        if (pc.offset / INSIDE_FINE == block)
            counts->fine += pc.samples;
    }
}

/* Nodes of one function path at one CID are consecutive. */
static struct counts count_path(const struct pathmap *map, uint32_t node, uint32_t block)
{
    struct pathmap_node of = pathmap_node(map, node);
    struct counts counts = {0};
    uint32_t first, nodes = pathmap_find(map, of.function, of.height, &first);
    for (uint32_t i = first; i < first + nodes; i++)
        if (pathmap_node(map, i).path == of.path)
            add_node(map, i, block, &counts);
    return counts;
}

static double log_likelihood(const struct counts *of, const struct counts *all)
{
    double coarse = (of->coarse + INSIDE_PRIOR * all->coarse / all->all) / (of->all + INSIDE_PRIOR);
    return (of->fine + INSIDE_PRIOR * coarse * all->fine / all->coarse) / (of->all + INSIDE_PRIOR);
}

/* Sets *out to the number + 1 of the answer with its candidates weighted; 0: no evidence. */
static int weigh_candidates(struct inside *s, const struct resolved *resolved, uint32_t block, uint64_t *out)
{
    const struct pathmap *map = resolver_map(s->resolver);
    struct counts counts[CANDIDATES_MAX], all = {0};
    double likelihoods[CANDIDATES_MAX];
    uint32_t answer,
        n = resolved->posterior_count < CANDIDATES_MAX ? resolved->posterior_count : CANDIDATES_MAX;
    for (uint32_t i = 0; i < n; i++) {
        counts[i] = count_path(map, resolved->posterior[i].node, block);
        all.all += counts[i].all;
        all.coarse += counts[i].coarse;
        all.fine += counts[i].fine;
    }
    *out = 0;
    if (all.fine <= 0 || all.all < INSIDE_LEAST)
        return 0;
    for (uint32_t i = 0; i < n; i++)
        likelihoods[i] = log_likelihood(&counts[i], &all);
    int rc = resolver_weigh(s->resolver, resolved->answer, likelihoods, &answer);
    if (rc == 0)
        *out = (uint64_t)answer + 1;
    return rc;
}

int inside_resolved(struct inside *s, struct resolved *resolved, struct fathom_error *err)
{
    if (resolved->kind == RESOLVED_UNKNOWN || resolved->posterior_count < 2 ||
        table_count(s->answers) >= INSIDE_ANSWERS)
        return 0;
    const struct place *place = &resolved->cid.place;
    uint64_t start = image_function(place->image, place->function)->address;
    uint32_t block = (uint32_t)(place->address - start) / INSIDE_FINE;
    bool added;
    uint64_t *known = table_put(s->answers, (uint64_t)resolved->answer << 32 | block, &added);
    if (!known || (added && weigh_candidates(s, resolved, block, known) < 0))
        return error_memory(err);
    if (*known)
        resolver_take(s->resolver, (uint32_t)(*known - 1), resolved);
    return 0;
}
