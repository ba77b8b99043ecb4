/*
 * target.h - whom to observe and how often: the options that record, train and evaluate share, and the loop
 * that drains the collector until the end, Ctrl-C or --duration.
 */
#ifndef FATHOM_CLI_TARGET_H
#define FATHOM_CLI_TARGET_H

#include <getopt.h>

#include "cli/options.h"
#include "collector/collector.h"

struct target {
    const char *event;
    uint64_t frequency, period; /* Hz, events; 0: not given */
    pid_t *pids, *tids;
    size_t pid_count, tid_count;
    double duration;      /* seconds; 0: to the end */
    uint64_t stack_bytes; /* of a dump */
    char *const *command; /* NULL when attached */
};

/* Entries for getopt_long, and the short options that go with them. */
#define TARGET_SHORT "e:F:c:p:t:qvh"
#define TARGET_LONG                                                                                          \
    {"event", required_argument, NULL, 'e'}, {"frequency", required_argument, NULL, 'F'},                    \
        {"period", required_argument, NULL, 'c'}, {"pid", required_argument, NULL, 'p'},                     \
        {"tid", required_argument, NULL, 't'}, {"duration", required_argument, NULL, TARGET_DURATION},       \
        {"quiet", no_argument, NULL, 'q'}, {"verbose", no_argument, NULL, 'v'},                              \
    {                                                                                                        \
        "help", no_argument, NULL, 'h'                                                                       \
    }

enum { TARGET_DURATION = 0x100, TARGET_OWN /* first value for a command's own long options */ };

/* Goes through all options: the shared ones into *target, the command's own to `take` (context, its value,
 * optarg set; false: a bad value, already said). Returns -1 to go on, else the exit code: help was printed,
 * or what is wrong was said. */
struct target_parser {
    const struct command *command;
    const char *shorts; /* getopt_long's, with TARGET_SHORT in it */
    const struct option *longs;
    bool (*take)(void *context, int option, struct terminal *terminal);
    void *context;
};
int target_parse(struct target *target, const struct target_parser *parser, int argc, char **argv,
                 struct terminal *terminal);
/* After the options: exactly one of command, -p and -t, taken from argv[optind...]. -1, or EXIT_USAGE when
 * that was said. */
int target_complete(struct target *target, const struct command *command, int argc, char **argv,
                    struct terminal *terminal);
void target_free(struct target *target);
/* The collector's options for it; borrows from target and terminal. */
void target_collector(const struct target *target, struct terminal *terminal, struct collector_options *out);

enum target_end {
    TARGET_ENDED, /* the command or all processes ended */
    TARGET_DURATION_OVER,
    TARGET_INTERRUPTED, /* SIGINT or SIGTERM */
};

/* Starts the collector, drains it to the sink until the end, stops it. `progress` (may be NULL) is called
 * at least 10 times a second; a negative return ends the run and is handed through. After a failure what
 * reached the sink stays good. A launched command that still runs is sent SIGTERM. */
int target_run(const struct target *target, struct collector *collector, collector_sink *sink, void *context,
               int (*progress)(void *context, struct fathom_error *err), enum target_end *end,
               struct fathom_error *err);

#endif
