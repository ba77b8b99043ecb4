/* shares.c - see shares.h. */
#include "profile/shares.h"

#include <math.h>

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

void shares_divide(double *owed, const struct candidate_path *paths, uint32_t count, uint64_t weight,
                   uint64_t *parts)
{
    double due[CANDIDATES_MAX], sum = 0;
    uint64_t rest = weight;
    for (uint32_t i = 0; i < count; i++)
        sum += (double)paths[i].probability;
    for (uint32_t i = 0; i < count; i++) {
        double share = sum > 0 ? (double)paths[i].probability / sum : 1.0 / count;
        due[i] = owed[paths[i].node] + share * (double)weight;
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
        owed[paths[i].node] = fmin(fmax(due[i] - (double)parts[i], -1), 1);
}
