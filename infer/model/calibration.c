/* calibration.c - see calibration.h. */
#include "infer/model/calibration.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/vec.h"

/* From the programs of docs/benchmarks.md, "How far probabilities can be believed". */
#define PRIOR     5.0  /* stacks */
#define UNTRAINED 0.85 /* the prior's mean without a map; with one it is 1 */

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
};

struct calibration *calibration_new(bool trained)
{
    struct calibration *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->trained = trained;
    c->mean = c->factor = trained ? 1 : UNTRAINED;
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

/* Whether the answer's probabilities are scaled. */
static bool is_scaled(const struct calibration *c, const struct resolved *resolved)
{
    return resolved->source == SOURCE_CID &&
           (resolved->kind == RESOLVED_INFERRED || (c->trained && resolved->kind == RESOLVED_AMBIGUOUS));
}

int calibration_note(struct calibration *c, const struct resolved *resolved, uint32_t path, bool right)
{
    if (!is_scaled(c, resolved))
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
    double factor = (right * per + PRIOR * c->mean) / (said * per + PRIOR);
    c->factor = factor < 1 ? factor : 1;
}

double calibration_factor(const struct calibration *c, const struct resolved *resolved)
{
    return is_scaled(c, resolved) ? c->factor : 1;
}
