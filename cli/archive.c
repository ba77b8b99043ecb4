/* archive.c - `fathom archive`: puts a recording and all files that its reports need into one file, or its binaries into perf's cache. */
#include <getopt.h>
#include <signal.h>
#include <string.h>

#include "cli/exit.h"
#include "cli/options.h"
#include "cli/shared_rows.h"
#include "cli/terminal.h"

struct archive_options {
    struct fathom_archive_options archive;
    bool cache;
};

static int archive_run(int argc, char **argv, struct terminal *terminal)
{
    struct archive_options options = {.archive.recording = "perf.data"};
    int code = options_parse(&archive_command, &options, true, argc, argv, terminal);
    if (code >= 0)
        return code;
    if (optind < argc)
        return option_usage(terminal, "unexpected argument '%s'; give the recording with -i", argv[optind]);
    if (options.cache && (options.archive.output || options.archive.map))
        return option_usage(terminal, "--cache cannot be combined with --output or --map");
    if (strcmp(options.archive.recording, "-") == 0)
        return option_usage(terminal, "the recording must be a file");
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is a failed write */
    struct fathom_error err = {0};
    bool other_build = false;
    int rc = (options.cache ? fathom_archive_fill_cache : fathom_archive_write)(
        &options.archive, &terminal->listener, &other_build, &err);
    return rc == 0 && other_build ? EXIT_BUILD : exit_result(terminal, rc, &err);
}

static const struct option_row rows[] = {
    OPTION_TEXT("input", 'i', "FILE", struct archive_options, archive.recording,
                "a perf.data file (default: perf.data)"),
    OPTION_TEXT("map", 'm', "MAP", struct archive_options, archive.map,
                "a path map from 'fathom train', for its reports"),
    OPTION_TEXT("output", 'o', "FILE", struct archive_options, archive.output,
                "the archive (default: FILE.tar.zst)"),
    OPTION_FLAG("no-debug", 0, struct archive_options, archive.no_debug,
                "without separate debug files: reports have no lines and inlined functions, and fewer names"),
    OPTION_FLAG("sources", 0, struct archive_options, archive.sources,
                "with the source files of what was sampled, for 'fathom annotate' and pages"),
    OPTION_FLAG("no-cache", 0, struct archive_options, archive.no_cache,
                "without what other recordings of the same programs learned"),
    OPTION_FLAG("cache", 0, struct archive_options, cache,
                "make no archive: put the programs, libraries and debug files of a recording, or of an "
                "archive, into the cache that perf reads (~/.debug)"),
    SYMFS_OPTION(struct archive_options, archive.symfs),
    OPTION_QUIET("print no notes"),
    OPTION_VERBOSE("print more details"),
    OPTION_HELP,
    OPTION_END,
};

const struct command archive_command = {
    .name = "archive",
    .summary = "put a recording and what its report needs into one file",
    .synopsis = "[OPTIONS]",
    .about = "Makes a file with a recording, the programs and libraries that it is of, their debug files, "
             "maps and names, from which 'fathom report -i FILE' makes the same report on another machine.",
    .options = rows,
    .run = archive_run,
};
