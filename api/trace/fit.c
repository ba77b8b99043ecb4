/* fit.c - chooses how many checks there are between bursts for a wanted overhead, by equation 2 (Hirzel and Chilimbi, Bursty Tracing,
 * FDDO-4 2001), whose times are taken from runs of the command. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/trace/tracing.h"
#include "streams/trace/directory.h"

#define FIT_DIRECTORY "fit"
#define FIT_RATE      0.1  /* part of the checks that are in bursts, in the run that tells what these cost */
#define SHORTEST      0.05 /* seconds of CPU time: shorter runs tell nothing */
#define MOST_CHECKS   2e9  /* between bursts: "none" */

static int finish(struct fathom_trace *t, double *seconds, struct fathom_error *err)
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
    return rc == 0 ? finish(t, seconds, err) : rc;
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
        rc = finish(t, seconds, err);
    int removed = trace_directory_remove(directory, rc == 0 ? err : NULL);
    free(directory);
    return rc < 0 ? rc : removed;
}

int fathom_trace_fit(struct fathom_trace *t, double percent, struct fathom_error *err)
{
    double plain = 0, checking = 0, some = 0, burst = (double)t->options.burst;
    int rc = run_plain(t, &plain, err);
    if (rc == 0)
        rc = run_with(t, MOST_CHECKS, &checking, err);
    if (rc == 0)
        rc = run_with(t, burst * (1 / FIT_RATE - 1), &some, err);
    if (rc < 0)
        return rc;
    if (plain < SHORTEST)
        return error_set(err, EDOM,
                         "%s takes %.3f s of CPU time: too little to choose a rate by; give --checks",
                         t->options.command[0], plain);
    double instrumented = checking + (some - checking) / FIT_RATE, wanted = plain * (1 + percent / 100);
    double checks = wanted > checking ? burst * (instrumented - wanted) / (wanted - checking) : MOST_CHECKS;
    checks = checks < 1 ? 1 : checks > MOST_CHECKS ? MOST_CHECKS : checks;
    t->options.checks = (uint64_t)checks;
    log_write(&t->host.log, LOG_NOTE,
              "without bursts it takes %.2f times as long as as it is, and in bursts %.1f times: %.0f checks "
              "between bursts of %.0f",
              checking / plain, instrumented / plain, checks, burst);
    if (wanted > checking)
        return 0;
    return error_set(
        err, EDOM, "checks alone cost more than %.1f%%: give more, or trace less with --function or --boring",
        percent);
}
