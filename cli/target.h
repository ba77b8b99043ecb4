/*
 * target.h - what to observe and how often: the options that record, train and evaluate share, and the loop
 * that drains the collector until the target ends, Ctrl-C or --duration.
 */
#ifndef FATHOM_CLI_TARGET_H
#define FATHOM_CLI_TARGET_H

#include "cli/options.h"
#include "collector/collector.h"
#include "perfdata/stack_record.h"

struct target {
    const char *event;          /* several: separated by commas */
    char *events;               /* their text, if given by several options; owned */
    uint64_t frequency, period; /* Hz, events; 0: not given */
    struct option_pids pids, tids;
    bool no_children;
    double duration;      /* seconds; 0: to the end */
    uint64_t stack_bytes; /* of a dump */
    struct verify_options verify;
    char *const *command; /* NULL when attached */
};

/* Rows of a command's table of options, whose struct has a `struct target target`. */
/* clang-format off */
#define TARGET_EVENT(type, text) \
    {"event", 'e', "EVENT", target_take_event, OPTION_AT(type, target.event, const char *), .help = (text)}
#define TARGET_FREQUENCY(type, text) \
    OPTION_NUMBER("frequency", 'F', "HZ", 1, UINT32_MAX, type, target.frequency, text)
#define TARGET_PERIOD(type, text)   OPTION_NUMBER("period", 'c', "N", 1, INT64_MAX, type, target.period, text)
#define TARGET_PID(type, text)      OPTION_PIDS("pid", 'p', "PID,...", type, target.pids, text)
#define TARGET_NO_CHILDREN(type) \
    OPTION_FLAG("no-children", 0, type, target.no_children, \
                "only the processes themselves, not those that they started or start")
#define TARGET_TID(type, text)      OPTION_PIDS("tid", 't', "TID,...", type, target.tids, text)
#define TARGET_DURATION(type, text) OPTION_FRACTION("duration", 0, "S", 0.001, 1e9, type, target.duration, text)
#define TARGET_VERIFY(type, text) \
    {"verify", 0, "K", target_take_verify, OPTION_AT(type, target.verify, struct verify_options), \
     .whole = {0, STACK_RECORD_ALL - 1}, .help = (text)}
#define TARGET_DUMPS(type) \
    {"dumps", 0, "N,RATE", target_take_dumps, OPTION_AT(type, target.verify, struct verify_options), \
     .whole = {0, UINT32_MAX}, \
     .help = "unknown stacks to read: N at first, then RATE a second; 'unlimited'; 'none': compare no stacks " \
             "(default: 4000,400)"}
/* clang-format on */
option_take target_take_verify, target_take_dumps;
extern const struct verify_options target_verify_all; /* the defaults of the two, where stacks are compared */
option_take target_take_event;                        /* adds to the events of a struct target */

/* After the options: exactly one of command, -p and -t, the command from argv[optind...], and not both a
 * frequency and a period. -1, or EXIT_USAGE after printing the error. */
int target_complete(struct target *target, const struct command *command, int argc, char **argv,
                    struct terminal *terminal);
void target_free(struct target *target);
/* Fills in the collector's options; they borrow from target and terminal. */
void target_collector(const struct target *target, struct terminal *terminal, struct collector_options *out);

enum target_end {
    TARGET_ENDED, /* the command or all processes ended */
    TARGET_TIME_OVER,
    TARGET_INTERRUPTED, /* SIGINT or SIGTERM */
};

struct target_user {
    collector_sink *sink;
    /* Called at least 10 times a second; a negative result ends the run and is returned. May be NULL. */
    int (*progress)(void *context, struct fathom_error *err);
    void *context; /* of both */
};

/* Starts the collector, drains it to the sink until the end, stops it. After a failure, what reached the sink
 * remains valid. Sends SIGTERM to a launched command that is still running. */
int target_run(const struct target *target, struct collector *collector, const struct target_user *user,
               enum target_end *end, struct fathom_error *err);

#endif
