#include "cli/target.h"

#include <getopt.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool target_take_event(struct terminal *terminal, const struct option_row *row, char *argument, void *value)
{
    const char **event = value, *before = *event;
    char *joined;
    (void)row;
    if (asprintf(&joined, "%s%s%s", before ? before : "", before ? "," : "", argument) < 0) {
        terminal_wrong(terminal, "--event: out of memory");
        return false;
    }
    free((char *)(uintptr_t)before);
    *event = joined;
    return true;
}

bool target_take_pids(struct terminal *terminal, const struct option_row *row, char *argument, void *value)
{
    struct fathom_pids *to = value;
    struct option_pids pids = {(pid_t *)(uintptr_t)to->pids, to->count, to->count};
    bool good = option_pids(terminal, row, argument, &pids);
    *to = (struct fathom_pids){pids.pids, pids.count};
    return good;
}

/* --uid: a name has precedence, as in ps(1), as it may consist of digits. */
bool target_take_user(struct terminal *terminal, const struct option_row *row, char *argument, void *value)
{
    struct fathom_user *user = value;
    const struct passwd *known = getpwnam(argument);
    uint64_t number = known ? known->pw_uid : 0;
    if (!known && !(*argument >= '0' && *argument <= '9'))
        return terminal_wrong(terminal, "--%s: there is no user '%s'", row->name, argument), false;
    if (!known && !option_number(terminal, row, argument, &number))
        return false;
    *user = (struct fathom_user){true, (uint32_t)number};
    return true;
}

const char *target_wide_option(const struct fathom_target *target)
{
    return target->everyone     ? "--all-cpus"
           : target->cgroup     ? "--cgroup"
           : target->container  ? "--container"
           : target->user.given ? "--uid"
                                : NULL;
}

int target_complete(struct fathom_target *target, int argc, char **argv, struct terminal *terminal)
{
    if (target->frequency && target->period)
        return option_usage(terminal, "--frequency and --period are mutually exclusive");
    if (optind < argc)
        target->command = argv + optind;
    int ways = (target->command != NULL) + (target->pids.count > 0) + (target->tids.count > 0);
    if (target->cgroup && !*target->cgroup)
        return option_usage(terminal, "--cgroup: an empty path; that of all control groups is '/'");
    if (fathom_target_wide(target) > 1)
        return option_usage(terminal, "give only one of: --all-cpus, --cgroup, --container, --uid");
    if (fathom_target_wide(target) && (target->pids.count || target->tids.count || target->no_children))
        return option_usage(terminal, "%s is for all processes%s: leave out --pid, --tid and --no-children",
                            target_wide_option(target), target->everyone ? "" : " of it");
    if (ways == 1 || fathom_target_wide(target))
        return -1;
    return option_usage(terminal,
                        ways ? "give only one of: a command, --pid, --tid"
                             : "nothing to observe: give a command ('fathom %s -- ./program'), or what runs "
                               "already ('fathom %s -p PID', or --tid)",
                        terminal->parsed->name, terminal->parsed->name);
}

void target_free(struct fathom_target *target)
{
    free((pid_t *)(uintptr_t)target->pids.pids);
    free((pid_t *)(uintptr_t)target->tids.pids);
    free((char *)(uintptr_t)target->event);
}

/* --verify: all, none or a number. */
bool target_take_verify(struct terminal *terminal, const struct option_row *row, char *text, void *value)
{
    struct fathom_verify *verify = value;
    uint64_t number = 0;
    verify->wish = FATHOM_VERIFY_ASKED;
    if (strcmp(text, "all") == 0)
        verify->compared = FATHOM_VERIFY_ALL;
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
    struct fathom_verify *verify = value;
    char *comma = strchr(text, ',');
    if (strcmp(text, "unlimited") == 0) {
        verify->wish = FATHOM_VERIFY_ASKED;
        verify->burst = verify->rate = UINT32_MAX;
        return true;
    }
    if (strcmp(text, "none") == 0) {
        verify->wish = FATHOM_VERIFY_NEVER;
        return true;
    }
    verify->wish = FATHOM_VERIFY_ASKED;
    if (comma)
        *comma = 0;
    return option_number(terminal, row, text, &verify->burst) &&
           (!comma || option_number(terminal, row, comma + 1, &verify->rate));
}
