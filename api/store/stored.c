/* stored.c - see stored.h. */
#include "api/store/stored.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/report/reporting.h"
#include "api/store/selection.h"
#include "base/text.h"
#include "store/gathering.h"

#define SLICES 400 /* of a page's time, as of one that is made of a recording */

struct stored {
    const struct report_options *options;
    const struct fathom_report_options *from;
    struct store *store;
    struct store_query query;
    struct selected selected;
    struct dictionary *dictionary;
    struct gathering *gathering;
    struct filter *filter; /* NULL: all paths count */
    struct contexts contexts;
    struct view_heading heading;
    struct view_options view;
    struct report report;
    char what[STORED_SIZE];
};

int stored_check(const struct report_options *o, const struct fathom_profile_options *p,
                 struct fathom_error *err)
{
    const struct {
        bool asked;
        const char *option;
    } needs[] = {
        {p->filter.pid_count, "--pid"},
        {p->filter.tid_count, "--tid"},
        {p->filter.comm, "--comm"},
        {p->filter.from > 0, "--from (there is --since)"},
        {p->filter.to > 0, "--to (there is --until)"},
        {p->by, "--by"},
        {p->process_tree, "--process-tree"},
        {p->threads, "--threads"},
        {p->lines, "--lines"},
        {p->data, "--data"},
        {p->phase_count, "--phase"},
        {p->phi > 0, "--phi"},
        {p->min_confidence > 0, "--min-confidence"},
        {p->ambiguous != FATHOM_AMBIGUOUS_LIKELY, "--ambiguous"},
        {p->map, "--map"},
        {o->metric != metric_table, "--metric"},
        {o->view.view->levels, "--view groups"},
        {o->view.view->accesses, "--view memory"},
    };
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (needs[i].asked)
            return error_set(err, EINVAL, "a store has no single samples, which %s needs: use a recording",
                             needs[i].option);
    return 0;
}

static int check_format(const struct format *f, struct fathom_error *err)
{
    return f->recording || (f->samples && !f->bounded && !f->summed)
               ? error_set(err, EINVAL,
                           "a store has no single samples, which --format %s needs: use a recording", f->name)
               : 0;
}

int stored_filter(const struct filter_options *o, struct filter **out, struct fathom_error *err)
{
    return o->focus || o->ignore || o->symbol || o->image ? filter_new(o, NULL, out, err) : 0;
}

int stored_open(const struct report_options *options, const struct fathom_report_options *from,
                struct stored **out, struct fathom_error *err)
{
    int rc = stored_check(options, &from->profile, err);
    if (rc == 0)
        rc = check_format(options->format, err);
    if (rc < 0)
        return rc;
    struct stored *s = calloc(1, sizeof *s);
    if (!s)
        return error_memory(err);
    s->options = options;
    s->from = from;
    rc = selection_query(from->store, &s->query, err);
    if (rc == 0)
        rc = stored_filter(&options->filter, &s->filter, err);
    if (rc == 0)
        rc = store_open(from->store->url, from->store->credentials, false, &s->store, err);
    if (rc < 0)
        stored_close(s);
    else
        *out = s;
    return rc;
}

void stored_close(struct stored *s)
{
    if (!s)
        return;
    gathering_free(s->gathering);
    filter_free(s->filter);
    dictionary_free(s->dictionary);
    selected_clear(&s->selected);
    store_close(s->store);
    free(s);
}

/* Events have perf's modifiers. */
static bool is_user_only(const char *event)
{
    const char *modifiers = strrchr(event, ':');
    return modifiers && strchr(modifiers, 'u') && !strchr(modifiers, 'k');
}

static void fill_report(struct stored *s)
{
    struct gathered sums;
    gathering_sums(s->gathering, &sums);
    selected_describe(&s->selected, s->query.service, s->what);
    s->heading = (struct view_heading){.event = s->selected.event,
                                       .stored = s->what,
                                       .other_events = s->selected.others,
                                       .samples = sums.samples,
                                       .weight = sums.weight,
                                       .left_out = sums.left_out,
                                       .proved = sums.by_certainty[CERTAINTY_PROVED],
                                       .inferred = sums.by_certainty[CERTAINTY_INFERRED],
                                       .unknown = sums.by_certainty[CERTAINTY_UNKNOWN],
                                       .expected = sums.expected,
                                       .expected_least = sums.expected,
                                       .expected_most = sums.expected,
                                       .user_only = is_user_only(s->selected.event),
                                       .followed = true};
    s->view = s->options->view;
    s->view.unit = metrics_unit(s->contexts.metrics, 0);
    s->view.filtered = s->filter != NULL;
    s->report = (struct report){.contexts = &s->contexts, .heading = &s->heading, .view = &s->view};
}

int stored_run(struct stored *s, struct fathom_error *err)
{
    int rc = selection_complete(s->store, s->options->event, &s->query, &s->selected, err);
    if (rc < 0)
        return rc;
    s->query.slice = s->options->format->samples ? selected_slice(&s->selected, SLICES) : 0;
    s->gathering = gathering_new(s->query.slice);
    s->dictionary = dictionary_new();
    if (!s->gathering || !s->dictionary)
        return error_memory(err);
    rc = store_each(s->store, &s->query, gathering_add, s->gathering, err);
    if (rc == 0)
        rc = gathering_contexts(s->gathering, s->store, s->dictionary, s->filter, &s->contexts, err);
    if (rc == 0)
        fill_report(s);
    return rc;
}

int stored_write(struct stored *s, FILE *stream, struct fathom_error *err)
{
    return reporting_put(&s->report, s->options, s->options->opened, stream, err);
}

bool stored_empty(const struct stored *s)
{
    return s->heading.samples == 0;
}
