/* disambig.c - `fathom disambig PROGRAM`: chooses frame sizes, and copies, that tell call paths apart, and patches them in. */
#include "cli/disambig.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "cli/exit.h"
#include "cli/options.h"
#include "cli/output.h"
#include "disambig/clone/past_plt.h"
#include "disambig/move/appended.h"
#include "disambig/moved_map.h"
#include "disambig/search/recount.h"

static struct map_frames_of frames_of(const struct disambig *d)
{
    const struct disambig_options *o = d->options;
    return (struct map_frames_of){.map = d->map,
                                  .number = d->number,
                                  .image = d->image,
                                  .growth = d->growth,
                                  .anew = o->methods.anew,
                                  .inserted = o->methods.insert,
                                  .symbolic = d->past != NULL,
                                  .compiled = o->emit != NULL};
}

static uint32_t largest_pad(const struct disambig_options *o)
{
    return o->most && o->most < GROWTH_MOST ? (uint32_t)o->most / PAD_UNIT * PAD_UNIT : GROWTH_MOST;
}

/* Leads calls of the library's own functions past its PLT. */
static int pass_plt(struct disambig *d, struct fathom_error *err)
{
    struct map_frames_of of = frames_of(d);
    of.symbolic = true;
    int rc = past_plt_make(&of, &d->past, err);
    if (rc < 0 || !d->past)
        return rc;
    d->read = d->map;
    d->map = NULL;
    rc = pathmap_over(d->past, &d->map, err);
    if (rc == 0)
        d->number = pathmap_find_image(d->map, d->options->program, image_build_id(d->image), NULL);
    return rc;
}

static int open_inputs(struct disambig *d, struct fathom_error *err)
{
    const struct disambig_options *o = d->options;
    bool stale = false;
    int rc = pathmap_open(o->map, &d->map, err);
    if (rc == 0)
        rc = image_open(o->program, &(struct image_options){.log = &d->terminal->log}, &d->image, err);
    if (rc < 0)
        return rc;
    d->number = pathmap_find_image(d->map, o->program, image_build_id(d->image), &stale);
    if (d->number == PATHMAP_NONE)
        return stale ? error_set(err, ESTALE, "%s is of another build of %s: train it again", o->map,
                                 o->program)
                     : error_set(err, ENOMSG, "%s has no paths of %s", o->map, o->program);
    if (!pathmap_image(d->map, d->number).hooked)
        return error_set(
            err, ENOMSG,
            "the training of %s did not see every call of %s: train it by hooks (fathom-train(1))", o->map,
            o->program);
    progress_show(&d->terminal->progress, "reading the frames", 0, 0);
    rc = o->emit ? 0 : growth_new(d->image, &d->growth, err);
    if (rc == 0 && o->symbolic)
        rc = pass_plt(d, err);
    struct map_frames_of of = frames_of(d);
    return rc == 0 ? map_frames_make(&of, &d->join, err) : rc;
}

static void show(void *context, uint64_t steps, double precise, double stack)
{
    terminal_progress(context, "%llu steps: %.2f%% precise, stack %.2f times as long",
                      (unsigned long long)steps, 100 * precise, stack);
}

/* Of the map that was read. */
static int count_before(struct disambig *d, struct fathom_error *err)
{
    struct lineage_order order;
    struct recount before;
    int rc = lineage_order(d->read, &order, err);
    if (rc < 0)
        return rc;
    rc = recount_map(d->read, &order, NULL, NULL, NULL, &before, err);
    lineage_order_clear(&order);
    d->found.weight_before = before.weight;
    d->found.precise_before = before.precise_weight;
    d->found.paths_before = before.paths;
    d->found.paths_precise_before = before.precise_paths;
    return rc;
}

/* The last resort, after the search for frame sizes, and copies. */
static int wrap(struct disambig *d, const struct map_frames_of *of, struct search_problem problem,
                struct fathom_error *err)
{
    const struct disambig_options *o = d->options;
    const struct search_result *r = &d->found;
    if (r->paths_precise_after == r->paths ||
        (problem.target < 1 && (double)r->precise_after >= problem.target * (double)r->weight))
        return 0;
    if (o->methods.clone) {
        problem.map = d->cloned.cloned.map;
        problem.most = d->cloned.most;
        problem.unshifted = d->cloned.unshifted;
    }
    struct wrap_problem wrapping = {
        {of, &d->join, problem.map, d->cloned.bodies}, &problem, r, largest_pad(o)};
    int rc = wrap_run(&wrapping, &d->wrapped, err);
    if (rc == 0 && d->wrapped.found.pads)
        d->found = d->wrapped.found;
    return rc;
}

