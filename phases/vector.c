/* vector.c - see vector.h. */
#include "phases/vector.h"

#include <math.h>

#include "base/hash.h"

void phase_vector_add(struct phase_vector *v, const uint64_t *items, size_t count, double weight)
{
    double part = weight / (double)count;
    for (size_t i = 0; i < count; i++)
        v->at[hash_u64(items[i]) % PHASE_BUCKETS] += (float)part;
    v->weight += weight;
    v->parts += part;
    v->samples++;
}

void phase_vector_join(struct phase_vector *to, const struct phase_vector *from)
{
    for (unsigned i = 0; i < PHASE_BUCKETS; i++)
        to->at[i] += from->at[i];
    to->weight += from->weight;
    to->parts += from->parts;
    to->samples += from->samples;
}

/* The shares of a bucket in n and m independent draws from one distribution differ by a variance of p (1 - p) (1/n + 1/m), and
 * on average by sqrt(2 / pi) of the deviation. If a draw adds 1/k to k buckets, the variance is p (1/k - p) (...). */
double phase_vector_distance(const struct phase_vector *a, const struct phase_vector *b)
{
    float distance = 0, chance = 0;
    if (!(a->weight > 0) || !(b->weight > 0))
        return 1;
    const double all = a->weight + b->weight, draws = 1 / a->samples + 1 / b->samples;
    const float of_a = (float)(1 / a->weight), of_b = (float)(1 / b->weight), of_all = (float)(1 / all);
    const float part = (float)((a->parts + b->parts) / all);
    for (unsigned i = 0; i < PHASE_BUCKETS; i++) {
        float p = (a->at[i] + b->at[i]) * of_all;
        distance += fabsf(a->at[i] * of_a - b->at[i] * of_b);
        chance += sqrtf(fmaxf(p * (part - p), 0));
    }
    double expected = (double)chance * sqrt(draws * 2 / M_PI), far = (double)distance;
    if (far >= 2 - 1e-4)
        return 1;
    return far > expected ? (far - expected) / (2 - expected) : 0;
}
