/* map.c - `fathom map info|paths|merge|recover|cache`: prints the contents of path maps, merges them, recovers those of killed
 * trainings, and manages those that recordings keep. */
#include <getopt.h>
#include <signal.h>
#include <string.h>

#include "cli/exit.h"
#include "cli/options.h"
#include "cli/privilege.h"
#include "cli/terminal.h"

struct map_options {
    const char *output;
    uint64_t rows;
    bool hooked;
};

static int map_cache_run(char **words, int count, struct terminal *terminal)
{
    static const struct {
        const char *name;
        int (*run)(FILE *out, struct fathom_error *err);
    } verbs[] = {{"list", fathom_cached_maps_list},
                 {"clear", fathom_cached_maps_clear},
                 {"path", fathom_cached_maps_directory}};
    struct fathom_error err = {0};
    if (count != 1)
        return option_usage(terminal, "'cache' is followed by exactly one of: list, clear, path");
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(words[0], verbs[i].name) == 0)
            return exit_result(terminal, verbs[i].run(stdout, &err), &err);
    return option_usage(terminal, "'cache' is followed by list, clear or path, not by '%s'", words[0]);
}

static int map_run(int argc, char **argv, struct terminal *terminal)
{
    struct map_options options = {0};
    int code = options_parse(&map_command, &options, true, argc, argv, terminal);
    if (code >= 0)
        return code;
    const char *verb = optind < argc ? argv[optind++] : "";
    char **maps = argv + optind;
    int count = argc - optind;
    bool merge = strcmp(verb, "merge") == 0, recover = strcmp(verb, "recover") == 0;
    if (strcmp(verb, "cache") == 0)
        return map_cache_run(maps, count, terminal);
    if (!merge && !recover && strcmp(verb, "info") != 0 && strcmp(verb, "paths") != 0)
        return option_usage(terminal, "give one of: info, paths, merge, recover, cache");
    if (recover && count != 1)
        return option_usage(terminal, "'recover' needs exactly one directory of 'fathom train'");
    if (count < 1)
        return option_usage(terminal, "'%s' needs a map file", verb);
    if (merge && !options.output)
        return option_usage(terminal, "'merge' needs --output");

    struct fathom_error err = {0};
    int rc = 0;
    if (!merge && !recover)
        privilege_only_read(terminal);
    if (merge) {
        signal(SIGPIPE, SIG_IGN); /* a closed pipe is a failed write */
        rc = fathom_map_merge(options.output, (const char *const *)maps, (size_t)count, &terminal->listener,
                              &err);
    }
    if (recover)
        rc = fathom_map_recover(maps[0], options.output, &terminal->listener, &err);
    const struct fathom_map_listing listing = {(uint32_t)options.rows, options.hooked};
    for (int i = 0; !merge && !recover && rc == 0 && i < count; i++)
        rc = strcmp(verb, "info") == 0 ? fathom_map_describe(maps[i], stdout, &err)
                                       : fathom_map_list(maps[i], &listing, stdout, &err);
    return exit_result(terminal, rc, &err);
}

static const struct option_row rows[] = {
    OPTION_NUMBER("rows", 'n', "N", 1, UINT32_MAX, struct map_options, rows, "only the first N paths"),
    OPTION_FLAG("hooked", 0, struct map_options, hooked, "omit the frames of images that have no hooks"),
    OPTION_TEXT("output", 'o', "OUT", struct map_options, output,
                "the merged map, '-' for standard output; for recover the default is the file that the "
                "training would have written"),
    OPTION_QUIET("print no notes"),
    OPTION_VERBOSE("print more details"),
    OPTION_PAGER,
    OPTION_HELP,
    OPTION_END,
};

const struct command map_command = {
    .name = "map",
    .summary = "inspect, merge and recover path maps, and manage those that are kept",
    .synopsis = "info MAP...\n"
                "paths [-n N] [--hooked] MAP...\n"
                "merge -o OUT MAP...\n"
                "recover [-o OUT] DIR\n"
                "cache list|clear|path",
    .about = "info prints a map's images and counts and how many of its CIDs are precise; paths lists its "
             "call paths, the most sampled first; merge adds up the maps of several runs; recover makes the "
             "map of a training that was killed, from the directory (fathom-train.* in TMPDIR or /tmp) that "
             "it left behind; cache lists the maps that recordings keep of their programs, removes them, or "
             "prints their directory.",
    .options = rows,
    .paged = true,
    .run = map_run,
};
