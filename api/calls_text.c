/* calls_text.c - prints the counted calls of a command: a heading, which says how exact they are, and views. */
#include <errno.h>

#include "api/calls_data.h"
#include "api/report/options.h"
#include "report/text/weight.h"
#include "report/views/view.h"

/* "0.0022" or "100". */
static const char *percent_format(char text[32], double percent)
{
    snprintf(text, 32, percent < 10 ? "%.2g" : "%.0f", percent);
    return text;
}

/* Prints how far weights may be from the true ones. */
static void print_error(const struct fathom_calls *c, FILE *out)
{
    const struct fathom_calls_options *o = &c->options;
    const struct harvest *h = &c->reading.harvest;
    char whole[32], most[32];
    double all = (double)h->calls + (double)h->purged;
    double bound = 100 * (o->counter == FATHOM_CALLS_STICKY ? o->eps / PATHS_EACH
                          : all > 0                         ? (double)h->bound / all
                                                            : 0);
    if (calls_space_saving(o) && h->bound)
        fprintf(out, "error:    at most %s%% of the weight at each path by its call sites is not its own%s\n",
                percent_format(most, bound), h->threads > 1 ? ", or is missing there" : "");
    if (h->purged)
        fprintf(out, "forgotten: %s%% of the weight; at most %s%% of each path by its call sites%s\n",
                percent_format(whole, 100 * (double)h->purged / all), percent_format(most, bound),
                o->counter == FATHOM_CALLS_STICKY ? ", with a probability of 99%" : "");
}

static void print_phases(const struct fathom_calls *c, FILE *out)
{
    const struct phase_tally *phases;
    const size_t count = phased_phases(c->phased, &phases);
    unsigned long long intervals = 0, profiled = 0;
    double work = 0, covered = 0;
    for (size_t i = 0; i < count; i++) {
        intervals += phases[i].intervals;
        profiled += phases[i].profiled;
        work += phases[i].weight;
        covered += phases[i].profiled ? phases[i].weight : 0;
    }
    fprintf(out,
            "phases:   %zu in %llu intervals; hooks were on in %llu of these, which stand for the others of "
            "their phases",
            count, intervals, profiled);
    if (covered < work)
        fprintf(out, "; %.1f%% of the time is of phases in which they never were",
                100 * (1 - covered / work));
    fprintf(out, "\n");
}

static void print_heading(const struct fathom_calls *c, FILE *out)
{
    const struct fathom_calls_options *o = &c->options;
    const struct harvest *h = &c->reading.harvest;
    const struct counted *counted = c->reading.counted;
    char weight[WEIGHT_SIZE];
    bool time = o->metric == FATHOM_CALLS_TIME;
    weight_format(weight, counted_weight(counted), time ? WEIGHT_NS : "calls");
    fprintf(out, "calls:    %s%s in %llu process%s, %llu thread%s; %zu %scontext%s", weight,
            time ? " between calls" : " calls", (unsigned long long)h->stores, h->stores == 1 ? "" : "es",
            (unsigned long long)h->threads, h->threads == 1 ? "" : "s", counted_hot(counted),
            o->counter == FATHOM_CALLS_EXACT ? "" : "hot ", counted_hot(counted) == 1 ? "" : "s");
    if (o->counter != FATHOM_CALLS_EXACT)
        fprintf(out, " of %g%% or more", 100 * o->phi);
    fprintf(out, "\n");
    print_error(c, out);
    if (o->burst > 0 && !h->bursts)
        fprintf(out, "bursts:   none has ended: the calls are those of the start alone\n");
    else if (o->burst > 0)
        fprintf(out, "bursts:   %llu, of %.3g ms each on average; only calls in bursts are counted\n",
                (unsigned long long)h->bursts, (double)h->burst_ns / (double)h->bursts / 1e6);
    if (c->phased)
        print_phases(c, out);
    if (o->adaptive)
        fprintf(out, "omitted:  %llu bursts in contexts known from others, or without calls\n",
                (unsigned long long)h->bursts_omitted);
    fprintf(out, "\n");
}

#define PHASE_ROWS 5 /* default number of contexts per phase */

/* Prints the hot contexts of a phase. */
static int write_phase(const struct fathom_calls *c, uint32_t phase, struct view_options view, FILE *out,
                       struct fathom_error *err)
{
    const struct phase_tally *phases;
    phased_phases(c->phased, &phases);
    const struct phase_tally *of = &phases[phase - 1];
    const struct counted_options counting = {0};
    struct trie *trie = NULL;
    struct pathmap *map = NULL;
    struct counted *counted = NULL;
    struct contexts contexts;
    char weight[WEIGHT_SIZE];
    int rc = phased_trie(c->phased, phase, &trie, err);
    if (rc == 0)
        rc = pathmap_over(trie, &map, err);
    if (rc == 0)
        rc = counted_new(map, c->images, &counting, &counted, err);
    if (rc == 0) {
        counted_contexts(counted, &contexts);
        fprintf(out, "\nphase %u: %s calls; hooks were on in %u of %u interval%s\n", phase,
                weight_format(weight, counted_weight(counted), "calls"), of->profiled, of->intervals,
                of->intervals == 1 ? "" : "s");
        view.max_rows = view.max_rows ? view.max_rows : PHASE_ROWS;
        rc = view_write(&contexts, &view, out, err);
    }
    counted_free(counted);
    pathmap_close(map);
    trie_free(trie);
    return rc;
}

/* NULL: there is no such view, or it is not for calls. */
static const struct view *find_view(const char *name, struct fathom_error *err)
{
    const struct view *view = report_word_find("view", view_table, sizeof *view, name, err);
    if (!view || !view->not_of_calls)
        return view;
    error_set(err, EINVAL, "--view %s is of recordings: %s", view->name, view->not_of_calls);
    return NULL;
}

int fathom_calls_check(const struct fathom_calls_listing *listing, struct fathom_error *err)
{
    return find_view(listing->view, err) ? 0 : -EINVAL;
}

int fathom_calls_write(struct fathom_calls *c, const struct fathom_calls_listing *listing, FILE *out,
                       struct fathom_error *err)
{
    struct contexts contexts;
    struct view_options view = {.min_percent = listing->min_percent,
                                .max_rows = listing->rows,
                                .show_image = true,
                                .unit = c->options.metric == FATHOM_CALLS_TIME ? WEIGHT_NS : "calls",
                                .colour = listing->colour,
                                .width = listing->width,
                                .verbose = host_is_verbose(&c->host)};
    view.view = find_view(listing->view, err);
    if (!view.view)
        return -EINVAL;
    counted_contexts(c->reading.counted, &contexts);
    if (listing->format == FATHOM_CALLS_FOLDED)
        return folded_write(&contexts, out, err);
    print_heading(c, out);
    int rc = view_write(&contexts, &view, out, err);
    const struct phase_tally *phases;
    const size_t count = c->phased ? phased_phases(c->phased, &phases) : 0;
    for (uint32_t i = 0; rc == 0 && i < count; i++)
        rc = phases[i].profiled ? write_phase(c, i + 1, view, out, err) : 0;
    return rc;
}
