/* diff.c - what changed between recordings, or between saved trees; see fathom/diff.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/fathom/diff.h"
#include "api/host.h"
#include "api/report/local_maps.h"
#include "api/report/reporting.h"
#include "api/store/compared.h"
#include "api/store/stored.h"
#include "base/hash.h"
#include "base/output.h"
#include "base/path.h"
#include "base/text.h"
#include "base/vec.h"
#include "hcct/named_tree.h"
#include "hcct/saved_tree.h"
#include "report/changes.h"

/* Keeps single samples; it is never written. */
static const struct format no_format = {.name = "diff", .samples = true};

struct input { /* a recording, an archive of one, or a saved tree */
    char *path;
    struct archived *archived; /* NULL: not an archive, or closed */
    int phase;                 /* of the recording; 0: all */
    unsigned side;
};

/* Of a file, with a bit for each side: whether functions of it occur there, and whether its inlined ones are known. */
struct file_sides {
    uint8_t seen, inlined;
};

struct fathom_diff {
    struct host host;
    struct fathom_diff_options options;
    struct report_options report; /* of the recording that is read */
    const struct changes_format *format;
    struct difference *difference;
    struct compared *stored; /* the compared parts of a store; NULL: files are compared */
    struct input *inputs;    /* of both sides */
    size_t count, capacity;
    struct running_kernel *kernel; /* names of the running kernel */
    struct outfile *output;        /* NULL: a stream */
    char *event, *unit;       /* of the first recording, which the others must have too; NULL before it */
    char *first;              /* the first recording */
    const char **directories; /* of the inputs' archives */
    struct fathom_writing writing;
    struct names *files;      /* whose functions occur */
    struct file_sides *sides; /* of each */
    size_t sides_capacity;
    bool unnamed; /* it was reported that the kernel's functions have no names */
    bool stale;
};

/* A recording or tree must count the same event as the first one, unless the user chose one with --event. */
static int check_event(struct fathom_diff *d, const char *path, const char *event, const char *unit,
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
    if (strcmp(d->event, event) == 0 || (d->options.profile.event && !d->options.absolute))
        return 0;
    return error_set(err, EINVAL, "%s counts %s, and %s %s: choose an event that both have with --event",
                     d->first, d->event, path, event);
}

static int add_contexts(struct fathom_diff *d, unsigned side, const char *path,
                        const struct contexts *contexts, struct fathom_error *err)
{
    int rc = difference_add(d->difference, side, contexts, err);
    return rc == -ENODATA
               ? error_set(err, ENOMSG, "%s has no sample to compare%s", path,
                           d->options.profile.event ? " of the event" : ", or the options leave none")
               : rc;
}

/* Notes whose functions occur, and of which files the inlined ones are known. */
static int note_files(struct fathom_diff *d, unsigned side, const struct reporting *reporting,
                      const struct frames *frames, struct fathom_error *err)
{
    for (uint32_t i = 0, count = frames_count(frames); i < count; i++) {
        const struct frame *frame = frames_at(frames, i);
        uint32_t known = names_count(d->files);
        if (frame->kind != FRAME_FUNCTION)
            continue;
        uint32_t number = names_intern(d->files, frame->image);
        if (number == NAMES_NONE || !vec_reserve(d->sides, known, d->sides_capacity, 1))
            return error_memory(err);
        if (number == known)
            d->sides[number] = (struct file_sides){0};
        if (!(d->sides[number].seen >> side & 1) && reporting_inlines(reporting, frame->image))
            d->sides[number].inlined |= (uint8_t)(1u << side);
        d->sides[number].seen |= (uint8_t)(1u << side);
    }
    return 0;
}

/* Warns if only one side has the debug information of some file, while the other side has a file (the same or another) that lacks it only
 * there. A file without samples on a side does not count. */
static void tell_inlined(const struct fathom_diff *d)
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
            log_write(&d->host.log, LOG_WARNING,
                      "only %s has debug information of some files: their inlined functions look like "
                      "changes (--no-inline compares without them)",
                      d->options.sides[side]);
}

/* Recordings ----------------------------------------------------------------------------------------------------- */

