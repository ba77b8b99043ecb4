#include "api/record/clocks.h"

#include <stdlib.h>

#include "base/clock.h"
#include "infer/live/novelty.h"
#include "infer/live/rate_control.h"

/* Time between two steps: at least STEP_NS, and COST times the duration of a step, as a step interrupts the target. */
#define STEP_NS 100000000u
#define COST    200

_Static_assert(COLLECTOR_CLOCKS <= NOVELTY_SIZES && COLLECTOR_CLOCKS <= RATE_CONTROL_CLOCKS,
               "one of each for a clock");

struct clocks {
    struct collector *collector; /* borrowed */
    struct novelty *novelty;
    struct rate_control rates;
    uint64_t due; /* the next step, ns */
};

static double seconds(uint64_t ns)
{
    return (double)ns * 1e-9;
}

int clocks_new(struct collector *collector, const struct verify_options *budget, struct clocks **out,
               struct fathom_error *err)
{
    struct collector_clock now[COLLECTOR_CLOCKS];
    struct novelty_input input = {.size_count = collector_clocks(collector, now)};
    struct rate_control_input rates = {.count = input.size_count,
                                       .burst = (double)budget->burst,
                                       .rate = (double)budget->rate,
                                       .start = seconds(clock_ns())};
    double hz[COLLECTOR_CLOCKS];
    *out = NULL;
    if (input.size_count == 0)
        return 0;
    struct clocks *c = calloc(1, sizeof *c);
    if (!c)
        return error_memory(err);
    input.count = collector_events(collector, &input.events);
    for (size_t i = 0; i < input.size_count; i++) {
        input.sizes[i] = now[i].stack_size;
        rates.clocks[i] = (struct rate_control_clock){.most = now[i].most, .floor = now[i].least};
        hz[i] = now[i].hz;
    }
    c->collector = collector;
    rate_control_begin(&c->rates, &rates, hz);
    int rc = novelty_start(&input, &c->novelty, err);
    if (rc < 0)
        free(c);
    else
        *out = c;
    return rc;
}

void clocks_free(struct clocks *c)
{
    if (!c)
        return;
    novelty_stop(c->novelty);
    free(c);
}

static bool is_due(const struct clocks *c, uint64_t now)
{
    struct collector_clock clocks[COLLECTOR_CLOCKS];
    uint64_t dumps = 0;
    if (now >= c->due)
        return true;
    for (size_t i = collector_clocks(c->collector, clocks); i-- > 0;)
        dumps += clocks[i].dumps;
    return rate_control_is_over(&c->rates, seconds(now), dumps);
}

static void set_rates(struct clocks *c, uint64_t now)
{
    struct collector_clock clocks[COLLECTOR_CLOCKS];
    struct rate_control_seen seen[COLLECTOR_CLOCKS];
    struct novelty_shares novelty;
    double hz[COLLECTOR_CLOCKS];
    novelty_shares(c->novelty, &novelty);
    if (!novelty.samples)
        return; /* the command has not begun, or none of its records were examined */
    size_t count = collector_clocks(c->collector, clocks);
    for (size_t i = 0; i < count; i++)
        seen[i] = (struct rate_control_seen){novelty.shares[i], clocks[i].dumps,
                                             collector_clock_time(c->collector, i)};
    rate_control_step(&c->rates, seconds(now), seen, hz);
    for (size_t i = 0; i < count; i++)
        if (hz[i] > clocks[i].hz || hz[i] < clocks[i].hz)
            collector_set_clock(c->collector, i, hz[i]);
}

int clocks_add(struct clocks *c, const void *records, size_t size, struct fathom_error *err)
{
    int rc = novelty_add(c->novelty, records, size, err);
    uint64_t now = clock_ns();
    if (rc < 0 || !is_due(c, now))
        return rc;
    set_rates(c, now);
    uint64_t after = clock_ns(), rest = (after - now) * COST;
    c->due = after + (rest > STEP_NS ? rest : STEP_NS);
    return 0;
}
