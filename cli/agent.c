/*
 * agent.c - `fathom agent`: continuously records all processes, and puts the recordings into a store.
 *
 * A recorder process writes one file after the other into the spool. Another process puts each complete file into the store; it is
 * removed once the store has acknowledged it. Files do not change, and one that is put into the store twice counts once, so that nothing
 * is lost or counted twice, whichever process is killed at any time.
 */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/path.h"
#include "agent/children.h"
#include "cli/agent/config.h"
#include "agent/metrics.h"
#include "agent/retry.h"
#include "cli/agent/shipping.h"
#include "agent/spool.h"
#include "cli/exit.h"
#include "cli/options.h"

#define STEADY_NS (60 * SECOND_NS) /* a recorder that ran this long was configured correctly */
#define LOOK_NS   SECOND_NS        /* interval for checking the spool */

struct agent_options {
    const char *config;
    bool check;
};

struct agent {
    struct terminal *terminal;
    const char *path; /* of the configuration */
    struct agent_config config;
    struct agent_config before; /* the previous configuration, while `untried` */
    bool untried;               /* no recorder has written a file with this configuration yet */
    int lock;                   /* of the spool; -1: none */
    struct child recorder;
    struct retry record;
    uint64_t recorder_since; /* when the recorder was started, ns */
    bool orphan_recorder;    /* the recorder of a killed agent still writes an unknown file */
    struct spool spool;
    bool unlisted; /* the spool could not be read, which was reported */
    struct shipping ship;
    struct agent_metrics metrics;
    struct metrics_server *server; /* NULL: none */
    uint64_t random;
};

static volatile sig_atomic_t asked_to_stop, asked_to_reload, asked_to_profile;

static void note_signal(int signal)
{
    if (signal == SIGHUP)
        asked_to_reload = 1;
    else if (signal == SIGUSR1)
        asked_to_profile = 1;
    else if (signal != SIGCHLD)
        asked_to_stop = 1;
}

/* Adds an option, if its value is not empty. Returns the end of the list. */
static const char **add_option(const char **to, const char *name, const char *value)
{
    if (!*value)
        return to;
    *to++ = name;
    *to++ = value;
    return to;
}

/* Recording ------------------------------------------------------------------------------------------------------ */

static int run_recorder(struct agent *a, int lock, struct fathom_error *err)
{
    char hz[24], part[24], phases[24] = "0", output[AGENT_TEXT + 16];
    const char *argv[32] = {"fathom", "record", "-q",       "-a", "-e", a->config.events,
                            "-F",     hz,       "--switch", part, "-o", output},
               **to = argv;
    while (*to)
        to++;
    to = add_option(to, "--phases", a->config.phase_ms ? phases : "");
    to = add_option(to, "--phases-policy", a->config.phases_policy);
    to = add_option(to, "--trigger", a->config.trigger);
    add_option(to, "--control", a->config.control);
    snprintf(phases, sizeof phases, "%llu", (unsigned long long)a->config.phase_ms);
    snprintf(hz, sizeof hz, "%llu", (unsigned long long)a->config.frequency);
    snprintf(part, sizeof part, "%llus", (unsigned long long)a->config.part_seconds);
    snprintf(output, sizeof output, "%s/profile", a->config.spool);
    return child_start(&a->recorder, argv, false, lock, err);
}

/* Only the recorder keeps its lock, which is thus held as long as it writes, even if the agent is gone. */
static void start_recorder(struct agent *a)
{
    struct fathom_error err;
    int lock = -1, rc = spool_lock(a->config.spool, SPOOL_RECORDER_LOCK, &lock, &err);
    if (rc == -EBUSY) {
        if (!a->orphan_recorder)
            terminal_say(a->terminal, LOG_NOTE,
                         "a recorder of an agent that was killed still writes into %s: waiting for its end",
                         a->config.spool);
        a->orphan_recorder = true;
        a->record.at = clock_ns() + LOOK_NS;
        return;
    }
    a->orphan_recorder = false;
    if (rc == 0)
        rc = run_recorder(a, lock, &err);
    if (lock >= 0)
        close(lock);
    if (rc < 0) {
        terminal_error(a->terminal, &err);
        retry_later(&a->record, &a->random);
        return;
    }
    a->metrics.starts++;
    a->recorder_since = clock_ns();
}

static int use_config(struct agent *a, const struct agent_config *config, struct fathom_error *err);

