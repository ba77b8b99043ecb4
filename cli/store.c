/* store.c - `fathom store init|import|services|events|hosts|builds|roll-up|retain`: manages profiles of many machines. */
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "base/slips.h"
#include "cli/exit.h"
#include "cli/privilege.h"
#include "cli/report_rows.h"
#include "cli/shared_rows.h"

struct store_command_options {
    struct report_rows rows; /* first */
    struct fathom_store_selection selection;
    const char *ended, *keep, *known;
    bool json;
};

static int make_store(const struct store_command_options *o, struct terminal *terminal,
                      struct fathom_error *err)
{
    (void)terminal;
    return fathom_store_init(o->selection.url, o->selection.credentials, err);
}

static int print_imported(const struct fathom_store_imported *i, bool json, struct terminal *terminal)
{
    if (json)
        printf("{\"batches\": %" PRIu64 ", \"added\": %" PRIu64 ", \"samples\": %" PRIu64
               ", \"sent\": %" PRIu64 "}\n",
               i->batches, i->added, i->samples, i->sent);
    terminal_say(terminal, LOG_NOTE, "%" PRIu64 " samples in %" PRIu64 " batch%s%s", i->samples, i->batches,
                 i->batches == 1 ? "" : "es",
                 i->added == i->batches ? ""
                 : i->added             ? ", of which some were there already"
                                        : ", which were there already");
    return 0;
}

static int import_recording(const struct store_command_options *o, struct terminal *terminal,
                            struct fathom_error *err)
{
    const struct fathom_store_import_options options = {.url = o->selection.url,
                                                        .credentials = o->selection.credentials,
                                                        .recording = o->rows.report.recording,
                                                        .service = o->selection.service,
                                                        .host = o->selection.host,
                                                        .ended = o->ended,
                                                        .known = o->known,
                                                        .profile = o->rows.report.profile};
    struct fathom_store_import *importing = NULL;
    struct fathom_store_imported imported;
    int rc = fathom_store_import_open(&options, &terminal->listener, &importing, err);
    if (rc == 0) {
        privilege_only_read_and(fathom_store_import_writing(importing), terminal);
        rc = fathom_store_import_run(importing, &imported, err);
        terminal_progress_end(terminal);
    }
    fathom_store_import_close(importing);
    return rc == 0 ? print_imported(&imported, o->json, terminal) : rc;
}

static int roll_up(const struct store_command_options *o, struct terminal *terminal, struct fathom_error *err)
{
    struct fathom_store_rolled rolled;
    int rc =
        fathom_store_roll_up(o->selection.url, o->selection.credentials, o->selection.since, &rolled, err);
    if (rc == 0)
        terminal_say(terminal, LOG_NOTE, "%" PRIu64 " hour%s and %" PRIu64 " day%s rolled up", rolled.hours,
                     rolled.hours == 1 ? "" : "s", rolled.days, rolled.days == 1 ? "" : "s");
    return rc;
}

static int drop_old(const struct store_command_options *o, struct terminal *terminal,
                    struct fathom_error *err)
{
    uint64_t dropped = 0;
    int rc = fathom_store_retain(o->selection.url, o->selection.credentials, o->keep, &dropped, err);
    if (rc == 0)
        terminal_say(terminal, LOG_NOTE, "%" PRIu64 " batch%s removed", dropped,
                     dropped == 1 ? " was" : "es were");
    return rc;
}

static const struct {
    const char *name;
    int (*run)(const struct store_command_options *o, struct terminal *terminal, struct fathom_error *err);
    enum fathom_store_list list; /* where `run` is NULL */
} verbs[] = {{"init", make_store, 0},
             {"import", import_recording, 0},
             {"services", NULL, FATHOM_STORE_SERVICES},
             {"events", NULL, FATHOM_STORE_EVENTS},
             {"hosts", NULL, FATHOM_STORE_HOSTS},
             {"builds", NULL, FATHOM_STORE_BUILDS},
             {"roll-up", roll_up, 0},
             {"retain", drop_old, 0}};
enum { VERBS = sizeof verbs / sizeof *verbs };

/* The error for what was typed instead of a verb; "": nothing. */
static int refuse_verb(const char *typed, struct terminal *terminal)
{
    const char *like = NULL;
    unsigned fewest = SLIPS_MOST + 1;
    for (size_t i = 0; i < VERBS; i++)
        if (slips_are_few(typed, verbs[i].name, &fewest))
            like = verbs[i].name;
    return like ? option_usage(terminal, "there is no '%s': did you mean '%s'?", typed, like)
                : option_usage(terminal,
                               "give one of: init, import, services, events, hosts, builds, roll-up, retain");
}

/* An option that was given but has no effect for the verb; NULL: none. */
static const char *unused_option(const struct store_command_options *o, size_t verb)
{
    const bool lists = !verbs[verb].run, imports = verbs[verb].run == import_recording;
    const struct fathom_store_selection *s = &o->selection;
    const struct {
        const char *name;
        bool given, counts;
    } options[] = {{"service", s->service, lists || imports},
                   {"host", s->host, lists || imports},
                   {"build", s->build, lists},
                   {"since", s->since, lists || verbs[verb].run == roll_up},
                   {"until", s->until, lists},
                   {"ended", o->ended, imports},
                   {"known", o->known, imports},
                   {"json", o->json, imports},
                   {"keep", o->keep, verbs[verb].run == drop_old}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].given && !options[i].counts)
            return options[i].name;
    return NULL;
}

