#include "api/report/options.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "api/counter.h"
#include "api/fathom/diff.h"
#include "profile/waker_paths.h"
#include "report/changes.h"
#include "report/phases/phases.h"

#define WORD(name, help, ...) {name, help},
const struct fathom_word fathom_metrics[FATHOM_WORDS] = {METRICS(WORD)};
const struct fathom_word fathom_views[FATHOM_WORDS] = {VIEWS(WORD)};
const struct fathom_word fathom_report_formats[FATHOM_WORDS] = {FORMATS(WORD)};
const struct fathom_word fathom_diff_formats[FATHOM_WORDS] = {CHANGES_FORMATS(WORD)};

/* Formats that commands other than report print: of single samples, one function, or phases. */
static const struct format single_formats[] = {
    {.name = "script", .write = script_write, .samples = true},
    {.name = "annotate", .write = annotate_write, .samples = true, .script_lines = true},
    {.name = "phases", .write = phases_text_write, .samples = true},
    {.name = "phases-json", .write = phases_json_write, .samples = true},
    {0}};

_Static_assert((int)FATHOM_AMBIGUOUS_LIKELY == (int)AMBIGUOUS_LIKELY &&
                   (int)FATHOM_AMBIGUOUS_BEST == (int)AMBIGUOUS_BEST &&
                   (int)FATHOM_AMBIGUOUS_SPLIT == (int)AMBIGUOUS_SPLIT &&
                   (int)FATHOM_AMBIGUOUS_COMMON == (int)AMBIGUOUS_COMMON &&
                   (int)FATHOM_PHASE_CONTEXTS == (int)PHASE_CONTEXTS &&
                   (int)FATHOM_PHASE_REGIONS == (int)PHASE_REGIONS &&
                   (int)FATHOM_PHASE_CENTROID == (int)PHASE_CENTROID &&
                   (int)FATHOM_PHASE_RANDOM == (int)PHASE_RANDOM && FATHOM_WAKERS_MOST == WAKERS_MOST,
               "the same numbers");
_Static_assert(offsetof(struct format, name) == 0 && offsetof(struct changes_format, name) == 0 &&
                   offsetof(struct view, name) == 0 && offsetof(struct metric, name) == 0,
               "entries begin with their names");

void fathom_report_defaults(struct fathom_report_options *o)
{
    *o = (struct fathom_report_options){.recording = "perf.data",
                                        .profile = {.inline_most = FRAMING_INLINED},
                                        .min_percent = 0.5,
                                        .listed = LISTED_DEFAULT};
}

/* The entry with the name, or else the last one, whose name is NULL. */
static const void *find_row(const void *table, size_t size, const char *name)
{
    const char *const *entry = table;
    while (name && *entry && strcmp(*entry, name) != 0)
        entry = (const void *)((const char *)entry + size);
    return entry;
}

const void *report_word_find(const char *what, const void *table, size_t size, const char *name,
                             struct fathom_error *err)
{
    const char *const *entry = find_row(table, size, name);
    if (*entry)
        return entry;
    error_set(err, EINVAL, "there is no %s '%s'", what, name);
    return NULL;
}

/* One of the formats of `fathom report`, or of the other commands. */
static const struct format *find_format(const char *name, struct fathom_error *err)
{
    const struct format *f = find_row(format_table, sizeof *f, name);
    return f->name ? f : report_word_find("format", single_formats, sizeof *f, name, err);
}

/* Whether the view adds frames to contexts, which other formats can show too. */
static bool adds_frames(const struct view *v)
{
    return v->levels || v->accesses || v->locks || v->wakers;
}

/* Refuses options that exclude each other. */
static int check_options(const struct report_options *o, struct fathom_error *err)
{
    const char *view = o->given.view, *output = o->given.output;
    if (o->format->write == annotate_write && !o->annotate.function)
        return error_set(err, EINVAL, "--format annotate needs a function");
    if (o->format->recording && !output)
        return error_set(err, EINVAL, "--format %s needs a file to write: -o FILE", o->format->name);
    if (o->format->recording && o->profile.framing.levels.count)
        return error_set(err, EINVAL,
                         "--format %s keeps processes and threads as they are: perf report --sort shows "
                         "them, not --by and --process-tree",
                         o->format->name);
    if (o->view.view->levels && strcmp(o->format->name, "text") != 0)
        return error_set(err, EINVAL,
                         "--view %s is text: of --format %s, --by shows who ran, above the functions",
                         o->view.view->name, o->format->name);
    if (view && !adds_frames(o->view.view) && strcmp(o->format->name, "text") != 0)
        return error_set(err, EINVAL, "--view %s is text: --format %s has all contexts in its own way", view,
                         o->format->name);
    if (o->given.certainty == FATHOM_CERTAINTY_FRAME && output && strcmp(output, "-") == 0)
        return error_set(err, EINVAL, "--certainty frame needs a file that stays where it is: -o FILE");
    if (o->profile.phi > 0 && ((o->format->samples && !o->format->bounded) || o->format->recording))
        return error_set(err, EINVAL,
                         "--format %s shows each sample: it cannot be made in bounded memory (--phi)",
                         o->format->name);
    if (!(o->profile.phi >= 0 && o->profile.phi < 1))
        return error_set(err, EINVAL, "phi %g must be below 1", o->profile.phi);
    if (o->profile.eps > 0 && o->profile.phi <= o->profile.eps)
        return error_set(err, EINVAL, "--eps must be smaller than --phi");
    return 0;
}

