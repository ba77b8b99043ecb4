/* diff.c - `fathom diff A B`: what changed between recordings, or between saved trees. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/text.h"
#include "base/vec.h"
#include "cli/exit.h"
#include "cli/named_tree.h"
#include "cli/output.h"
#include "cli/privilege.h"
#include "cli/report_rows.h"
#include "hcct/saved_tree.h"
#include "report/changes.h"

/* Samples are asked for; nothing is written by it. */
static const struct format no_format = {.name = "diff", .samples = true};

struct diff_options {
    struct report_options report; /* first: its rows are also those of fathom report */
    struct difference_options difference;
    const struct changes_format *format;
    bool all;
};

struct input { /* a recording, an archive of one, or a saved tree */
    char *path;
    struct archived *archived; /* NULL: no archive, or done */
    unsigned side;
};

/* Of a file, a bit for each side: it has functions there, and its inlined ones are known. */
struct file_sides {
    uint8_t seen, inlined;
};

struct diff {
    struct diff_options *options;
    struct terminal *terminal;
    struct difference *difference;
    struct input *inputs; /* of both sides */
    size_t count, room;
    struct running_kernel *kernel; /* that runs here: its names */
    struct outfile *output;        /* NULL: standard output */
    char *event, *unit;            /* of the recordings, which must have the same; NULL before the first */
    char *first;                   /* the recording that it is of */
    struct names *files;           /* that have functions */
    struct file_sides *sides;      /* of each */
    size_t sides_room;
    bool unnamed; /* that the kernel's functions have no names was told */
    int code;
};

/* What a recording or tree counts must be what the first one counts. With --event, the user says what is to be compared. */
static int check_event(struct diff *d, const char *path, const char *event, const char *unit,
                       struct fathom_error *err)
{
    if (!d->event) {
        d->event = strdup(event);
        d->unit = strdup(unit);
        d->first = strdup(path);
        if (!d->event || !d->unit || !d->first)
            return error_memory(err);
        text_clean(d->unit);
        return 0;
    }
    if (strcmp(d->event, event) == 0 || (d->options->report.event && !d->options->difference.absolute))
        return 0;
    return error_set(err, EINVAL, "%s counts %s, and %s %s: choose an event that both have with --event",
                     d->first, d->event, path, event);
}

static int add(struct diff *d, unsigned side, const char *path, const struct contexts *contexts,
               struct fathom_error *err)
{
    int rc = difference_add(d->difference, side, contexts, err);
    return rc == -ENODATA
               ? error_set(err, ENOMSG, "%s has no sample to compare%s", path,
                           d->options->report.event ? " of the event" : ", or the options leave none")
               : rc;
}

/* Notes which files have functions, and of which the inlined ones are known. */
static int note_files(struct diff *d, unsigned side, const struct reporting *reporting,
                      const struct frames *frames, struct fathom_error *err)
{
    for (uint32_t i = 0, count = frames_count(frames); i < count; i++) {
        const struct frame *frame = frames_at(frames, i);
        uint32_t known = names_count(d->files);
        if (frame->kind != FRAME_FUNCTION)
            continue;
        uint32_t number = names_intern(d->files, frame->image);
        if (number == NAMES_NONE || !vec_reserve(d->sides, known, d->sides_room, 1))
            return error_memory(err);
        if (number == known)
            d->sides[number] = (struct file_sides){0};
        if (!(d->sides[number].seen >> side & 1) && reporting_inlines(reporting, frame->image))
            d->sides[number].inlined |= (uint8_t)(1u << side);
        d->sides[number].seen |= (uint8_t)(1u << side);
    }
    return 0;
}

/* One side alone has debug information of a file, and the other has a file, the same or another, that lacks it there
 * alone: not one that just has no sample. Each side can be so. */
static void tell_inlined(const struct diff *d, char **names)
{
    unsigned has = 0, lacks = 0;
    for (uint32_t i = 0; i < names_count(d->files); i++) {
        const struct file_sides *s = &d->sides[i];
        unsigned without = s->seen & ~s->inlined;
        has |= s->inlined == 3 ? 0 : s->inlined;
        lacks |= without == 3 ? 0 : without;
    }
    for (unsigned side = 0; side < 2; side++)
        if (has >> side & 1 && lacks >> !side & 1)
            terminal_say(
                d->terminal, LOG_WARNING,
                "only %s has debug information of some files: their inlined functions look like changes "
                "(--no-inline compares without them)",
                names[side]);
}

/* Recordings ----------------------------------------------------------------------------------------------------- */

