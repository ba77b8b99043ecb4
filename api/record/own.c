/* own.c - records the caller itself; see fathom/live.h. */
#include "api/record/own.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "collector/targets/proc.h"

#define OWN_HZ 997 /* samples per second: not a multiple of usual timer and screen rates */

struct own {
    const struct fathom_recorder_options *record; /* borrowed until all is open, like the next */
    const struct fathom_report_options *report;
    const struct fathom_listener *listener;
    pid_t *tids; /* what is recorded */
    struct fathom_live *live;
    pthread_t thread;
    bool running; /* the thread must be joined */
    sem_t opened; /* posted when opening succeeded or failed */
    int rc;       /* result of opening, then of the run */
    struct fathom_error error;
};

/* Finds all threads except the calling one. */
static int name_threads(struct own *o, size_t *count)
{
    const pid_t self = gettid();
    size_t all;
    int rc = proc_threads(getpid(), &o->tids, &all);
    if (rc < 0)
        return error_system(&o->error, -rc, "cannot list the threads of this process");

    for (size_t i = 0; i < all; i++)
        if (o->tids[i] != self)
            o->tids[(*count)++] = o->tids[i];
    return 0;
}

static int open_live(struct own *o)
{
    struct fathom_recorder_options record = *o->record;
    struct fathom_target *target = &record.target;
    size_t count = 0;
    int rc = name_threads(o, &count);
    if (rc < 0)
        return rc;
    target->everyone = target->user.given = false;
    target->cgroup = target->container = NULL;
    target->command = NULL;
    target->pids = (struct fathom_pids){NULL, 0};
    target->tids = (struct fathom_pids){o->tids, count};
    if (record.scope ==
        FATHOM_SCOPE_AUTO) /* events by CPU find a thread that starts before they count only by its process */
        record.scope = FATHOM_SCOPE_THREAD;
    return fathom_live_open(&record, o->report, o->listener, &o->live, &o->error);
}

/* The thread begins before there are events: else they would follow it as a child of a recorded thread. */
static void *run_own(void *own)
{
    struct own *o = own;
    const int rc = o->rc = open_live(o);
    sem_post(&o->opened);
    if (rc == 0)
        o->rc = fathom_live_run(o->live, &o->error);
    return NULL;
}

/* Returns the result of opening. */
static int start_thread(struct own *o)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(&o->thread, NULL, run_own, o);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed)
        return error_system(&o->error, failed, "cannot start a thread that records");
    o->running = true;
    while (sem_wait(&o->opened) < 0 && errno == EINTR)
        ;
    return o->live ? 0 : o->rc;
}

/* record, report: not NULL. */
static int start_recording(const struct fathom_recorder_options *record,
                           const struct fathom_report_options *report, const struct fathom_listener *listener,
                           struct fathom_live **out, struct fathom_error *error)
{
    struct own *o = calloc(1, sizeof *o);
    if (!o)
        return error_memory(error);
    o->record = record;
    o->report = report;
    o->listener = listener;
    sem_init(&o->opened, 0, 0);
    int rc = start_thread(o);
    if (rc < 0 && error)
        *error = o->error;
    if (rc < 0) {
        own_free(o);
        return rc;
    }
    *live_own(o->live) = o;
    *out = o->live;
    return 0;
}

static struct fathom_recorder_options default_options(const char *event, uint64_t frequency)
{
    const bool clock = !event;
    return (struct fathom_recorder_options){.target = {.event = clock ? "cpu-clock:u" : event,
                                                       .frequency = frequency || !clock ? frequency : OWN_HZ,
                                                       .no_children = true,
                                                       .verify = fathom_verify_default},
                                            .audit_hz = FATHOM_AUDIT_DEFAULT,
                                            .no_cache = true};
}

static void set_plain(struct fathom_report_options *report)
{
    fathom_report_defaults(report);
    report->profile.no_cache = true;
    report->profile.inline_most = 0;
}

int fathom_live_start(const struct fathom_recorder_options *record,
                      const struct fathom_report_options *report, const struct fathom_listener *listener,
                      struct fathom_live **out, struct fathom_error *error)
{
    const struct fathom_recorder_options clock = default_options(NULL, 0);
    struct fathom_report_options plain;
    set_plain(&plain);
    return start_recording(record ? record : &clock, report ? report : &plain, listener, out, error);
}

int fathom_live_start_as(const char *event, uint64_t frequency, const char *format,
                         const struct fathom_listener *listener, struct fathom_live **out,
                         struct fathom_error *error)
{
    const struct fathom_recorder_options record = default_options(event, frequency);
    struct fathom_report_options report;
    set_plain(&report);
    report.format = format;
    return start_recording(&record, &report, listener, out, error);
}

static void join_thread(struct own *o)
{
    if (o->running)
        pthread_join(o->thread, NULL);
    o->running = false;
}

int fathom_live_finish(struct fathom_live *live, struct fathom_error *error)
{
    struct own *o = *live_own(live);
    fathom_live_stop(live);
    join_thread(o);
    if (o->rc == 0)
        return fathom_live_infer(live, error);
    if (error)
        *error = o->error;
    return o->rc;
}

void own_free(struct own *o)
{
    if (!o)
        return;
    join_thread(o);
    sem_destroy(&o->opened);
    free(o->tids);
    free(o);
}