static int check_usage(const struct store_command_options *o, size_t verb, char **operands, int count,
                       struct terminal *terminal)
{
    const char *name = verbs[verb].name, *unused = unused_option(o, verb);
    if (verbs[verb].run == import_recording && count == 2)
        return option_usage(
            terminal, "'import' takes one store, and the recording by -i: 'fathom store import -i %s %s'",
            operands[0], operands[1]);
    if (count != 1)
        return option_usage(terminal, "'%s' needs one store: a file, or 'http://HOST:PORT/DATABASE'", name);
    if (unused)
        return option_usage(terminal, "'%s' takes no --%s", name, unused);
    return verbs[verb].run == drop_old && !o->keep
               ? option_usage(terminal, "'retain' needs --keep, such as 30d")
               : -1;
}

static int run_verb(struct store_command_options *o, size_t verb, struct terminal *terminal)
{
    struct fathom_error err = {0};
    report_rows_complete(&o->rows, terminal);
    int rc = verbs[verb].run ? verbs[verb].run(o, terminal, &err)
                             : fathom_store_list(&o->selection, verbs[verb].list, stdout, &err);
    return exit_result(terminal, rc, &err);
}

static int store_run(int argc, char **argv, struct terminal *terminal)
{
    struct store_command_options options = {0};
    report_rows_init(&options.rows);
    int code = options_parse(&store_command, &options, true, argc, argv, terminal);
    const char *verb = code < 0 && optind < argc ? argv[optind++] : "";
    size_t found = 0;
    while (found < VERBS && strcmp(verbs[found].name, verb) != 0)
        found++;
    if (code < 0)
        code = found == VERBS ? refuse_verb(verb, terminal)
                              : check_usage(&options, found, argv + optind, argc - optind, terminal);
    if (code < 0) {
        options.selection.url = argv[optind];
        signal(SIGPIPE, SIG_IGN); /* a closed pipe is a failed write */
        code = run_verb(&options, found, terminal);
    }
    report_rows_clear(&options.rows);
    return code;
}

static const struct option_row rows[] = {
    OPTION_TEXT("input", 'i', "FILE", struct store_command_options, rows.report.recording,
                "import: a perf.data file, or an archive of one (default: perf.data)"),
    STORE_CREDENTIALS(struct store_command_options, selection.credentials),
    OPTION_TEXT("service", 0, "NAME", struct store_command_options, selection.service,
                "import: the samples are this service's (default: each process's container, service of "
                "systemd, or else program); services, events, hosts, builds: only of this one"),
    OPTION_TEXT("host", 0, "NAME", struct store_command_options, selection.host,
                "import: they were taken on this host (default: the recorded one); lists: only of this one"),
    OPTION_TEXT("ended", 0, "TIME", struct store_command_options, ended,
                "import: when the last sample was taken (default: as the recording tells, or when it was "
                "last written)"),
    OPTION_TEXT("known", 0, "FILE", struct store_command_options, known,
                "import: what a server has acknowledged is kept in a file, and not sent again for an hour"),
    OPTION_FLAG("json", 0, struct store_command_options, json, "import: print what was put there as JSON"),
    OPTION_TEXT("build", 0, "ID", struct store_command_options, selection.build,
                "lists: only of a build whose ID begins so"),
    OPTION_TEXT("since", 0, "TIME", struct store_command_options, selection.since,
                "lists, roll-up: only from a time on"),
    OPTION_TEXT("until", 0, "TIME", struct store_command_options, selection.until,
                "lists: only before a time"),
    OPTION_TEXT("keep", 0, "AGE", struct store_command_options, keep,
                "retain: what is older, such as 30d, or before a time, is removed"),
    REPORT_MAP,
    REPORT_NO_CACHE,
    REPORT_INLINE("import: with inlined functions of all files that have debug information"),
    REPORT_NO_INLINE("import: without inlined functions"),
    REPORT_SYMFS,
    OPTION_QUIET("print no progress and no notes"),
    OPTION_VERBOSE("print more details"),
    OPTION_PAGER,
    OPTION_HELP,
    OPTION_END,
};

const struct command store_command = {
    .name = "store",
    .summary = "keep profiles of many machines, and list what there is of them",
    .synopsis = "init STORE\n"
                "import [-i FILE] [--service NAME] [--host NAME] [OPTIONS] STORE\n"
                "services|events|hosts|builds [OPTIONS] STORE\n"
                "roll-up [--since TIME] STORE\n"
                "retain --keep AGE STORE",
    .about = "init makes a store, a file of SQLite or a database of ClickHouse; import puts a recording into "
             "it, once; services, events, hosts and builds list what it has; roll-up adds up closed hours "
             "and days, so that reports of them read less; retain removes what is old. 'fathom report' and "
             "'fathom diff' read it. import also sends to pyroscope+http://HOST:PORT/, parca+http:// and "
             "otlp+http://, servers of other tools.",
    .options = rows,
    .paged = true,
    .run = store_run,
};