static int add_recording(struct diff *d, struct input *input, struct fathom_error *err)
{
    const char *path = input->path;
    struct report_options *options = &d->options->report;
    struct reader *reader = NULL;
    struct reporting *reporting = NULL;
    struct contexts contexts;
    options->input = path;
    options->archived = input->archived;
    int rc = archived_unpack(input->archived, err);
    options->kernel = rc == 0 && input->archived ? archived_kernel(input->archived) : d->kernel;
    if (rc == 0 && !options->kernel)
        rc = error_memory(err);
    if (rc == 0)
        rc = reader_open(archived_recording(options->archived, path), &d->terminal->log, &reader, err);
    if (rc == 0)
        rc = reporting_new(options, d->terminal, &reporting, err);
    if (rc == 0)
        rc = reporting_infer(reporting, reader, err);
    if (rc == 0 && !d->unnamed)
        d->unnamed = reporting_tell_unnamed(reporting);
    if (rc == 0)
        reporting_tell_uninlined(reporting);
    if (rc == 0)
        rc = reporting_contexts(reporting, &contexts, err);
    if (rc == 0)
        rc = note_files(d, input->side, reporting, contexts.frames, err);
    if (rc == 0)
        rc = check_event(d, path, contexts.metrics->event->name, metrics_unit(contexts.metrics, 0), err);
    if (rc == 0)
        rc = add(d, input->side, path, &contexts, err);
    if (rc == 0 && reporting_code(reporting) != EXIT_OK)
        d->code = reporting_code(reporting);
    reporting_free(reporting);
    reader_close(reader);
    if (options->kernel != d->kernel)
        running_kernel_close(options->kernel);
    archived_close(input->archived);
    input->archived = NULL;
    return rc;
}

/* Saved trees ---------------------------------------------------------------------------------------------------- */

static bool is_tree(const char *path)
{
    char magic[sizeof SAVED_TREE_MAGIC - 1];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool tree = fd >= 0 && pread(fd, magic, sizeof magic, 0) == (ssize_t)sizeof magic &&
                memcmp(magic, SAVED_TREE_MAGIC, sizeof magic) == 0;
    if (fd >= 0)
        close(fd);
    return tree;
}

/* Frames whose items are those of the tree. */
static int name_frames(const struct tree_names *names, struct frames *frames)
{
    for (uint32_t i = 0; i < names_count(names->names); i++) {
        const struct trace_function *f = &names->functions[i];
        const char *slash = strrchr(f->image, '/'), *image = slash ? slash + 1 : f->image;
        char label[300];
        snprintf(label, sizeof label, "%.255s+0x%" PRIx64, image, f->address);
        /* The number is part of the frame: no two items are the same. */
        if (frames_named(frames, f->name[0] ? f->name : label, image, i) != i)
            return -ENOMEM;
    }
    return 0;
}

static int add_tree(struct diff *d, unsigned side, const char *path, struct fathom_error *err)
{
    struct tree_names names;
    struct named_tree tree = {0};
    struct frames *frames = frames_new();
    int rc = tree_names_init(&names, err);
    if (rc == 0)
        rc = named_tree_load(path, &names, &tree, err);
    if (rc == 0 && (!frames || name_frames(&names, frames) < 0))
        rc = error_memory(err);
    if (rc == 0)
        rc = check_event(d, path, tree.unit, tree.unit, err);
    if (rc == 0)
        rc = add(d, side, path, &(struct contexts){.tree = tree.tree, .frames = frames}, err);
    named_tree_clear(&tree);
    tree_names_clear(&names);
    frames_free(frames);
    return rc;
}

/* The command ---------------------------------------------------------------------------------------------------- */

/* "A1,A2,A3"; a file of that name itself is one. Archives get their directories while there are rights to make them. */
static int list_side(struct diff *d, unsigned side, const char *list, struct fathom_error *err)
{
    char *copy = strdup(list), *rest = access(list, F_OK) == 0 ? NULL : copy;
    int rc = copy ? 0 : error_memory(err);
    for (const char *path = copy; rc == 0 && path; path = rest) {
        if (rest)
            path = strsep(&rest, ",");
        struct input input = {.path = strdup(path), .side = side};
        if (!input.path || !vec_push(d->inputs, d->count, d->room, input)) {
            free(input.path);
            rc = error_memory(err);
        } else if (d->output && output_is(d->output, path)) {
            rc = error_set(err, EINVAL, "%s is compared: name another output", path);
        } else {
            rc = archived_begin(path, &d->inputs[d->count - 1].archived, err);
        }
    }
    free(copy);
    return rc;
}

/* Gives up rights, but for the directories of archives and the output. */
static int give_up_rights(const struct diff *d, struct fathom_error *err)
{
    const char **directories = malloc((d->count + 1) * sizeof *directories);
    if (!directories)
        return error_memory(err);
    for (size_t i = 0; i < d->count; i++)
        directories[i] = archived_directory(d->inputs[i].archived);
    int rc = d->output ? output_begin(d->output, err) : 0;
    if (rc == 0)
        privilege_only_read_and(
            &(struct privilege_writing){directories, d->count, d->output ? outfile_target(d->output) : NULL},
            d->terminal);
    free(directories);
    return rc;
}

