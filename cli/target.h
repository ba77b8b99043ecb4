/* target.h - options of record, top, train and evaluate: what to observe, and how often. */
#ifndef FATHOM_CLI_TARGET_H
#define FATHOM_CLI_TARGET_H

#include "api/fathom.h"
#include "cli/options.h"

/* Rows for commands whose struct has a `struct fathom_target target`, which target_free() frees. */
/* clang-format off */
#define TARGET_EVENT(type, text) \
    {"event", 'e', "EVENT", target_take_event, OPTION_AT(type, target.event, const char *), .help = (text)}
#define TARGET_FREQUENCY(type, text) \
    OPTION_NUMBER("frequency", 'F', "HZ", 1, UINT32_MAX, type, target.frequency, text)
#define TARGET_PERIOD(type, text)   OPTION_NUMBER("period", 'c', "N", 1, INT64_MAX, type, target.period, text)
/* name: of the option for the filter, as some commands have another --filter. */
#define TARGET_FIELDS(type, name) \
    OPTION_TEXT(name, 0, "EXPR", type, target.filter, \
                "of tracepoints, only what the kernel finds true: 'ret > 4096 && fd == 3'"), \
    OPTION_TEXT("weight", 0, "FIELD", type, target.weight, \
                "of tracepoints, what each weighs: a field, such as bytes (those below 0 weigh nothing)")
#define TARGET_PID(type, text)      \
    {"pid", 'p', "PID,...", target_take_pids, OPTION_AT(type, target.pids, struct fathom_pids), .help = (text)}
#define TARGET_EVERYONE(type, text) \
    OPTION_FLAG("all-cpus", 'a', type, target.everyone, text)
#define TARGET_CGROUP(type) \
    OPTION_TEXT("cgroup", 0, "PATH", type, target.cgroup, \
                "all processes of a control group and those below it, such as system.slice/nginx.service")
#define TARGET_CONTAINER(type) \
    OPTION_TEXT("container", 0, "ID", type, target.container, \
                "all processes of a container: its ID, the beginning of that, or its name")
#define TARGET_UID(type) \
    {"uid", 0, "USER", target_take_user, OPTION_AT(type, target.user, struct fathom_user), \
     .whole = {0, UINT32_MAX - 1}, .help = "all processes of a user, a name or number"}
#define TARGET_NO_CHILDREN(type) \
    OPTION_FLAG("no-children", 0, type, target.no_children, \
                "only the processes themselves, not those that they started or start")
#define TARGET_TID(type, text)      \
    {"tid", 't', "TID,...", target_take_pids, OPTION_AT(type, target.tids, struct fathom_pids), .help = (text)}
#define TARGET_DURATION(type, text) OPTION_FRACTION("duration", 0, "S", 0.001, 1e9, type, target.duration, text)
#define TARGET_VERIFY(type, text) \
    {"verify", 0, "K", target_take_verify, OPTION_AT(type, target.verify, struct fathom_verify), \
     .whole = {0, FATHOM_VERIFY_ALL - 1}, .help = (text)}
#define TARGET_DUMPS(type) \
    {"dumps", 0, "N,RATE", target_take_dumps, OPTION_AT(type, target.verify, struct fathom_verify), \
     .whole = {0, UINT32_MAX}, \
     .help = "unknown stacks to read: N at first, then RATE a second; 'unlimited'; 'none': compare no stacks " \
             "(default: 4000,2000)"}
/* clang-format on */
option_take target_take_event, target_take_pids, target_take_user, target_take_verify, target_take_dumps;

/* The given option that selects processes of the whole system; NULL: none. */
const char *target_wide_option(const struct fathom_target *target);
/* Call it after parsing options: takes the command from argv[optind...]. Checks that there is exactly one of command, -p and -t, or one
 * of the options of target_wide_option(), with or without a command; and not both a frequency and a period. -1, or EXIT_USAGE after
 * printing the error. */
int target_complete(struct fathom_target *target, int argc, char **argv, struct terminal *terminal);
void target_free(struct fathom_target *target);

#endif