/* Handles the end of the recorder, which should never end by itself. */
static void end_recorder(struct agent *a, int status)
{
    struct fathom_error err;
    const bool steady = clock_ns() - a->recorder_since >= STEADY_NS;
    if (steady)
        a->record.delay = 0;
    retry_later(&a->record, &a->random);
    terminal_say(a->terminal, LOG_WARNING, "the recorder has ended (exit code %d)",
                 exit_code_of_status(status));
    if (a->untried && !steady) {
        const struct agent_config before = a->before;
        terminal_say(a->terminal, LOG_WARNING,
                     "... before it wrote anything by what %s says now: what it said before is used again",
                     a->path);
        if (use_config(a, &before, &err) < 0)
            terminal_error(a->terminal, &err);
        a->record = (struct retry){0};
    }
    a->untried = false;
}

static void check_recorder(struct agent *a)
{
    int status;
    if (child_ended(&a->recorder, &status))
        end_recorder(a, status);
    if (!a->recorder.pid && retry_is_due(&a->record))
        start_recorder(a);
}

/* The spool ------------------------------------------------------------------------------------------------------ */

static void check_spool(struct agent *a)
{
    struct fathom_error err;
    shipping_end(&a->ship, &a->config, &a->spool);
    bool listed = spool_list(a->config.spool, &a->spool, &err) == 0;
    if (!listed && !a->unlisted)
        terminal_error(a->terminal, &err);
    a->unlisted = !listed;
    if (!listed || a->orphan_recorder || (a->recorder.pid && !spool_find_growing(&a->spool, a->recorder.pid)))
        return;
    for (size_t i = 0; i < a->spool.count; i++)
        a->untried &= !a->spool.files[i].growing;
    shipping_begin(&a->ship, &a->config, &a->spool);
    a->metrics.dropped += spool_trim(a->config.spool, &a->spool, a->config.spool_bytes,
                                     a->ship.path ? path_base(a->ship.path) : NULL);
}

/* The agent ------------------------------------------------------------------------------------------------------ */

static void serve_metrics(struct agent *a)
{
    struct rusage own;
    getrusage(RUSAGE_SELF, &own);
    a->metrics.recording = a->recorder.pid != 0;
    a->metrics.spool_parts = a->spool.count;
    a->metrics.spool_bytes = a->spool.bytes;
    a->metrics.recorder_cpu = child_cpu(&a->recorder);
    a->metrics.shipping_cpu = child_cpu(&a->ship.child);
    a->metrics.own_cpu = child_cpu_used(&own);
    metrics_serve(a->server, &a->metrics);
}

/* Opens a new spool and port, if they differ, and then closes the old ones. An error changes nothing. */
static int use_config(struct agent *a, const struct agent_config *config, struct fathom_error *err)
{
    const bool moves = strcmp(config->spool, a->config.spool) != 0;
    const bool listens = strcmp(config->listen, a->config.listen) != 0;
    struct metrics_server *server = NULL;
    int lock = -1, rc = moves ? spool_make(config->spool, err) : 0;
    if (rc == 0 && moves)
        rc = spool_lock(config->spool, SPOOL_LOCK, &lock, err);
    if (rc == 0 && listens && *config->listen)
        rc = metrics_listen(config->listen, &server, err);
    if (rc < 0) {
        if (lock >= 0)
            close(lock);
        return rc;
    }
    if (moves) {
        if (a->lock >= 0)
            close(a->lock);
        a->lock = lock;
    }
    if (listens) {
        metrics_close(a->server);
        a->server = server;
    }
    if (strcmp(config->store, a->config.store) != 0)
        a->ship.failing = 0;
    a->config = *config;
    a->ship.retry = a->record = (struct retry){0};
    return 0;
}

/* "cpu-clock at 19 Hz; recordings wait in /var/lib/fathom, 1024 MB at most, and go to sqlite:store.db" */
static void say_config(const struct agent *a)
{
    const struct agent_config *c = &a->config;
    terminal_say(a->terminal, LOG_NOTE,
                 "recording %s at %llu Hz; recordings wait in %s, %llu MB at most, and go to %s", c->events,
                 (unsigned long long)c->frequency, c->spool, (unsigned long long)(c->spool_bytes >> 20),
                 c->store);
}

/* An invalid configuration changes nothing. */
static void reload_config(struct agent *a)
{
    struct fathom_error err = {0};
    struct agent_config config;
    const struct agent_config before = a->config;
    int rc = agent_config_read(a->path, &config, &err);
    if (rc == 0)
        rc = use_config(a, &config, &err);
    if (rc < 0) {
        terminal_error(a->terminal, &err);
        return;
    }
    terminal_say(a->terminal, LOG_NOTE, "%s was read anew", a->path);
    say_config(a);
    if (agent_config_records_alike(&config, &before))
        return;
    if (!a->untried)
        a->before = before;
    a->untried = true;
    child_stop(&a->recorder);
}

