/*
 * rate_control.c - see rate_control.h.
 *
 * The budget is spent over the next seconds rather than at once: half of what has been saved per second, and never more than
 * would be left if the next steps were late.
 *
 * A clock's new rate reaches only the threads that it was opened for: the kernel changes the period of the event itself, but
 * not of those that existing threads inherited from it (kernel/events/core.c, _perf_event_period); threads born later inherit
 * the new one. Stopping and starting reaches all. So dumps that such threads take beyond the rate are compensated for by
 * stopping the clock.
 */
#include "infer/live/rate_control.h"

#define LEAST_HZ   10.0 /* a clock that may stop does so below this rate */
#define SPEND      2.0  /* s in which savings are spent */
#define LATE       0.25 /* s: longest time between two steps, usually */
#define CPUS_LEAST 0.1  /* an idle target may run at any moment */
#define OVER_MAX   16.0 /* dumps beyond its rate after which a clock stops */
#define PAUSE_MAX  1.0  /* s */
#define HYSTERESIS 1.4  /* a rate changes by this factor or not at all: each change begins a new period */

static double rate_for(const struct rate_control_clock *clock, double share)
{
    double hz = share * RATE_CONTROL_HZ_PER_SHARE;
    if (hz > clock->most)
        hz = clock->most;
    if (hz < clock->floor)
        return clock->floor;
    return hz < LEAST_HZ ? 0 : hz;
}

void rate_control_begin(struct rate_control *p, const struct rate_control_input *input, const double *hz)
{
    *p = (struct rate_control){.in = *input, .now = input->start, .cpus = 1};
    for (size_t i = 0; i < input->count; i++)
        p->clocks[i].hz = hz[i];
}

/* Updates the state from what was seen. Returns the number of dumps so far. */
static double update_counts(struct rate_control *p, double now, const struct rate_control_seen *seen)
{
    double passed = now - p->now, ran = -1, dumps = 0;
    for (size_t i = 0; i < p->in.count; i++) {
        double time = seen[i].cpu_time - p->clocks[i].cpu_time;
        if (p->clocks[i].hz > 0 && time > ran)
            ran = time;
        p->clocks[i].over += (double)(seen[i].dumps - p->clocks[i].dumps) - time * p->clocks[i].hz;
        if (p->clocks[i].over < 0)
            p->clocks[i].over = 0;
        p->clocks[i].dumps = seen[i].dumps;
        p->clocks[i].cpu_time = seen[i].cpu_time;
        dumps += (double)seen[i].dumps;
    }
    if (ran >= 0 && passed > 0)
        p->cpus = ran / passed > CPUS_LEAST ? ran / passed : CPUS_LEAST;
    p->now = now;
    return dumps;
}

static double saved_at(const struct rate_control *p, double now, double dumps)
{
    return p->in.burst + p->in.rate * (now - p->in.start) - dumps;
}

bool rate_control_is_over(const struct rate_control *p, double now, uint64_t dumps)
{
    bool ticks = false;
    for (size_t i = 0; i < p->in.count; i++)
        ticks |= p->clocks[i].hz > 0;
    return ticks && saved_at(p, now, (double)dumps) <= 0;
}

/* Dumps per second that the budget allows from now on. */
static double allowed_rate(const struct rate_control *p, double dumps)
{
    double saved = saved_at(p, p->now, dumps);
    if (saved <= 0)
        return 0;
    double hz = p->in.rate + saved / SPEND, most = saved / LATE;
    return hz < most ? hz : most;
}

/* Whether the clock has to stop, because its threads took more than its rate. */
static bool is_paused(struct rate_control *p, size_t i, double hz)
{
    if (p->clocks[i].over > OVER_MAX && hz > 0) {
        double pause = p->clocks[i].over / (hz * p->cpus);
        p->clocks[i].until = p->now + (pause < PAUSE_MAX ? pause : PAUSE_MAX);
        p->clocks[i].over = 0;
    }
    return p->now < p->clocks[i].until;
}

void rate_control_step(struct rate_control *p, double now, const struct rate_control_seen *seen, double *hz)
{
    double most = allowed_rate(p, update_counts(p, now, seen)), sum = 0;
    for (size_t i = 0; i < p->in.count; i++) {
        hz[i] = rate_for(&p->in.clocks[i], seen[i].share);
        sum += hz[i] * p->cpus;
    }
    double scale = sum > most ? most / sum : 1;
    for (size_t i = 0; i < p->in.count; i++) {
        double old = p->clocks[i].hz;
        hz[i] *= scale;
        if (is_paused(p, i, hz[i]))
            hz[i] = 0;
        bool near = hz[i] <= old * HYSTERESIS && hz[i] >= old / HYSTERESIS;
        if (near && (scale == 1 || old <= hz[i]))
            hz[i] = old;
        p->clocks[i].hz = hz[i];
    }
}
