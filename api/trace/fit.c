/* fit.c - chooses the number of checks between bursts for a wanted overhead, by equation 2 of Hirzel and Chilimbi (Bursty Tracing,
 * FDDO-4 2001) with times measured in runs of the command. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/trace/tracing.h"
#include "streams/trace/directory.h"

#define FIT_DIRECTORY "fit"
#define FIT_RATE      0.1  /* share of checks in bursts, in the run that measures the cost of bursts */
#define SHORTEST      0.05 /* seconds of CPU time: shorter runs are too inaccurate */
#define MOST_CHECKS   2e9  /* between bursts, in effect no burst */

static int finish_run(struct fathom_trace *t, double *seconds, struct fathom_error *err)
{
    fathom_trace_run(t);
    *seconds = t->seconds;
    return atomic_load(&t->stop) ? error_set(err, EINTR, "interrupted while the rate of bursts was chosen")
                                 : 0;
}

static int run_plain(struct fathom_trace *t, double *seconds, struct fathom_error *err)
{
    const struct in_place_run run = {.command = t->options.command, .environment = environ, .quiet = true};
    int rc = in_place_start(&run, &t->pid, err);
    return rc == 0 ? finish_run(t, seconds, err) : rc;
}

static int run_with(struct fathom_trace *t, double checks, double *seconds, struct fathom_error *err)
{
    char *directory = NULL;
    if (asprintf(&directory, "%s/" FIT_DIRECTORY, t->directory) < 0)
        return error_memory(err);
    t->options.checks = (uint64_t)checks;
    int rc = trace_directory_make(directory, err);
    if (rc == 0)
        rc = tracing_start(t, directory, true, err);
    if (rc == 0)
        rc = finish_run(t, seconds, err);
    int removed = trace_directory_remove(directory, rc == 0 ? err : NULL);
    free(directory);
    return rc < 0 ? rc : removed;
}

/* Takes the shorter of two runs each, as disturbances only make runs longer. */
static int run_both(struct fathom_trace *t, double *plain, double *checking, struct fathom_error *err)
{
    int rc = 0;
    *plain = *checking = INFINITY;
    for (int i = 0; rc == 0 && i < 2; i++) {
        double seconds = 0;
        rc = run_plain(t, &seconds, err);
        *plain = fmin(*plain, seconds);
        if (rc == 0)
            rc = run_with(t, MOST_CHECKS, &seconds, err);
        *checking = fmin(*checking, seconds);
    }
    *checking = fmax(*checking, *plain);
    return rc;
}

/* Extrapolates from a run with bursts to the time of a run that is one burst. */
static int run_at(struct fathom_trace *t, double checks, double checking, double *instrumented,
                  struct fathom_error *err)
{
    double seconds = 0, burst = (double)t->options.burst;
    int rc = run_with(t, checks, &seconds, err);
    *instrumented = fmax(checking + (seconds - checking) * (checks + burst) / burst, checking);
    return rc;
}

/* Chooses the number so that bursts cost what the checks leave of the wanted overhead. */
static double choose_checks(const struct fathom_trace *t, double instrumented, double checking, double wanted)
{
    double checks = wanted > checking
                        ? (double)t->options.burst * (instrumented - wanted) / (wanted - checking)
                        : MOST_CHECKS;
    return fmin(fmax(checks, 1), MOST_CHECKS);
}

int fathom_trace_fit(struct fathom_trace *t, double percent, struct fathom_error *err)
{
    double plain, checking, instrumented = 0, burst = (double)t->options.burst;
    int rc = run_both(t, &plain, &checking, err);
    double wanted = plain * (1 + percent / 100), checks = burst * (1 / FIT_RATE - 1);
    if (rc == 0 && plain < SHORTEST)
        rc =
            error_set(err, EDOM, "%s takes %.3f s of CPU time: too little to choose a rate by; give --checks",
                      t->options.command[0], plain);
    if (rc == 0 && wanted <= checking)
        rc = error_set(err, EDOM,
                       "checks alone cost %.1f%% more: give a larger --overhead than %.1f, or trace less "
                       "with --function or --boring",
                       100 * (checking / plain - 1), percent);
    /* Twice, as a burst costs more at a low rate, when its code is no longer in the caches. */
    for (int i = 0; rc == 0 && i < 2; i++) {
        rc = run_at(t, checks, checking, &instrumented, err);
        checks = choose_checks(t, instrumented, checking, wanted);
    }
    if (rc < 0)
        return rc;
    t->options.checks = (uint64_t)checks;
    log_write(&t->host.log, LOG_NOTE,
              "without bursts it takes %.2f times as long as as it is, and in bursts %.1f times: %.0f checks "
              "between bursts of %.0f",
              checking / plain, instrumented / plain, checks, burst);
    return 0;
}
