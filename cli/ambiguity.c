/* ambiguity.c - `fathom ambiguity`: prints which contexts of a map are ambiguous. */
#include <getopt.h>

#include "api/fathom-disambig.h"
#include "cli/exit.h"
#include "cli/options.h"
#include "cli/privilege.h"

struct ambiguity_options {
    const char *map;
    uint64_t rows;
    enum fathom_ambiguity_format format;
};

static int ambiguity_run(int argc, char **argv, struct terminal *terminal)
{
    struct ambiguity_options options = {.rows = 20};
    int code = options_parse(&ambiguity_command, &options, true, argc, argv, terminal);
    if (code >= 0)
        return code;
    if (!options.map || argc != optind)
        return option_usage(terminal, "give one map, with --map");
    struct fathom_error err = {0};
    privilege_only_read(terminal);
    int rc = fathom_ambiguity_write(options.map, options.rows, options.format, stdout, &err);
    return exit_result(terminal, rc, &err);
}

static const struct option_word formats[] = {
    {"text", FATHOM_AMBIGUITY_TEXT}, {"json", FATHOM_AMBIGUITY_JSON}, {0}};

static const struct option_row rows[] = {
    OPTION_TEXT("map", 'm', "MAP", struct ambiguity_options, map, "the path map"),
    OPTION_NUMBER("rows", 'n', "N", 0, UINT32_MAX, struct ambiguity_options, rows,
                  "list the N heaviest ambiguous CIDs (default: 20)"),
    OPTION_CHOICE("format", 'f', "FORMAT", formats, enum fathom_ambiguity_format, struct ambiguity_options,
                  format, "text or json"),
    OPTION_PAGER,
    OPTION_HELP,
    OPTION_END,
};

const struct command ambiguity_command = {
    .name = "ambiguity",
    .summary = "tell which contexts of a map are ambiguous, and what would tell them apart",
    .synopsis = "-m MAP [OPTIONS]",
    .about = "Tells how much of a map's weight (its samples, or else its calls) and of its paths is precise: "
             "has a CID, function and height of the stack, that no other path has; and how much could be, at "
             "most, if frames were made larger, if calls were wrapped so that they take more stack, and if "
             "calls were given their own copies of functions. Then lists the heaviest ambiguous CIDs: their "
             "weight, how many paths they have, which of the methods would be enough, and which functions "
             "are not on all of the paths equally often.",
    .options = rows,
    .paged = true,
    .run = ambiguity_run,
};