static int add_recording(struct fathom_diff *d, struct input *input, struct fathom_error *err)
{
    const char *path = input->path;
    struct report_options *options = &d->report;
    struct reader *reader = NULL;
    struct reporting *reporting = NULL;
    struct contexts contexts;
    options->archived = input->archived;
    options->given.profile.phase = &input->phase;
    options->given.profile.phase_count = input->phase != 0;
    int rc = archived_unpack(input->archived, err);
    options->kernel = rc == 0 && input->archived ? archived_kernel(input->archived) : d->kernel;
    if (rc == 0 && !options->kernel)
        rc = error_memory(err);
    if (rc == 0)
        rc = reader_open(archived_recording(options->archived, path), &d->host.log, &reader, err);
    if (rc == 0 && !options->archived)
        rc = local_maps_read(reader, &d->host.log, err);
    if (rc == 0)
        rc = reporting_new(options, &d->host.log, &d->host.progress, &reporting, err);
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
        rc = add_contexts(d, input->side, path, &contexts, err);
    if (rc == 0)
        d->stale |= reporting_stale(reporting);
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

/* Makes frames whose items are the tree's. */
static int name_frames(const struct tree_names *names, struct frames *frames)
{
    for (uint32_t i = 0; i < names_count(names->names); i++) {
        const struct trace_function *f = &names->functions[i];
        const char *image = path_base(f->image);
        char label[300];
        snprintf(label, sizeof label, "%.255s+0x%" PRIx64, image, f->address);
        /* The number is part of the frame, so that no two frames are equal. */
        if (frames_named(frames, f->name[0] ? f->name : label, image, i) != i)
            return -ENOMEM;
    }
    return 0;
}

static int add_tree(struct fathom_diff *d, unsigned side, const char *path, struct fathom_error *err)
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
        rc = add_contexts(d, side, path, &(struct contexts){.tree = tree.tree, .frames = frames}, err);
    named_tree_clear(&tree);
    tree_names_clear(&names);
    frames_free(frames);
    return rc;
}

/* Stores ---------------------------------------------------------------------------------------------------------- */

static int add_stored(void *context, unsigned side, const char *name, const char *event, const char *unit,
                      const struct contexts *contexts, struct fathom_error *err)
{
    struct fathom_diff *d = context;
    int rc = check_event(d, name, event, unit, err);
    return rc == 0 ? add_contexts(d, side, name, contexts, err) : rc;
}

static int add_store(struct fathom_diff *d, struct fathom_error *err)
{
    int rc = compared_each(d->stored, add_stored, d, err);
    if (rc == 0 && compared_overlap(d->stored))
        log_write(&d->host.log, LOG_WARNING,
                  "some samples are on both sides, which hides what changed: have one time end where the "
                  "other begins, as in 'since=2d,until=1d' 'since=1d'");
    return rc;
}

static int open_store(struct fathom_diff *d, const struct fathom_diff_options *options,
                      struct fathom_error *err)
{
    int rc = stored_check(&d->report, err);
    return rc == 0 ? compared_open(&(struct compared_options){.common = options->store,
                                                              .sides = {options->sides[0], options->sides[1]},
                                                              .event = options->profile.event,
                                                              .filter = &d->report.filter},
                                   &d->stored, err)
                   : rc;
}

/* The whole ------------------------------------------------------------------------------------------------------ */

/* The phase that is compared on a side; 0: all. */
static int phase_of(const struct fathom_diff *d, unsigned side)
{
    const struct fathom_profile_options *p = &d->options.profile;
    return p->phase_count ? p->phase[side] : 0;
}

/* Splits "A1,A2,A3", unless a file has that name. Makes the directories of archives now, while there are rights to do so. */
static int list_side(struct fathom_diff *d, unsigned side, const char *list, struct fathom_error *err)
{
    char *copy = strdup(list), *rest = access(list, F_OK) == 0 ? NULL : copy;
    int rc = copy ? 0 : error_memory(err);
    for (const char *path = copy; rc == 0 && path; path = rest) {
        if (rest)
            path = strsep(&rest, ",");
        struct input input = {.path = strdup(path), .side = side, .phase = phase_of(d, side)};
        if (!input.path || !vec_push(d->inputs, d->count, d->capacity, input)) {
            free(input.path);
            rc = error_memory(err);
        } else if (input.phase && (rest || strcmp(path, "-") == 0 || is_tree(path))) {
            rc = error_set(err, EINVAL, "--phases: %s is not one recording in a file", list);
        } else if (d->output && output_is(d->output, path)) {
            rc = error_set(err, EINVAL, "%s is compared: name another output", path);
        } else {
            rc = archived_begin(path, &d->inputs[d->count - 1].archived, err);
        }
    }
    free(copy);
    return rc;
}

/* Lists the directories of archives, and begins the output. */
static int find_writing(struct fathom_diff *d, struct fathom_error *err)
{
    d->directories = malloc((d->count + 1) * sizeof *d->directories);
    if (!d->directories)
        return error_memory(err);
    for (size_t i = 0; i < d->count; i++)
        d->directories[i] = archived_directory(d->inputs[i].archived);
    int rc = d->output ? output_begin(d->output, err) : 0;
    if (rc == 0)
        d->writing = (struct fathom_writing){d->directories, d->count,
                                             d->output ? outfile_target(d->output) : NULL, d->stored != NULL};
    return rc;
}

