/* calibration.c - see calibration.h. */
#include "infer/model/calibration.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/vec.h"

/* From the programs of docs/benchmarks.md, "How far probabilities can be believed". */
#define PRIOR     5.0  /* stacks */
#define UNTRAINED 0.85 /* the prior's mean without a map; with one it is 1 */
#define DEVIATION 1.96 /* of the normal distribution: 95% */

/* Samples of one path. */
struct group {
    double weight, said, right;
};

struct calibration {
    struct table *index; /* path -> number of its group */
    struct group *groups;
    size_t count, room;
    bool trained;
    double mean; /* of the prior */
    double factor;
    double least, most; /* what is right, as a part of what is said after scaling */
};

/* So many stacks, of which as many were said to be right, and were. */
static void weigh(struct calibration *c, double stacks, double said, double right)
{
    stacks += PRIOR;
    said += PRIOR;
    right += PRIOR * c->mean;
    c->factor = right < said ? right / said : 1;
    double share = right / stacks, told = c->factor * said / stacks;
    double square = DEVIATION * DEVIATION / stacks;
    double centre = (share + square / 2) / (1 + square);
    double reach = sqrt(share * (1 - share) * square + square * square / 4) / (1 + square);
    c->least = centre - reach < told ? (centre - reach) / told : 1;
    c->most = (centre + reach) / told;
}

struct calibration *calibration_new(bool trained)
{
    struct calibration *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->trained = trained;
    c->mean = trained ? 1 : UNTRAINED;
    weigh(c, 0, 0, 0);
    c->index = table_new();
    if (!c->index) {
        free(c);
        c = NULL;
    }
    return c;
}

void calibration_free(struct calibration *c)
{
    if (!c)
        return;
    table_free(c->index);
    free(c->groups);
    free(c);
}

bool calibration_scales(const struct calibration *c, const struct resolved *resolved)
{
    return resolved->source == SOURCE_CID &&
           (resolved->kind == RESOLVED_INFERRED || (c->trained && resolved->kind == RESOLVED_AMBIGUOUS));
}

int calibration_note(struct calibration *c, const struct resolved *resolved, uint32_t path, bool right)
{
    if (!calibration_scales(c, resolved))
        return 0;
    bool added;
    uint64_t *place = table_put(c->index, path, &added);
    if (!place || (added && !vec_push(c->groups, c->count, c->room, (struct group){0})))
        return -ENOMEM;
    if (added)
        *place = c->count - 1;
    struct group *group = &c->groups[*place];
    group->weight++;
    group->said += resolved->probability;
    group->right += right;
    return 0;
}

void calibration_settle(struct calibration *c)
{
    double weight = 0, squares = 0, said = 0, right = 0;
    for (size_t i = 0; i < c->count; i++) {
        const struct group *g = &c->groups[i];
        weight += g->weight;
        squares += g->weight * g->weight;
        said += g->said;
        right += g->right;
    }
    double per = weight > 0 ? weight / squares : 0; /* stacks per sample */
    weigh(c, weight * per, said * per, right * per);
}

double calibration_factor(const struct calibration *c, const struct resolved *resolved)
{
    return calibration_scales(c, resolved) ? c->factor : 1;
}

double calibration_least(const struct calibration *c)
{
    return c->least;
}

double calibration_most(const struct calibration *c)
{
    return c->most;
}
