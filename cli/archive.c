/* archive.c - `fathom archive`: a recording with all that a report of it needs, in one file; or its binaries in perf's cache. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/archive.h"
#include "cli/exit.h"
#include "cli/kept_maps.h"
#include "cli/options.h"
#include "cli/symfs.h"
#include "image/debuginfod.h"

static int open_all(struct archiving *a, struct fathom_error *err)
{
    const struct archive_options *o = a->options;
    int rc = symfs_check(o->symfs, err);
    if (rc == 0)
        rc = archived_begin(o->input, &a->archived, err);
    if (rc == 0 && a->archived && !o->cache)
        rc = error_set(err, EINVAL, "%s is an archive already", o->input);
    if (rc == 0)
        rc = archived_unpack(a->archived, err);
    if (rc == 0)
        rc = reader_open(archived_recording(a->archived, o->input), &a->terminal->log, &a->reader, err);
    a->debuginfod = rc == 0 ? debuginfod_new(&a->terminal->log) : NULL;
    a->images = image_cache_new(&(struct image_options){.symfs = archived_root(a->archived, o->symfs),
                                                        .archived = archived_directory(a->archived),
                                                        .log = &a->terminal->log,
                                                        .debuginfod = a->debuginfod});
    if (rc == 0 && !a->images)
        rc = error_memory(err);
    if (rc == 0)
        rc = archive_contents_read(
            &(struct archive_reading){a->reader, a->images, &a->terminal->log, o->sources && !o->cache},
            &a->contents, err);
    return rc;
}

static int archive(const struct archive_options *options, struct terminal *terminal)
{
    struct fathom_error err = {0};
    struct archiving a = {.options = options, .terminal = terminal};
    int rc = open_all(&a, &err);
    if (rc == 0)
        rc = (options->cache ? archive_cache : archive_pack)(&a, &err);
    if (rc < 0)
        terminal_error(terminal, &err);
    bool other_build = a.images && image_cache_other_build(a.images);
    archive_contents_free(a.contents);
    image_cache_free(a.images);
    debuginfod_free(a.debuginfod);
    reader_close(a.reader);
    archived_close(a.archived);
    return rc < 0 ? exit_code_of(&err) : other_build ? EXIT_BUILD : EXIT_OK;
}

static int archive_run(int argc, char **argv, struct terminal *terminal)
{
    struct archive_options options = {.input = "perf.data"};
    int code = options_parse(&archive_command, &options, true, argc, argv, terminal);
    if (code >= 0)
        return code;
    if (optind < argc)
        return option_usage(terminal, &archive_command,
                            "unexpected argument '%s'; give the recording with -i", argv[optind]);
    if (options.cache && (options.output || options.map))
        return option_usage(terminal, &archive_command, "--cache cannot be combined with --output or --map");
    if (strcmp(options.input, "-") == 0)
        return option_usage(terminal, &archive_command, "the recording must be a file");
    size_t length = strlen(options.input);
    while (length > 1 && options.input[length - 1] == '/')
        length--;
    char *output = NULL;
    if (!options.output && asprintf(&output, "%.*s.tar.zst", (int)length, options.input) >= 0)
        options.output = output;
    code = archive(&options, terminal);
    free(output);
    return code;
}

static const struct option_row rows[] = {
    OPTION_TEXT("input", 'i', "FILE", struct archive_options, input, "a perf.data file (default: perf.data)"),
    OPTION_TEXT("map", 'm', "MAP", struct archive_options, map,
                "a path map from 'fathom train', for its reports"),
    OPTION_TEXT("output", 'o', "FILE", struct archive_options, output, "the archive (default: FILE.tar.zst)"),
    OPTION_FLAG("no-debug", 0, struct archive_options, no_debug,
                "without separate debug files: reports have no lines and inlined functions, and fewer names"),
    OPTION_FLAG("sources", 0, struct archive_options, sources,
                "with the source files of the sampled instructions, for 'fathom annotate'"),
    KEPT_MAPS_NO_CACHE(struct archive_options, "without what other recordings of the same programs learned"),
    OPTION_FLAG("cache", 0, struct archive_options, cache,
                "make no archive: put the programs, libraries and debug files of a recording, or of an "
                "archive, into the "
                "cache that perf reads (~/.debug)"),
    SYMFS_OPTION(struct archive_options),
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
             "maps and names, "
             "from which 'fathom report -i FILE' makes the same report on another machine.",
    .options = rows,
    .run = archive_run,
};