static int set_options(struct fathom_diff *d, const struct fathom_diff_options *options,
                       struct fathom_error *err)
{
    struct fathom_report_options report;
    fathom_report_defaults(&report);
    report.profile = options->profile;
    d->options = *options;
    d->format = report_word_find("format", changes_format_table, sizeof *d->format, options->format, err);
    if (!d->format)
        return -EINVAL;
    if (options->profile.phase_count && options->profile.phase_count != 2)
        return error_set(err, EINVAL, "--phases: give the numbers of two phases");
    int rc = report_options_set(&d->report, &report, err);
    d->report.format = &no_format;
    return rc;
}

static int begin_diff(struct fathom_diff *d, const struct fathom_diff_options *options,
                      struct fathom_error *err)
{
    int rc = set_options(d, options, err);
    if (rc < 0)
        return rc;
    d->kernel = running_kernel_open(&kernel_places_here); /* names that others may not read */
    d->difference = difference_new(&(struct difference_options){options->absolute, options->min_percent});
    d->files = names_new();
    d->report.engine.file = columns_file_open();
    rc = d->kernel && d->difference && d->files && d->report.engine.file ? 0 : error_memory(err);
    if (rc == 0 && options->output) /* before the long work */
        rc = outfile_open(options->output, &d->output, err);
    if (rc == 0 && d->output)
        rc = output_spares(d->output, NULL, options->profile.map, err);
    if (rc == 0 && options->store)
        rc = open_store(d, options, err);
    for (unsigned side = 0; rc == 0 && !options->store && side < 2; side++)
        rc = list_side(d, side, options->sides[side], err);
    return rc == 0 ? find_writing(d, err) : rc;
}

void fathom_diff_defaults(struct fathom_diff_options *o)
{
    struct fathom_report_options report;
    fathom_report_defaults(&report);
    *o = (struct fathom_diff_options){.profile = report.profile, .min_percent = 0.1};
}

int fathom_diff_open(const struct fathom_diff_options *options, const struct fathom_listener *listener,
                     struct fathom_diff **out, struct fathom_error *error)
{
    struct fathom_diff *d = calloc(1, sizeof *d);
    if (!d)
        return error_memory(error);
    host_init(&d->host, listener);
    int rc = begin_diff(d, options, error);
    if (rc < 0)
        fathom_diff_close(d);
    else
        *out = d;
    return rc;
}

const struct fathom_writing *fathom_diff_writing(const struct fathom_diff *d)
{
    return &d->writing;
}

int fathom_diff_run(struct fathom_diff *d, struct fathom_error *error)
{
    int rc = d->stored ? add_store(d, error) : 0;
    for (size_t i = 0; rc == 0 && i < d->count; i++)
        rc = is_tree(d->inputs[i].path) ? add_tree(d, d->inputs[i].side, d->inputs[i].path, error)
                                        : add_recording(d, &d->inputs[i], error);
    if (rc == 0 && !d->options.profile.phase_count) /* phases have the same files */
        tell_inlined(d);
    return rc;
}

int fathom_diff_write(struct fathom_diff *d, FILE *stream, struct fathom_error *error)
{
    struct changes changes;
    int rc = difference_find(d->difference, &changes, error);
    if (rc < 0)
        return rc;
    FILE *out = stream;
    if (d->output && (rc = output_print(d->output, &out, error)) < 0)
        return rc;
    char names[2][512];
    for (unsigned side = 0; side < 2; side++)
        snprintf(names[side], sizeof names[side], "phase %d of %s", phase_of(d, side),
                 d->options.sides[side]);
    bool phases = d->options.profile.phase_count;
    struct changes_report what = {
        .changes = &changes,
        .names = {phases ? names[0] : d->options.sides[0], phases ? names[1] : d->options.sides[1]},
        .event = d->event,
        .unit = d->unit,
        .all = d->options.all,
        .of = d->stored ? CHANGES_HOSTS
              : phases  ? CHANGES_PHASES
                        : CHANGES_RECORDINGS,
        .show_image = true,
        .colour = d->options.colour,
        .width = (unsigned)d->options.width};
    rc = d->format->write(&what, out, error);
    return d->output ? output_printed(d->output, out, rc, error) : rc;
}

bool fathom_diff_stale(const struct fathom_diff *d)
{
    return d->stale;
}

void fathom_diff_close(struct fathom_diff *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->count; i++) {
        archived_close(d->inputs[i].archived);
        free(d->inputs[i].path);
    }
    free(d->inputs);
    compared_close(d->stored);
    free(d->directories);
    outfile_close(d->output);
    difference_free(d->difference);
    columns_file_close(d->report.engine.file);
    running_kernel_close(d->kernel);
    names_free(d->files);
    free(d->sides);
    free(d->event);
    free(d->unit);
    free(d->first);
    free(d);
}