static struct filter_options filter_of(const struct fathom_filter *f)
{
    return (struct filter_options){f->pids, f->tids,  f->pid_count, f->tid_count, f->comm, f->from,
                                   f->to,   f->focus, f->ignore,    f->symbol,    f->image};
}

/* The view may need levels. */
static int set_levels(const struct fathom_profile_options *p, const struct view *view, struct levels *out,
                      struct fathom_error *err)
{
    const char *by = !p->by && !p->process_tree && view->levels ? level_name(LEVEL_COMM) : p->by;
    int rc = levels_parse(by, out, err);
    if (rc == 0 && p->process_tree)
        levels_add_programs(out);
    return rc;
}

/* The view may need accesses. The default of eps is phi / 5, as in the HCCT paper (section 5.2). */
static struct profile_options profile_of(const struct fathom_profile_options *p, const struct view *view)
{
    return (struct profile_options){.ambiguity = (enum profile_ambiguity)p->ambiguous,
                                    .min_confidence = p->min_confidence,
                                    .eps = p->phi > 0 && p->eps == 0 ? p->phi / 5 : p->eps,
                                    .counter = counter_kind(p->counter),
                                    .phi = p->phi,
                                    .wakers = p->wakers ? (uint32_t)p->wakers : view->wakers,
                                    .framing = {.threads = p->threads,
                                                .inlined = p->inline_most,
                                                .lines = p->lines,
                                                .native = p->native,
                                                .script = p->script,
                                                .locks = view->locks || view->wakers,
                                                .accesses = p->data || view->accesses}};
}

int report_options_set(struct report_options *to, const struct fathom_report_options *from,
                       struct fathom_error *err)
{
    const struct fathom_profile_options *p = &from->profile;
    *to = (struct report_options){
        .given = *from,
        .view = {.min_percent = from->min_percent,
                 .max_rows = (unsigned)from->rows,
                 .fields = &to->fields,
                 .annotate = &to->annotate,
                 .phasing = &to->phasing,
                 .lines = p->lines,
                 .colour = from->colour,
                 .verbose = from->verbose,
                 .show_image = true,
                 .width = from->width,
                 .listed = (unsigned)from->listed,
                 .confidence = from->confidence},
        .filter = filter_of(&p->filter),
        .engine = {.learning = p->no_audit ? LEARN_NOTHING : LEARN_DUMPS,
                   .hold_back = true,
                   .own_dumps = true,
                   .no_automaton = p->no_automaton,
                   .no_temporal = p->no_temporal,
                   .no_em = p->no_em},
        .annotate = {.function = from->function, .path = from->path},
        .phasing = {.kind = (enum phase_kind)p->phases.kind,
                    .interval = p->phases.interval,
                    .threshold = p->phases.threshold,
                    .policy = (enum phase_policy)p->phases.policy},
    };
    if (!(to->format = find_format(from->format, err)) ||
        !(to->view.view = report_word_find("view", view_table, sizeof *view_table, from->view, err)) ||
        !(to->metric = report_word_find("metric", metric_table, sizeof *metric_table, p->metric, err)))
        return -EINVAL;
    int rc = script_fields_parse(from->fields ? from->fields : FATHOM_SCRIPT_FIELDS, &to->fields, err);
    if (rc < 0)
        return rc;
    if (p->wakers > FATHOM_WAKERS_MOST)
        return error_set(err, EINVAL, "--wakers: at most %d, one after the other", FATHOM_WAKERS_MOST);
    to->profile = profile_of(p, to->view.view);
    to->profile.framing.places = to->format->code;
    to->profile.framing.script_lines = to->format->script_lines && to->profile.eps == 0;
    if (to->profile.counter == HCCT_KINDS)
        return error_set(err, EINVAL, "there is no counter %d", (int)p->counter);
    rc = set_levels(p, to->view.view, &to->profile.framing.levels, err);
    return rc == 0 ? check_options(to, err) : rc;
}

int fathom_report_check(const struct fathom_report_options *options, struct fathom_error *error)
{
    struct report_options ignored;
    return report_options_set(&ignored, options, error);
}
