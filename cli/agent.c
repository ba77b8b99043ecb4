/*
 * agent.c - `fathom agent`: records all processes all the time, and puts what was recorded into a store.
 *
 * A recorder writes one file after the other into the spool; each is put into the store when it is complete, and removed when the
 * store has acknowledged it. Files do not change, so one that is put there twice counts once: whatever is killed, and
 * when, nothing is lost that was written, or counted twice. Both are commands of their own, as processes.
 */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/path.h"
#include "cli/agent/children.h"
#include "cli/agent/config.h"
#include "cli/agent/metrics.h"
#include "cli/agent/spool.h"
#include "cli/exit.h"
#include "cli/options.h"

#define SECOND_NS     UINT64_C(1000000000)
#define RETRY_LEAST   (1 * SECOND_NS) /* doubled after each failure, */
#define FAILURES_MOST 3
#define STEADY_NS     (60 * SECOND_NS) /* a recorder that ran so long had no fault at its start */
#define RETRY_MOST    (300 * SECOND_NS)
#define PATIENCE_MS   1000

struct retry {
    uint64_t at, delay; /* ns; 0: at once */
};

struct agent_options {
    const char *config;
    bool check;
};

struct agent {
    struct terminal *terminal;
    const char *path; /* of the configuration */
    struct agent_config config;
    struct child recorder, shipper;
    struct retry record, ship;
    struct spool spool;
    char *shipping; /* path of the file that is being put into the store; NULL: none is */
    uint64_t shipping_bytes;
    struct table *failures;  /* hash of a path -> how often that failed */
    uint64_t recorder_since; /* ns: when the recorder was started */
    struct agent_metrics metrics;
    int socket; /* -1: none */
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

/* Agents that lost one store do not come back at the same moment: each waits for a random part more. */
static void wait_longer(struct agent *a, struct retry *retry)
{
    retry->delay = retry->delay ? 2 * retry->delay : RETRY_LEAST;
    if (retry->delay > RETRY_MOST)
        retry->delay = RETRY_MOST;
    retry->at = clock_ns() + retry->delay + hash_random(&a->random) % retry->delay;
}

/* Adds an option with a value, if it has one; returns the end. */
static const char **add_option(const char **to, const char *name, const char *value)
{
    if (!*value)
        return to;
    *to++ = name;
    *to++ = value;
    return to;
}

/* Recording ------------------------------------------------------------------------------------------------------ */

static void start_recorder(struct agent *a)
{
    struct fathom_error err;
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
    if (child_start(&a->recorder, argv, false, &err) < 0) {
        terminal_error(a->terminal, &err);
        wait_longer(a, &a->record);
        return;
    }
    a->metrics.starts++;
    a->recorder_since = clock_ns();
}

/* A recorder does not end by itself. */
static void look_after_recorder(struct agent *a)
{
    int status;
    if (child_ended(&a->recorder, &status)) {
        terminal_say(a->terminal, LOG_WARNING, "the recorder has ended (exit code %d)",
                     exit_code_of_status(status));
        if (clock_ns() - a->recorder_since >= STEADY_NS)
            a->record.delay = 0;
        wait_longer(a, &a->record);
    }
    if (!a->recorder.pid && clock_ns() >= a->record.at)
        start_recorder(a);
}

/* Shipping ------------------------------------------------------------------------------------------------------- */

static uint64_t *failures_of(struct agent *a, const char *path)
{
    return table_put(a->failures, checksum_of(path, strlen(path)), NULL);
}

/* malloc'd; NULL: out of memory. */
static char *path_of(const struct agent *a, const char *name)
{
    char *path;
    return asprintf(&path, "%s/%s", a->config.spool, name) < 0 ? NULL : path;
}

static void start_shipper(struct agent *a, const struct spool_file *file)
{
    struct fathom_error err;
    const char *argv[20], **to = argv;
    char known[AGENT_TEXT + 16];
    a->shipping = path_of(a, file->name);
    a->shipping_bytes = file->bytes;
    snprintf(known, sizeof known, "%s/known", a->config.spool);
    *to++ = "fathom";
    *to++ = "store";
    *to++ = "import";
    *to++ = "-q";
    *to++ = "--json";
    *to++ = "--known";
    *to++ = known;
    *to++ = "-i";
    *to++ = a->shipping;
    to = add_option(to, "--credentials", a->config.credentials);
    to = add_option(to, "--host", a->config.host);
    *to++ = "--";
    *to++ = a->config.store;
    *to = NULL;
    if (!a->shipping || child_start(&a->shipper, argv, true, &err) < 0) {
        free(a->shipping);
        a->shipping = NULL;
        wait_longer(a, &a->ship);
    }
}

static void note_failure(struct agent *a)
{
    uint64_t *failures = failures_of(a, a->shipping);
    if (failures)
        ++*failures;
    a->metrics.failures++;
    wait_longer(a, &a->ship);
}

/* The store works, as another file was put there since: what failed so often is the file's fault, and must not hold up others. */
static void set_aside(struct agent *a)
{
    for (size_t i = 0; i < a->spool.count; i++) {
        const struct spool_file *file = &a->spool.files[i];
        char *path = file->damaged || file->growing ? NULL : path_of(a, file->name), *aside = NULL;
        const uint64_t *failures = path ? failures_of(a, path) : NULL;
        if (failures && *failures >= FAILURES_MOST && asprintf(&aside, "%s" SPOOL_DAMAGED, path) > 0) {
            bool moved = rename(path, aside) == 0;
            terminal_say(a->terminal, LOG_WARNING, "%s could not be put into the store %d times: %s%s", path,
                         FAILURES_MOST, moved ? "it is now " : "and it cannot be renamed to ", aside);
            a->metrics.damaged += moved;
        }
        free(aside);
        free(path);
    }
}

/* The store has acknowledged it. */
static void end_shipped(struct agent *a)
{
    if (unlink(a->shipping) != 0) { /* it would be put there again, which changes nothing */
        terminal_say(a->terminal, LOG_WARNING, "cannot remove %s: %s", a->shipping, strerror(errno));
        note_failure(a);
        return;
    }
    a->metrics.shipped++;
    a->metrics.shipped_bytes += a->shipping_bytes;
    a->metrics.last_shipped = (uint64_t)time(NULL);
    a->ship = (struct retry){0};
    set_aside(a);
}

/* "sent": 1234 of what `store import` prints. */
static uint64_t bytes_sent(const char *told)
{
    static const char name[] = "\"sent\": ";
    const char *at = strstr(told, name);
    return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static void end_shipping(struct agent *a, int status)
{
    char told[512];
    child_told(&a->shipper, told, sizeof told);
    a->metrics.sent_bytes += bytes_sent(told);
    if (exit_code_of_status(status) == EXIT_OK)
        end_shipped(a);
    else
        note_failure(a);
    free(a->shipping);
    a->shipping = NULL;
}

/* Of the complete files that failed least often the oldest. NULL: none is complete. */
static const struct spool_file *choose_file(struct agent *a)
{
    const struct spool_file *found = NULL;
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < a->spool.count; i++) {
        const struct spool_file *file = &a->spool.files[i];
        char *path = file->damaged || file->growing ? NULL : path_of(a, file->name);
        const uint64_t *failures = path ? failures_of(a, path) : NULL;
        free(path);
        if (failures && *failures < least) {
            least = *failures;
            found = file;
        }
    }
    return found;
}

static void look_after_spool(struct agent *a)
{
    struct fathom_error err;
    int status;
    if (child_ended(&a->shipper, &status))
        end_shipping(a, status);
    if (spool_list(a->config.spool, &a->spool, &err) < 0) {
        terminal_error(a->terminal, &err);
        return;
    }
    bool told = !a->recorder.pid || spool_find_growing(&a->spool, a->recorder.pid);
    const struct spool_file *next =
        told && !a->shipper.pid && clock_ns() >= a->ship.at ? choose_file(a) : NULL;
    if (next)
        start_shipper(a, next);
    if (told)
        a->metrics.dropped += spool_trim(a->config.spool, &a->spool, a->config.spool_bytes,
                                         a->shipping ? path_base(a->shipping) : NULL);
}

/* The agent ------------------------------------------------------------------------------------------------------ */

static void tell_metrics(struct agent *a)
{
    struct rusage own;
    getrusage(RUSAGE_SELF, &own);
    a->metrics.recording = a->recorder.pid != 0;
    a->metrics.spool_parts = a->spool.count;
    a->metrics.spool_bytes = a->spool.bytes;
    a->metrics.recorder_cpu = child_cpu(&a->recorder);
    a->metrics.shipping_cpu = child_cpu(&a->shipper);
    a->metrics.own_cpu = child_cpu_used(&own);
    metrics_answer(a->socket, &a->metrics);
}

/* A configuration that is wrong changes nothing. */
static void reload(struct agent *a)
{
    struct fathom_error err = {0};
    struct agent_config config;
    int rc = agent_config_read(a->path, &config, &err);
    if (rc == 0)
        rc = spool_make(config.spool, &err);
    if (rc == 0 && strcmp(config.listen, a->config.listen) != 0) {
        int socket = -1;
        rc = *config.listen ? metrics_listen(config.listen, &socket, &err) : 0;
        if (rc == 0 && a->socket >= 0)
            close(a->socket);
        a->socket = rc == 0 ? socket : a->socket;
    }
    if (rc < 0) {
        terminal_error(a->terminal, &err);
        return;
    }
    if (!agent_config_records_alike(&config, &a->config))
        child_stop(&a->recorder);
    a->config = config;
    a->ship = a->record = (struct retry){0};
    terminal_say(a->terminal, LOG_NOTE, "%s was read anew", a->path);
}

static void work(struct agent *a, const sigset_t *during)
{
    const struct timespec patience = {.tv_sec = PATIENCE_MS / 1000};
    while (!asked_to_stop) {
        if (asked_to_reload) {
            asked_to_reload = 0;
            reload(a);
        }
        if (asked_to_profile) {
            asked_to_profile = 0;
            child_signal(&a->recorder, SIGUSR1);
        }
        look_after_recorder(a);
        look_after_spool(a);
        struct pollfd asked = {.fd = a->socket, .events = POLLIN};
        if (ppoll(&asked, 1, &patience, during) > 0)
            tell_metrics(a);
    }
    child_stop(&a->recorder);
    child_stop(&a->shipper);
}

/* Signals arrive only while it waits. */
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

static int run_agent(const struct agent_options *options, struct terminal *terminal, struct fathom_error *err)
{
    struct agent a = {.terminal = terminal, .path = options->config, .socket = -1, .random = clock_ns()};
    a.failures = table_new();
    sigset_t during;
    int rc = a.failures ? agent_config_read(a.path, &a.config, err) : error_memory(err);
    bool runs = rc == 0 && !options->check;
    if (runs)
        rc = spool_make(a.config.spool, err);
    if (runs && rc == 0 && *a.config.listen)
        rc = metrics_listen(a.config.listen, &a.socket, err);
    if (runs && rc == 0) {
        hold_signals(&during);
        work(&a, &during);
    }
    if (a.socket >= 0)
        close(a.socket);
    spool_clear(&a.spool);
    free(a.shipping);
    table_free(a.failures);
    return rc;
}

static int agent_run(int argc, char **argv, struct terminal *terminal)
{
    struct agent_options options = {.config = "/etc/fathom/agent.conf"};
    struct fathom_error err = {0};
    int code = options_parse(&agent_command, &options, true, argc, argv, terminal);
    if (code < 0 && optind < argc)
        code = option_usage(terminal, &agent_command, "unexpected argument '%s'", argv[optind]);
    if (code >= 0)
        return code;
    int rc = run_agent(&options, terminal, &err);
    if (rc < 0)
        terminal_error(terminal, &err);
    else if (options.check)
        terminal_say(terminal, LOG_NOTE, "%s is good", options.config);
    return rc < 0 ? exit_code_of(&err) : EXIT_OK;
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
             "until the "
             "store has it.",
    .options = rows,
    .notes = "SIGHUP has the configuration read anew; SIGUSR1 has the costly events of `phases` profile the "
             "next interval. The service is fathom-agent.service; see fathom-agent(1).",
    .run = agent_run,
};