static int search(struct disambig *d, struct fathom_error *err)
{
    const struct disambig_options *o = d->options;
    for (uint32_t i = 0; i < pathmap_function_count(d->map); i++)
        if (d->join.most[i] > largest_pad(o))
            d->join.most[i] = largest_pad(o);
    struct search_problem problem = {.map = d->map,
                                     .most = d->join.most,
                                     .unshifted = d->join.unshifted,
                                     .costly = d->join.inserted,
                                     .stack = 1 + o->budget / 100,
                                     .target = o->target / 100,
                                     .seed = o->seed,
                                     .random = o->search == DISAMBIG_RANDOM,
                                     .steps = o->steps,
                                     .progress = show,
                                     .context = d->terminal};
    struct map_frames_of of = frames_of(d);
    struct clone_problem cloning = {
        &of, &d->join, &problem, largest_pad(o), o->code / 100, o->methods.edges ? o->edges / 100 : 0};
    uint64_t start = clock_ns();
    int rc =
        o->methods.clone ? clone_run(&cloning, &d->cloned, err) : search_run(&problem, &d->searched, err);
    d->found = o->methods.clone ? d->cloned.found : d->searched;
    if (rc == 0 && o->methods.wrap)
        rc = wrap(d, &of, problem, err);
    if (rc == 0 && d->read)
        rc = count_before(d, err);
    d->seconds = (double)(clock_ns() - start) * 1e-9;
    terminal_progress_end(d->terminal);
    return rc;
}

static int by_address(const void *a, const void *b)
{
    const struct pad *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->copy > y->copy) - (x->copy < y->copy);
}

static bool has_wraps(const struct disambig *d, uint64_t address, uint32_t copy)
{
    for (size_t i = 0; i < d->wrapped.count; i++)
        if (d->wrapped.list[i].address == address && d->wrapped.list[i].copy == copy)
            return true;
    return false;
}

/* Functions of the map with guards; NULL: out of memory. */
static bool *guarded_functions(const struct disambig *d)
{
    bool *guarded = calloc(pathmap_function_count(d->map) + 1ul, sizeof *guarded);
    for (uint32_t i = 0; guarded && i < d->cloned.edges.place_count; i++)
        if (d->cloned.edges.places[i].guards)
            guarded[bodies_function(d->cloned.bodies, d->cloned.edges.places[i].body)] = true;
    return guarded;
}

/* Those that change: by their frame, or that they have copies, wraps or guards. */
static int list_pads(struct disambig *d, struct fathom_error *err)
{
    const struct bodies *bodies = d->cloned.bodies;
    uint32_t count = bodies ? bodies_count(bodies) : pathmap_function_count(d->map);
    d->pads = malloc((count + 1ul) * sizeof *d->pads);
    if (!d->pads)
        return error_memory(err);
    bool *guarded = guarded_functions(d);
    if (!guarded)
        return error_memory(err);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t function = bodies ? bodies_function(bodies, i) : i;
        struct pad pad = {pathmap_function(d->map, function).address, d->found.pads[i],
                          bodies ? bodies_copy(bodies, i) : 0};
        bool own = d->join.functions[function] != IMAGE_NO_FUNCTION;
        if (pad.bytes || guarded[function] || (bodies && bodies_copies(bodies, function) > 1) ||
            (own && has_wraps(d, pad.address, pad.copy)))
            d->pads[d->pad_count++] = pad;
    }
    free(guarded);
    qsort(d->pads, d->pad_count, sizeof *d->pads, by_address);
    return 0;
}

/* With the permissions of the program (but set-user-ID). It gets its name when its map is written, too. */
static int write_program(struct disambig *d, struct outfile *out, struct fathom_error *err)
{
    struct stat status;
    struct move_call *calls = NULL;
    struct move_guard *guards = NULL;
    size_t call_count = 0, guard_count = 0;
    int fd, rc = 0;
    struct map_frames_of of = frames_of(d);
    struct bodies *single = d->past && !d->cloned.bodies ? bodies_new(pathmap_function_count(d->map)) : NULL;
    if (d->past && !d->cloned.bodies && !single)
        rc = error_memory(err);
    else if (d->cloned.bodies || single)
        rc = clone_calls(&of, &d->join, single ? single : d->cloned.bodies, &calls, &call_count, err);
    bodies_free(single);
    if (rc == 0 && d->cloned.edges.count)
        rc = clone_guards(&of, &d->cloned, &guards, &guard_count, err);
    struct enlarge_plan plan = {.pads = d->pads,
                                .count = d->pad_count,
                                .calls = calls,
                                .call_count = call_count,
                                .guards = guards,
                                .guard_count = guard_count,
                                .wraps = d->wrapped.list,
                                .wrap_count = d->wrapped.count};
    if (rc == 0)
        rc = enlarge_frames(d->image, d->growth, &plan, &d->file, err);
    free(calls);
    free(guards);
    size_t appended = rc == 0 ? appended_bytes(d->file.elf, d->file.size) : 0;
    if (appended)
        terminal_say(d->terminal, LOG_WARNING,
                     "%zu bytes are appended to %s: a signature there does not hold for the copy", appended,
                     d->options->program);
    if (rc == 0)
        rc = outfile_begin(out, &fd, err);
    if (rc == 0)
        rc = file_write_all(fd, d->file.elf, d->file.size, outfile_path(out), err);
    if (rc == 0 && !outfile_is_stream(out) &&
        (stat(d->options->program, &status) < 0 || fchmod(fd, status.st_mode & 0777) < 0))
        rc = error_system(err, errno, "cannot make %s executable", outfile_path(out));
    if (rc == 0 && fsync(fd) < 0 && errno != EINVAL && errno != EROFS)
        rc = error_system(err, errno, "cannot write to %s", outfile_path(out));
    return rc;
}

