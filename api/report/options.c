/* options.c - see options.h. */
#include "api/report/options.h"

#include <errno.h>
#include <string.h>

#include "api/counter.h"

const struct fathom_word fathom_metrics[] = {
    {"weight", "what the event counts, or time"},
    {"samples", "their number"},
    {"latency", "of the sampled memory accesses"},
    {NULL, NULL},
};
const struct fathom_word fathom_views[] = {
    {"tree", "callers first"},
    {"callers", "hot functions first"},
    {"flat", NULL},
    {"memory", "what was accessed, and where it was found"},
    {NULL, NULL},
};
const struct fathom_word fathom_report_formats[] = {
    {"text", NULL},
    {"folded", "for flame graphs"},
    {"html", "a page to explore"},
    {"svg", "a flame graph"},
    {"json", "all that is known, for programs"},
    {"csv", "a context a line"},
    {"speedscope", "for speedscope.app"},
    {"pprof", "for pprof"},
    {"firefox", "for the Firefox Profiler"},
    {"perf", "a recording with call chains, for perf"},
    {"callgrind", "for KCachegrind"},
    {"dot", "a call graph, for Graphviz"},
    {NULL, NULL},
};

/* Of the functions of one sample or one function each, which commands of their own print. */
static const struct format single_formats[] = {{.name = "script", .write = script_write, .samples = true},
                                               {.name = "annotate", .write = annotate_write, .samples = true},
                                               {0}};

_Static_assert((int)FATHOM_AMBIGUOUS_LIKELY == (int)AMBIGUOUS_LIKELY &&
                   (int)FATHOM_AMBIGUOUS_BEST == (int)AMBIGUOUS_BEST &&
                   (int)FATHOM_AMBIGUOUS_SPLIT == (int)AMBIGUOUS_SPLIT &&
                   (int)FATHOM_AMBIGUOUS_COMMON == (int)AMBIGUOUS_COMMON &&
                   (int)FATHOM_CERTAINTY_WEIGHT == (int)PERF_CERTAINTY_WEIGHT &&
                   (int)FATHOM_CERTAINTY_FRAME == (int)PERF_CERTAINTY_FRAME,
               "the same numbers");

void fathom_report_defaults(struct fathom_report_options *o)
{
    *o = (struct fathom_report_options){.recording = "perf.data",
                                        .profile = {.inline_most = FRAMING_INLINED},
                                        .min_percent = 0.5,
                                        .listed = LISTED_DEFAULT};
}

static int no_word(const char *what, const char *name, struct fathom_error *err)
{
    return error_set(err, EINVAL, "there is no %s '%s'", what, name);
}

static int set_format(struct report_options *to, const char *name, struct fathom_error *err)
{
    const struct format *f = format_table;
    while (name && f->name && strcmp(f->name, name) != 0)
        f++;
    for (const struct format *s = single_formats; !f->name && s->name; s++)
        f = strcmp(s->name, name) == 0 ? s : f;
    to->format = f;
    return f->name ? 0 : no_word("format", name, err);
}

int report_view_find(const char *name, const struct view **out, struct fathom_error *err)
{
    const struct view *v = view_table;
    while (name && v->name && strcmp(v->name, name) != 0)
        v++;
    *out = v;
    return v->name ? 0 : no_word("view", name, err);
}

static int set_metric(struct report_options *to, const char *name, struct fathom_error *err)
{
    const struct metric *m = metric_table;
    while (name && m->name && strcmp(m->name, name) != 0)
        m++;
    to->metric = m;
    return m->name ? 0 : no_word("metric", name, err);
}

/* Options that do not go together. */
static int check(const struct report_options *o, struct fathom_error *err)
{
    if (o->format->write == annotate_write && !o->annotate.function)
        return error_set(err, EINVAL, "--format annotate needs a function");
    if (o->format->recording && !o->output)
        return error_set(err, EINVAL, "--format %s needs a file to write: -o FILE", o->format->name);
    if (o->certainty == PERF_CERTAINTY_FRAME && o->output && strcmp(o->output, "-") == 0)
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

/* A view may need accesses. phi alone: eps = phi / 5, as in the HCCT paper (section 5.2). */
static struct profile_options profile_of(const struct fathom_profile_options *p, const struct view *view)
{
    return (struct profile_options){.ambiguity = (enum profile_ambiguity)p->ambiguous,
                                    .min_confidence = p->min_confidence,
                                    .eps = p->phi > 0 && p->eps == 0 ? p->phi / 5 : p->eps,
                                    .counter = counter_kind(p->counter),
                                    .phi = p->phi,
                                    .framing = {.threads = p->threads,
                                                .inlined = p->inline_most,
                                                .lines = p->lines,
                                                .accesses = p->data || view->accesses}};
}

int report_options_set(struct report_options *to, const struct fathom_report_options *from,
                       struct fathom_error *err)
{
    const struct fathom_profile_options *p = &from->profile;
    *to = (struct report_options){
        .input = from->recording,
        .map = p->map,
        .event = p->event,
        .symfs = p->symfs,
        .output = from->output,
        .view = {.min_percent = from->min_percent,
                 .max_rows = (unsigned)from->rows,
                 .fields = &to->fields,
                 .annotate = &to->annotate,
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
        .certainty = (enum perf_certainty)from->certainty,
        .no_cache = p->no_cache,
        .terminal = from->terminal,
    };
    int rc = set_format(to, from->format, err);
    if (rc == 0)
        rc = report_view_find(from->view, &to->view.view, err);
    if (rc == 0)
        rc = set_metric(to, p->metric, err);
    if (rc == 0)
        rc = script_fields_parse(from->fields ? from->fields : FATHOM_SCRIPT_FIELDS, &to->fields, err);
    if (rc < 0)
        return rc;
    to->profile = profile_of(p, to->view.view);
    if (to->profile.counter == HCCT_KINDS)
        return error_set(err, EINVAL, "there is no counter %d", (int)p->counter);
    return check(to, err);
}

int fathom_report_check(const struct fathom_report_options *options, struct fathom_error *error)
{
    struct report_options ignored;
    return report_options_set(&ignored, options, error);
}
