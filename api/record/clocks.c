/* clocks.c - see clocks.h. */
#include "api/record/clocks.h"

#include <stdlib.h>

#include "base/clock.h"
#include "infer/live/news.h"
#include "infer/live/pace.h"

/* Between two steps: at least STEP_NS, and COST times as long as a step took, which interrupts the target. */
#define STEP_NS 100000000u
#define COST    200

_Static_assert(COLLECTOR_CLOCKS <= NEWS_SIZES && COLLECTOR_CLOCKS <= PACE_CLOCKS, "one of each for a clock");

struct clocks {
    struct collector *collector; /* borrowed */
    struct news *news;
    struct pace pace;
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
    struct news_input input = {.size_count = collector_clocks(collector, now)};
    struct pace_input pace = {.count = input.size_count,
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
        pace.clocks[i] = (struct pace_clock){.most = now[i].most, .floor = now[i].least};
        hz[i] = now[i].hz;
    }
    c->collector = collector;
    pace_begin(&c->pace, &pace, hz);
    int rc = news_start(&input, &c->news, err);
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
    news_stop(c->news);
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
    return pace_is_over(&c->pace, seconds(now), dumps);
}

static void step(struct clocks *c, uint64_t now)
{
    struct collector_clock clocks[COLLECTOR_CLOCKS];
    struct pace_seen seen[COLLECTOR_CLOCKS];
    struct news_shares news;
    double hz[COLLECTOR_CLOCKS];
    news_shares(c->news, &news);
    if (!news.samples)
        return; /* the command has not begun, or nothing of it has been looked at */
    size_t count = collector_clocks(c->collector, clocks);
    for (size_t i = 0; i < count; i++)
        seen[i] = (struct pace_seen){news.shares[i], clocks[i].dumps, collector_clock_time(c->collector, i)};
    pace_step(&c->pace, seconds(now), seen, hz);
    for (size_t i = 0; i < count; i++)
        if (hz[i] > clocks[i].hz || hz[i] < clocks[i].hz)
            collector_set_clock(c->collector, i, hz[i]);
}

int clocks_add(struct clocks *c, const void *records, size_t size, struct fathom_error *err)
{
    int rc = news_add(c->news, records, size, err);
    uint64_t now = clock_ns();
    if (rc < 0 || !is_due(c, now))
        return rc;
    step(c, now);
    uint64_t after = clock_ns(), rest = (after - now) * COST;
    c->due = after + (rest > STEP_NS ? rest : STEP_NS);
    return 0;
}