/* Serves metrics for LOOK_NS, or until a signal arrives. */
static void wait_for_events(struct agent *a, const sigset_t *during)
{
    const uint64_t end = clock_ns() + LOOK_NS;
    int ready = 0;
    for (uint64_t now; ready >= 0 && (now = clock_ns()) < end;) {
        struct pollfd waits[METRICS_WAITS];
        const struct timespec rest = {.tv_sec = (time_t)((end - now) / SECOND_NS),
                                      .tv_nsec = (long)((end - now) % SECOND_NS)};
        ready = ppoll(waits, metrics_waits(a->server, waits), &rest, during);
        serve_metrics(a);
    }
}

static void run_rounds(struct agent *a, const sigset_t *during)
{
    say_config(a);
    while (!asked_to_stop) {
        if (asked_to_reload) {
            asked_to_reload = 0;
            reload_config(a);
        }
        check_recorder(a);
        if (asked_to_profile && a->recorder.pid) {
            asked_to_profile = 0;
            child_signal(&a->recorder, SIGUSR1);
        }
        check_spool(a);
        wait_for_events(a, during);
    }
    child_stop(&a->recorder);
    child_stop(&a->ship.child);
}

/* Blocks signals except while waiting. */
static void hold_signals(sigset_t *during)
{
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGUSR1};
    sigset_t held;
    sigemptyset(&held);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) {
        sigaddset(&held, caught[i]);
        sigaction(caught[i], &(struct sigaction){.sa_handler = note_signal}, NULL);
    }
    sigprocmask(SIG_BLOCK, &held, during);
    signal(SIGPIPE, SIG_IGN);
}

static int run_agent(const struct agent_options *options, const sigset_t *during, struct terminal *terminal,
                     struct fathom_error *err)
{
    struct agent a = {.terminal = terminal, .path = options->config, .lock = -1, .random = clock_ns()};
    struct agent_config config;
    a.ship = (struct shipping){
        .terminal = terminal, .metrics = &a.metrics, .failures = failures_new(), .random = &a.random};
    int rc = a.ship.failures ? agent_config_read(a.path, &config, err) : error_memory(err);
    if (rc == 0 && !options->check) {
        rc = use_config(&a, &config, err);
        if (rc == 0)
            run_rounds(&a, during);
    }
    metrics_close(a.server);
    if (a.lock >= 0)
        close(a.lock);
    spool_clear(&a.spool);
    free(a.ship.path);
    failures_free(a.ship.failures);
    return rc;
}

static int agent_run(int argc, char **argv, struct terminal *terminal)
{
    struct agent_options options = {.config = "/etc/fathom/agent.conf"};
    struct fathom_error err = {0};
    sigset_t during;
    hold_signals(&during);
    int code = options_parse(&agent_command, &options, true, argc, argv, terminal);
    if (code < 0 && optind < argc)
        code = option_usage(terminal, "unexpected argument '%s'", argv[optind]);
    if (code >= 0)
        return code;
    names_free(terminal->warnings); /* warnings are repeated when they occur again */
    terminal->warnings = NULL;
    int rc = run_agent(&options, &during, terminal, &err);
    if (rc == 0 && options.check)
        terminal_say(terminal, LOG_NOTE, "%s is good", options.config);
    return exit_result(terminal, rc, &err);
}

static const struct option_row rows[] = {
    OPTION_TEXT("config", 0, "FILE", struct agent_options, config,
                "the configuration (default: /etc/fathom/agent.conf)"),
    OPTION_FLAG("check-config", 0, struct agent_options, check, "check the configuration, and exit"),
    OPTION_QUIET("print no notes"),
    OPTION_VERBOSE("print more details"),
    OPTION_HELP,
    OPTION_END,
};

const struct command agent_command = {
    .name = "agent",
    .summary = "record all processes all the time, and put what was recorded into a store",
    .synopsis = "[--config FILE] [--check-config]",
    .about = "Runs until it gets SIGTERM, as a service of systemd. What is recorded waits in a spool on disk "
             "until the store has it.",
    .options = rows,
    .notes = "SIGHUP has the configuration read anew; SIGUSR1 has the costly events of `phases` profile the "
             "next interval. The service is fathom-agent.service; see fathom-agent(1).",
    .run = agent_run,
};