static int write_map(struct disambig *d, const struct outfile *program, struct outfile *out,
                     struct fathom_error *err)
{
    char *path = outfile_absolute(program);
    bool copies = d->cloned.bodies;
    struct moved_map moved = {.map = copies ? d->cloned.cloned.map : d->map,
                              .bodies = d->cloned.bodies,
                              .image = d->number,
                              .path = path ? path : d->options->output,
                              .id = &d->file.id,
                              .pads = d->found.pads,
                              .unshifted = copies ? d->cloned.unshifted : d->join.unshifted,
                              .wraps = d->wrapped.wraps,
                              .heads = d->cloned.heads,
                              .file = &d->file};
    d->moved = trie_new();
    int rc = d->moved ? moved_map_make(&moved, d->moved, err) : error_memory(err);
    if (rc == 0 && out)
        rc = trie_write(d->moved, out, err);
    free(path);
    return rc;
}

/* program: the patched file, or the list of pads; NULL, as map: not asked for. */
static int run_steps(struct disambig *d, struct outfile *program, struct outfile *map,
                     struct fathom_error *err)
{
    int rc = open_inputs(d, err);
    if (rc == 0)
        rc = search(d, err);
    if (rc == 0)
        rc = list_pads(d, err);
    if (rc == 0 && program)
        rc = d->options->emit ? disambig_emit(d, program, err) : write_program(d, program, err);
    if (rc == 0 && (map || d->options->selftest))
        rc = write_map(d, program, map, err);
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

static int complete(struct disambig_options *o, int argc, char **argv, struct terminal *terminal)
{
    const struct command *c = &disambig_command;
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
        .budget = 15, .code = 25, .edges = 5, .target = 100, .methods.anew = true};
    int code = options_parse(&disambig_command, &options, false, argc, argv, terminal);
    if (code < 0)
        code = complete(&options, argc, argv, terminal);
    return code < 0 ? disambiguate(&options, terminal) : code;
}

/* --method "clone,insert" */
static bool take_methods(struct terminal *terminal, const struct option_row *row, char *text, void *value)
{
    struct disambig_options *o = value;
    o->methods = (struct disambig_methods){0};
    for (char *rest = text, *word; (word = strsep(&rest, ","));) {
        if (strcmp(word, "clone") == 0)
            o->methods.clone = true;
        else if (strcmp(word, "insert") == 0)
            o->methods.insert = true;
        else if (strcmp(word, "edges") == 0)
            o->methods.clone = o->methods.edges = true;
        else if (strcmp(word, "wrap") == 0)
            o->methods.wrap = true;
        else if (strcmp(word, "move") != 0 && strcmp(word, "resize") != 0) {
            terminal_wrong(
                terminal,
                "--%s takes resize, move, clone, insert, edges or wrap, or several with commas, not '%s'",
                row->name, word);
            return false;
        }
        o->methods.anew |= strcmp(word, "resize") != 0;
    }
    return true;
}

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
    OPTION_OWN(
        "method", 0, "HOW,...", take_methods,
        "resize: change frames in place; move (default): also emit functions anew whose code has no room for "
        "larger numbers; and beside that clone: give functions copies for some of their callers; insert: "
        "make frames larger that are made by pushes, with instructions added; edges: lead calls through "
        "pointers to copies, too, by comparing the pointer (implies clone); wrap: add instructions to calls "
        "that "
        "take more stack"),
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
        "cannot "
        "be proved safe are left alone.",
    .options = rows,
    .notes = "Without --output, it only tells what could be reached.",
    .run = disambig_run,
};
