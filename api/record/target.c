#include "api/record/target.h"

#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "image/elf/program.h"
#include "perfdata/stack_record.h"

#define POLL_MS    100
#define NEWS_BURST 4000
#define NEWS_RATE  2000 /* a second */

_Static_assert((int)FATHOM_VERIFY_NEVER == (int)VERIFY_NEVER &&
                   (int)FATHOM_VERIFY_BY_DEFAULT == (int)VERIFY_BY_DEFAULT &&
                   (int)FATHOM_VERIFY_ASKED == (int)VERIFY_ASKED && FATHOM_VERIFY_ALL == STACK_RECORD_ALL,
               "the same numbers");

const struct fathom_verify fathom_verify_default = {
    .wish = FATHOM_VERIFY_BY_DEFAULT, .compared = FATHOM_VERIFY_ALL, .burst = NEWS_BURST, .rate = NEWS_RATE};

/* Whether root runs a program that is set-user-ID or set-group-ID. */
static bool is_raised(char *const *command)
{
    struct program program;
    return command && geteuid() == 0 && program_find(command[0], &program, NULL) == 0 && program.raised;
}

void target_collector(const struct fathom_target *target, const struct log *log,
                      struct collector_options *out)
{
    *out = (struct collector_options){
        .event = {.name = target->event,
                  .period = target->period,
                  .frequency = target->frequency,
                  .stack_size = (uint32_t)target->stack_bytes,
                  .filter = target->filter,
                  .weight = target->weight},
        .everyone = target->everyone,
        .cgroup = target->cgroup,
        .container = target->container,
        .one_user = target->user.given,
        .user = target->user.id,
        .command = target->command,
        .raised = !fathom_target_wide(target) && is_raised(target->command),
        .pids = target->pids.pids,
        .pid_count = target->pids.count,
        .tids = target->tids.pids,
        .tid_count = target->tids.count,
        .no_children = target->no_children,
        .verify = {.wish = (enum verify_wish)target->verify.wish,
                   .compared = target->verify.compared,
                   .burst = target->verify.burst,
                   .rate = target->verify.rate},
        .log = log,
    };
}

int target_observe(const struct fathom_target *target, struct collector *collector,
                   const struct target_user *user, const atomic_bool *stop, bool *ended,
                   struct fathom_error *err)
{
    int rc = user->started ? 0 : collector_start(collector, user->sink, user->sink_context, err);
    double stop_at = clock_seconds() + target->duration;
    while (rc == 0) {
        int timeout = POLL_MS;
        if (target->duration > 0) {
            double left = stop_at - clock_seconds();
            if (left <= 0)
                break;
            if (left * 1000 < timeout)
                timeout = (int)(left * 1000) + 1;
        }
        int more = collector_poll(collector, timeout, user->sink, user->sink_context, err);
        if (atomic_load(stop))
            break;
        if (more <= 0) {
            rc = more;
            if (ended)
                *ended = rc == 0;
            break;
        }
        if (user->progress)
            rc = user->progress(user->context, err);
    }
    rc = rc > 0 ? 0 : rc; /* another collector continues */
    int stopped = collector_stop(collector, user->sink, user->sink_context, rc ? NULL : err);
    if (rc == 0)
        rc = stopped;
    if (target->command && collector_status(collector) < 0)
        collector_signal(collector, SIGTERM);
    return rc;
}