static void clear(struct diff *d)
{
    for (size_t i = 0; i < d->count; i++) {
        archived_close(d->inputs[i].archived);
        free(d->inputs[i].path);
    }
    free(d->inputs);
    outfile_close(d->output);
    difference_free(d->difference);
    running_kernel_close(d->kernel);
    names_free(d->files);
    free(d->sides);
    free(d->event);
    free(d->unit);
    free(d->first);
}

static int write_changes(struct diff *d, char **names, struct fathom_error *err)
{
    const struct report_options *report = &d->options->report;
    struct changes changes;
    int rc = difference_find(d->difference, &changes, err);
    if (rc < 0)
        return rc;
    FILE *out = stdout;
    if (d->output && (rc = output_print(d->output, &out, err)) < 0)
        return rc;
    struct changes_report what = {.changes = &changes,
                                  .names = {names[0], names[1]},
                                  .event = d->event,
                                  .unit = d->unit,
                                  .all = d->options->all,
                                  .show_image = true,
                                  .colour = terminal_colour(report->colour, out),
                                  .width = report->wide ? 0 : terminal_width(out)};
    rc = d->options->format->write(&what, out, err);
    return d->output ? output_printed(d->output, out, rc, err) : rc;
}

static int diff_files(struct diff_options *options, char **names, struct terminal *terminal)
{
    struct fathom_error err = {0};
    struct diff d = {.options = options, .terminal = terminal, .code = EXIT_OK};
    d.kernel = running_kernel_open(&kernel_places_here); /* names that others may not read */
    d.difference = difference_new(&options->difference);
    d.files = names_new();
    int rc = d.kernel && d.difference && d.files ? 0 : error_memory(&err);
    if (rc == 0 && options->report.output) /* before the long work */
        rc = outfile_open(options->report.output, &d.output, &err);
    for (unsigned side = 0; rc == 0 && side < 2; side++)
        rc = list_side(&d, side, names[side], &err);
    if (rc == 0)
        rc = give_up_rights(&d, &err);
    for (size_t i = 0; rc == 0 && i < d.count; i++)
        rc = is_tree(d.inputs[i].path) ? add_tree(&d, d.inputs[i].side, d.inputs[i].path, &err)
                                       : add_recording(&d, &d.inputs[i], &err);
    if (rc == 0)
        tell_inlined(&d, names);
    if (rc == 0)
        rc = write_changes(&d, names, &err);
    if (rc < 0)
        terminal_error(terminal, &err);
    clear(&d);
    return rc < 0 ? exit_code_of(&err) : d.code;
}

static int diff_run(int argc, char **argv, struct terminal *terminal)
{
    struct diff_options options = {
        .report = REPORT_DEFAULTS, .difference = {.least_percent = 0.1}, .format = &changes_format_table[0]};
    options.report.format = &no_format;
    int code = options_parse(&diff_command, &options, true, argc, argv, terminal);
    if (code < 0 && argc - optind != 2)
        code = option_usage(terminal, &diff_command, "give two recordings, or two lists 'A1,A2' 'B1,B2'");
    if (code < 0)
        code = diff_files(&options, argv + optind, terminal);
    report_options_clear(&options.report);
    return code;
}

static const struct option_row rows[] = {
    OPTION_FLAG("absolute", 0, struct diff_options, difference.absolute,
                "compare weights of recordings, not shares of their weight"),
    OPTION_FLAG("all", 0, struct diff_options, all, "show also what changed by no more than chance"),
    OPTION_FRACTION("min", 0, "PERCENT", 0, 100, struct diff_options, difference.least_percent,
                    "do not compare what weighs less, on average of A and B (default: 0.1)"),
    OPTION_TABLE("format", 0, "FORMAT", changes_format_table, struct changes_format, struct diff_options,
                 format, ""),
    REPORT_OUTPUT("write the difference to a file (default: standard output)"),
    REPORT_METRIC("what contexts are weighed by: "),
    REPORT_EVENT("which event, if recordings have several or other ones"),
    REPORT_MAP,
    REPORT_NO_CACHE,
    REPORT_FILTER,
    REPORT_FRAMING,
    REPORT_SYMFS,
    REPORT_WIDE,
    REPORT_COLOUR,
    OPTION_QUIET("print no progress and no notes"),
    OPTION_VERBOSE("print more details"),
    OPTION_PAGER,
    OPTION_HELP,
    OPTION_END,
};

const struct command diff_command = {
    .name = "diff",
    .summary = "print what changed between two recordings",
    .synopsis = "[OPTIONS] A[,A2...] B[,B2...]",
    .about =
        "Compares the contexts and functions of two recordings, or of several each, and prints those whose "
        "change from A to B is more than chance. Trees that 'fathom calls' saved are compared, too.",
    .options = rows,
    .paged = true,
    .run = diff_run,
};
