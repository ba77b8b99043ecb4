/* disambig.c - `fathom disambig PROGRAM`: its options, and the order of its steps. */
#include "cli/disambig.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/exit.h"
#include "cli/options.h"
#include "cli/output.h"

/* program: the patched file, or the list of pads; NULL, as map: not asked for. */
static int run_steps(struct disambig *d, struct outfile *program, struct outfile *map,
                     struct fathom_error *err)
{
    int rc = disambig_open(d, err);
    if (rc == 0)
        rc = disambig_search(d, err);
    if (rc == 0)
        rc = disambig_list_pads(d, err);
    if (rc == 0 && program)
        rc = d->options->emit ? disambig_emit(d, program, err) : disambig_write_program(d, program, err);
    if (rc == 0 && (map || d->options->selftest))
        rc = disambig_write_map(d, program, map, err);
    if (rc == 0 && program)
        rc = outfile_publish(program, false, err);
    if (rc == 0)
        disambig_say(d);
    return rc;
}

/* Refuses to write one file over another one of this run; the program itself may be replaced by the copy. */
static int check_places(const struct disambig_options *o, const struct outfile *program,
                        const struct outfile *map, struct fathom_error *err)
{
    char *to = program ? outfile_absolute(program) : NULL, *map_to = map ? outfile_absolute(map) : NULL;
    char *from = realpath(o->map, NULL), *old = realpath(o->program, NULL);
    bool same = map && (strcmp(o->output, o->map_output) == 0 || (to && map_to && strcmp(to, map_to) == 0));
    int rc = 0;
    if (o->selftest && outfile_is_stream(program))
        rc = error_set(err, EINVAL, "--selftest runs the copy, and %s is no file: name one",
                       outfile_path(program));
    else if (same)
        rc = error_set(err, EINVAL, "%s cannot be both the program and its map: name two files",
                       o->map_output);
    else if (to && from && strcmp(to, from) == 0)
        rc = error_set(err, EINVAL, "%s is the map that is read: name another output", o->map);
    else if ((o->emit ? to : map_to) && old && strcmp(o->emit ? to : map_to, old) == 0)
        rc = error_set(err, EINVAL, "%s is the program that is read: name another output", o->program);
    free(to);
    free(map_to);
    free(from);
    free(old);
    return rc;
}

static int disambiguate(const struct disambig_options *options, struct terminal *terminal)
{
    struct disambig d = {.options = options, .terminal = terminal};
    struct outfile *program = NULL, *map = NULL;
    struct fathom_error err = {0};
    const char *output = options->emit ? options->emit : options->output;
    int rc = output ? output_open(output, &program, &err) : 0;
    if (rc == 0 && options->map_output)
        rc = output_open(options->map_output, &map, &err);
    if (rc == 0)
        rc = check_places(options, program, map, &err);
    if (rc == 0)
        rc = run_steps(&d, program, map, &err);
    outfile_close(program); /* a file that is open for writing cannot be run */
    outfile_close(map);
    if (rc == 0 && options->selftest)
        rc = disambig_selftest(&d, &err);
    terminal_progress_end(terminal);
    if (rc < 0)
        terminal_error(terminal, &err);
    trie_free(d.moved);
    free(d.pads);
    free(d.searched.pads);
    clone_clear(&d.cloned);
    wrap_clear(&d.wrapped);
    map_frames_clear(&d.join);
    enlarged_clear(&d.file);
    growth_free(d.growth);
    image_close(d.image);
    pathmap_close(d.map);
    pathmap_close(d.read);
    trie_free(d.past);
    return rc < 0 ? exit_code_of(&err) : EXIT_OK;
}

static struct disambig_methods methods_of(unsigned given)
{
    bool edges = given & 1u << DISAMBIG_EDGES;
    return (struct disambig_methods){.anew = given & ~(1u << DISAMBIG_RESIZE),
                                     .clone = edges || given & 1u << DISAMBIG_CLONE,
                                     .insert = given & 1u << DISAMBIG_INSERT,
                                     .wrap = given & 1u << DISAMBIG_WRAP,
                                     .edges = edges};
}

static int complete(struct disambig_options *o, int argc, char **argv, struct terminal *terminal)
{
    const struct command *c = &disambig_command;
    o->methods = methods_of(o->given);
    if (optind >= argc)
        return option_usage(terminal, c, "give a program or library");
    o->program = argv[optind];
    if (argc - optind > 1)
        o->command = argv + optind + 1;
    if (!o->map)
        return option_usage(terminal, c, "give the program's path map: --map MAP (from 'fathom train')");
    if (o->emit && o->output)
        return option_usage(terminal, c, "--emit is for the compiler, --output patches: give one of them");
    if (o->emit && (o->methods.clone || o->methods.insert || o->methods.wrap))
        return option_usage(terminal, c,
                            "--emit is for the compiler, which neither makes copies nor adds instructions: "
                            "give another --method");
    if (o->symbolic && !o->methods.clone && !o->methods.wrap)
        return option_usage(terminal, c,
                            "--symbolic is about copies and wraps: give --method clone, too, or wrap");
    if (o->map_output && !o->output)
        return option_usage(terminal, c,
                            "--map-output is the map of the patched program: give --output, too");
    if (o->selftest && !(o->output && o->command))
        return option_usage(terminal, c,
                            "--selftest runs a command with the patched file: give --output and, "
                            "after the program, the command");
    if (o->command && !o->selftest)
        return option_usage(terminal, c, "a command is only for --selftest");
    return -1;
}

