/* scaling.c - see scaling.h. */
#include "perfdata/scaling.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"

#define VERSION     1u
#define FACTOR_MOST 1e9
#define STEP_BYTES  16u

void scaling_put(FILE *out, const struct scaling *s)
{
    const uint32_t head[] = {VERSION, (uint32_t)s->count};
    const uint64_t sums[] = {s->events, s->intervals, s->sampled};
    fwrite(head, sizeof head, 1, out);
    fwrite(sums, sizeof sums, 1, out);
    fwrite(&s->covered, sizeof s->covered, 1, out);
    for (size_t i = 0; i < s->count; i++) {
        fwrite(&s->steps[i].from, sizeof s->steps[i].from, 1, out);
        fwrite(&s->steps[i].factor, sizeof s->steps[i].factor, 1, out);
    }
}

static double take_real(struct bytes *b)
{
    const uint64_t bits = bytes_u64(b);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

int scaling_take(struct bytes b, struct scaling *out, struct fathom_error *err)
{
    struct scaling s = {0};
    const uint32_t version = bytes_u32(&b), count = bytes_u32(&b);
    s.events = bytes_u64(&b);
    s.intervals = bytes_u64(&b);
    s.sampled = bytes_u64(&b);
    s.covered = take_real(&b);
    *out = (struct scaling){0};
    if (b.failed || version != VERSION || count == 0 || bytes_left(&b) / STEP_BYTES < count ||
        s.sampled > s.intervals || !(s.covered >= 0 && s.covered <= 1))
        return 0;
    s.steps = calloc(count, sizeof *s.steps);
    if (!s.steps)
        return error_memory(err);
    bool good = true;
    for (; good && s.count < count; s.count++) {
        struct scaling_step *step = &s.steps[s.count];
        step->from = bytes_u64(&b);
        step->factor = take_real(&b);
        good =
            step->factor >= 1 && step->factor <= FACTOR_MOST && (s.count == 0 || step->from >= step[-1].from);
    }
    if (good)
        *out = s;
    else
        free(s.steps);
    return 0;
}

uint64_t scaling_period(const struct scaling *s, uint64_t time, uint64_t period, double *rest)
{
    const size_t first_later = lower_bound(i, (size_t)0, s->count, s->steps[i].from <= time);
    if (first_later == 0)
        return period;
    const double exact = (double)period * s->steps[first_later - 1].factor + *rest;
    if (exact >= 1e18)
        return (uint64_t)1e18;
    const uint64_t whole = (uint64_t)exact;
    *rest = exact - (double)whole;
    return whole;
}
