/* shares.c - see shares.h. */
#include "profile/shares.h"

#include <math.h>
#include <stdlib.h>

struct shares {
    double *owed; /* by node: events that rounding has withheld from it so far; -1 to 1 */
};

struct shares *shares_new(uint32_t nodes)
{
    struct shares *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->owed = calloc((size_t)nodes + 1, sizeof *s->owed);
    if (!s->owed) {
        free(s);
        s = NULL;
    }
    return s;
}

void shares_free(struct shares *s)
{
    if (!s)
        return;
    free(s->owed);
    free(s);
}

/* The path that is owed most; the first among equals. */
static uint32_t most_owed(const double *due, uint32_t count, const uint64_t *parts)
{
    uint32_t most = 0;
    for (uint32_t i = 1; i < count; i++) {
        if (due[i] - (double)parts[i] > due[most] - (double)parts[most])
            most = i;
    }
    return most;
}

void shares_divide(struct shares *s, const struct candidate_path *paths, uint32_t count, uint64_t weight,
                   uint64_t *parts)
{
    double due[CANDIDATES_MAX], sum = 0;
    uint64_t rest = weight;
    for (uint32_t i = 0; i < count; i++)
        sum += (double)paths[i].probability;
    for (uint32_t i = 0; i < count; i++) {
        double share = sum > 0 ? (double)paths[i].probability / sum : 1.0 / count;
        due[i] = s->owed[paths[i].node] + share * (double)weight;
        double whole = due[i] > 0 ? floor(due[i]) : 0;
        parts[i] = whole < (double)rest ? (uint64_t)whole : rest;
        rest -= parts[i];
    }
    /* More than one per path can remain only of weights that a double cannot represent exactly. */
    if (rest > count) {
        parts[0] += rest - count;
        rest = count;
    }
    for (; rest > 0; rest--)
        parts[most_owed(due, count, parts)]++;
    for (uint32_t i = 0; i < count; i++)
        s->owed[paths[i].node] = fmin(fmax(due[i] - (double)parts[i], -1), 1);
}