static int disambig_run(int argc, char **argv, struct terminal *terminal)
{
    struct disambig_options options = {
        .budget = 15, .code = 25, .edges = 5, .target = 100, .given = 1u << DISAMBIG_MOVE};
    int code = options_parse(&disambig_command, &options, false, argc, argv, terminal);
    if (code < 0)
        code = complete(&options, argc, argv, terminal);
    return code < 0 ? disambiguate(&options, terminal) : code;
}

static const struct option_word methods[] = {{"resize", DISAMBIG_RESIZE},
                                             {"move", DISAMBIG_MOVE},
                                             {"insert", DISAMBIG_INSERT},
                                             {"clone", DISAMBIG_CLONE},
                                             {"edges", DISAMBIG_EDGES},
                                             {"wrap", DISAMBIG_WRAP},
                                             {0}};
static const struct option_word searches[] = {{"best", DISAMBIG_BEST}, {"random", DISAMBIG_RANDOM}, {0}};

static const struct option_row rows[] = {
    OPTION_TEXT("map", 'm', "MAP", struct disambig_options, map,
                "the program's path map from 'fathom train'"),
    OPTION_TEXT("output", 'o', "FILE", struct disambig_options, output,
                "write the patched program or library"),
    OPTION_TEXT("map-output", 'M', "MAP", struct disambig_options, map_output,
                "write the path map of the patched file"),
    OPTION_TEXT("emit", 0, "FILE", struct disambig_options, emit,
                "write how much each frame is to grow, for the GCC plugin"),
    OPTION_FRACTION("budget", 0, "PERCENT", 0, 100000, struct disambig_options, budget,
                    "by how much the longest stack may grow (default: 15)"),
    OPTION_FRACTION("code", 0, "PERCENT", 0, 100000, struct disambig_options, code,
                    "by how much copies may enlarge the code (default: 25)"),
    OPTION_FRACTION("edges", 0, "PERCENT", 0, 100000, struct disambig_options, edges,
                    "with --method edges: guards executed, of all calls (default: 5)"),
    OPTION_FRACTION("target", 0, "PERCENT", 0, 100, struct disambig_options, target,
                    "stop when so much of the weight is precise (default: 100)"),
    OPTION_NUMBER("most", 0, "BYTES", 16, UINT32_MAX, struct disambig_options, most,
                  "the largest pad of a frame (default: what fits)"),
    OPTION_CHOICES(
        "method", 0, "HOW,...", methods, struct disambig_options, given,
        "resize: change frames in place; move (default): also emit functions anew whose code has no room "
        "for larger numbers; and beside that insert: make frames larger that are made by pushes, with "
        "instructions added; clone: give functions copies for some of their callers; edges: lead calls "
        "through pointers to copies, too, by comparing the pointer (implies clone); wrap: add "
        "instructions to calls that take more stack"),
    OPTION_CHOICE("search", 0, "HOW", searches, enum disambig_search, struct disambig_options, search,
                  "best (default), or random: the ICPP paper's"),
    OPTION_NUMBER("seed", 0, "N", 0, UINT64_MAX, struct disambig_options, seed,
                  "of the search's random choices (default: 0)"),
    OPTION_NUMBER("steps", 0, "N", 1, UINT64_MAX, struct disambig_options, steps,
                  "stop the search after so many"),
    OPTION_FLAG("symbolic", 0, struct disambig_options, symbolic,
                "lead a library's calls of its own functions past its PLT, as ld -Bsymbolic does"),
    OPTION_FLAG("selftest", 0, struct disambig_options, selftest,
                "run COMMAND with the patched file, measure all heights, and compare them with the map's"),
    OPTION_QUIET("print no notes"),
    OPTION_VERBOSE("print more details"),
    OPTION_HELP,
    OPTION_END,
};

const struct command disambig_command = {
    .name = "disambig",
    .summary = "change frame sizes so that call paths differ in height",
    .synopsis = "-m MAP [OPTIONS] [-o FILE [-M MAP]] PROGRAM\n"
                "-m MAP -o FILE --selftest [OPTIONS] PROGRAM COMMAND [ARG...]",
    .about =
        "Chooses how much the frames of a program's functions are to grow so that as much as possible of "
        "what its map saw is told apart by function and stack height alone, and patches that into a copy. "
        "No instruction more is executed, unless --method insert, edges or wrap allows it. Functions that "
        "cannot be proved safe are left alone.",
    .options = rows,
    .notes = "Without --output, it only tells what could be reached.",
    .run = disambig_run,
};
