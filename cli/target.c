/* target.c - see target.h. */
#include "cli/target.h"

#include <signal.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/interrupt.h"
#include "image/elf/program.h"

#define POLL_MS    100
#define NEWS_BURST 4000
#define NEWS_RATE  400 /* a second */

bool target_take_event(struct terminal *terminal, const struct option_row *row, char *argument, void *value)
{
    struct target *target = (struct target *)((char *)value - offsetof(struct target, event));
    char *joined;
    if (!target->event)
        return option_text(terminal, row, argument, value);
    if (asprintf(&joined, "%s,%s", target->event, argument) < 0) {
        terminal_wrong(terminal, "--event: out of memory");
        return false;
    }
    free(target->events);
    target->event = target->events = joined;
    return true;
}

int target_complete(struct target *target, const struct command *command, int argc, char **argv,
                    struct terminal *terminal)
{
    if (target->frequency && target->period)
        return option_usage(terminal, command, "--frequency and --period are mutually exclusive");
    if (optind < argc)
        target->command = argv + optind;
    int ways = (target->command != NULL) + (target->pids.count > 0) + (target->tids.count > 0);
    if (ways == 1)
        return -1;
    return option_usage(terminal, command,
                        ways ? "give only one of: a command, --pid, --tid"
                             : "nothing to observe: give a command ('fathom %s -- ./program'), or what runs "
                               "already ('fathom %s -p PID', or --tid)",
                        command->name, command->name);
}

void target_free(struct target *target)
{
    free(target->pids.pids);
    free(target->tids.pids);
    free(target->events);
}

/* Whether root runs a program that is set-user-ID or set-group-ID. */
static bool is_raised(char *const *command)
{
    struct program program;
    return command && geteuid() == 0 && program_find(command[0], &program, NULL) == 0 && program.raised;
}

const struct verify_options target_verify_all = {
    .wish = VERIFY_BY_DEFAULT, .compared = STACK_RECORD_ALL, .burst = NEWS_BURST, .rate = NEWS_RATE};

/* --verify: all, none or a number. */
bool target_take_verify(struct terminal *terminal, const struct option_row *row, char *text, void *value)
{
    struct verify_options *verify = value;
    uint64_t number = 0;
    verify->wish = VERIFY_ASKED;
    if (strcmp(text, "all") == 0)
        verify->compared = STACK_RECORD_ALL;
    else if (strcmp(text, "none") == 0)
        verify->compared = 0;
    else if (option_number(terminal, row, text, &number))
        verify->compared = (unsigned)number;
    else
        return false;
    return true;
}

/* --dumps: BURST,RATE, "unlimited" or "none". */
bool target_take_dumps(struct terminal *terminal, const struct option_row *row, char *text, void *value)
{
    struct verify_options *verify = value;
    char *comma = strchr(text, ',');
    if (strcmp(text, "unlimited") == 0) {
        verify->wish = VERIFY_ASKED;
        verify->burst = verify->rate = UINT32_MAX;
        return true;
    }
    if (strcmp(text, "none") == 0) {
        verify->wish = VERIFY_NEVER;
        return true;
    }
    verify->wish = VERIFY_ASKED;
    if (comma)
        *comma = 0;
    return option_number(terminal, row, text, &verify->burst) &&
           (!comma || option_number(terminal, row, comma + 1, &verify->rate));
}

void target_collector(const struct target *target, struct terminal *terminal, struct collector_options *out)
{
    *out = (struct collector_options){
        .event = {.name = target->event,
                  .period = target->period,
                  .frequency = target->frequency,
                  .stack_size = (uint32_t)target->stack_bytes},
        .command = target->command,
        .raised = is_raised(target->command),
        .pids = target->pids.pids,
        .pid_count = target->pids.count,
        .tids = target->tids.pids,
        .tid_count = target->tids.count,
        .no_children = target->no_children,
        .verify = target->verify,
        .log = &terminal->log,
    };
}

static double now_seconds(void)
{
    return (double)clock_ns() * 1e-9;
}

int target_run(const struct target *target, struct collector *collector, const struct target_user *user,
               enum target_end *end, struct fathom_error *err)
{
    struct interrupts before;
    interrupt_catch(&before);

    *end = TARGET_ENDED;
    int rc = collector_start(collector, user->sink, user->context, err);
    double stop_at = now_seconds() + target->duration;
    while (rc == 0) {
        int timeout = POLL_MS;
        if (target->duration > 0) {
            double left = stop_at - now_seconds();
            if (left <= 0) {
                *end = TARGET_TIME_OVER;
                break;
            }
            if (left * 1000 < timeout)
                timeout = (int)(left * 1000) + 1;
        }
        int more = collector_poll(collector, timeout, user->sink, user->context, err);
        if (interrupt_count()) {
            *end = TARGET_INTERRUPTED;
            break;
        }
        if (more <= 0) {
            rc = more;
            break;
        }
        if (user->progress)
            rc = user->progress(user->context, err);
    }
    int stopped = collector_stop(collector, user->sink, user->context, rc ? NULL : err);
    if (rc == 0)
        rc = stopped;
    if (target->command && collector_status(collector) < 0)
        collector_signal(collector, SIGTERM);

    interrupt_restore(&before);
    return rc;
}
