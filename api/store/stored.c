#include "api/store/stored.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/report/reporting.h"
#include "api/store/stored_reading.h"

#define SLICES 400 /* of a page's time, as on a page of a recording */

struct stored {
    const struct report_options *options;
    struct store *store;
    struct dictionary *dictionary;
    struct filter *filter; /* NULL: all paths count */
    struct stored_reading reading;
    struct view_heading heading;
    struct view_options view;
    struct report report;
};

int stored_check(const struct report_options *o, struct fathom_error *err)
{
    const struct fathom_profile_options *p = &o->given.profile;
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
        {p->native, "--native"},
        {p->script, "--script"},
        {p->data, "--data"},
        {p->phase_count, "--phase"},
        {p->phi > 0, "--phi"},
        {p->min_confidence > 0, "--min-confidence"},
        {p->ambiguous != FATHOM_AMBIGUOUS_LIKELY, "--ambiguous"},
        {p->map, "--map"},
        {o->metric != metric_table, "--metric"},
        {o->view.view->levels, "--view groups"},
        {o->view.view->accesses, "--view memory"},
        {o->view.view->locks, "--view locks"},
        {o->view.view->wakers, "--view wakers"},
        {p->wakers > 0, "--wakers"},
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

int stored_open(const struct report_options *options, struct stored **out, struct fathom_error *err)
{
    const struct fathom_store_selection *from = options->given.store;
    int rc = stored_check(options, err);
    if (rc == 0)
        rc = check_format(options->format, err);
    if (rc < 0)
        return rc;
    struct stored *s = calloc(1, sizeof *s);
    if (!s)
        return error_memory(err);
    s->options = options;
    struct store_query query; /* report wrong times before asking a server */
    rc = selection_query(from, &query, err);
    if (rc == 0)
        rc = stored_filter(&options->filter, &s->filter, err);
    if (rc == 0)
        rc = store_open(from->url, from->credentials, false, &s->store, err);
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
    stored_reading_clear(&s->reading);
    filter_free(s->filter);
    dictionary_free(s->dictionary);
    store_close(s->store);
    free(s);
}

/* Event names end with perf's modifiers. */
static bool is_user_only(const char *event)
{
    const char *modifiers = strrchr(event, ':');
    return modifiers && strchr(modifiers, 'u') && !strchr(modifiers, 'k');
}

static void fill_report(struct stored *s)
{
    const struct stored_reading *r = &s->reading;
    s->heading = (struct view_heading){.event = r->selected.event,
                                       .stored = r->what,
                                       .other_events = r->selected.others,
                                       .samples = r->sums.samples,
                                       .weight = r->sums.weight,
                                       .left_out = r->sums.left_out,
                                       .proved = r->sums.by_certainty[CERTAINTY_PROVED],
                                       .inferred = r->sums.by_certainty[CERTAINTY_INFERRED],
                                       .unknown = r->sums.by_certainty[CERTAINTY_UNKNOWN],
                                       .expected = r->sums.expected,
                                       .expected_least = r->sums.expected,
                                       .expected_most = r->sums.expected,
                                       .user_only = is_user_only(r->selected.event),
                                       .waits = strcmp(r->selected.event, EVENT_WAITS_NAME) == 0,
                                       .wall = strcmp(r->selected.event, EVENT_WALL_NAME) == 0,
                                       .followed = true};
    s->view = s->options->view;
    s->view.unit = metrics_unit(r->contexts.metrics, 0);
    s->view.filtered = s->filter != NULL;
    s->report = (struct report){.contexts = &r->contexts, .heading = &s->heading, .view = &s->view};
}

int stored_run(struct stored *s, struct fathom_error *err)
{
    s->dictionary = dictionary_new();
    if (!s->dictionary)
        return error_memory(err);
    int rc =
        stored_reading_fill(&s->reading, s->store, s->options->given.store, s->options->given.profile.event,
                            s->dictionary, s->filter, s->options->format->samples ? SLICES : 0, err);
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
