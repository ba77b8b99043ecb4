/* replay.c - runs counters over a call trace. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/fathom/trees.h"
#include "base/path.h"
#include "base/text.h"
#include "base/vec.h"
#include "hcct/hcct.h"
#include "hcct/quality.h"
#include "hcct/trace.h"

#define OVERLAP 0.9 /* the largest phi with this overlap is printed */

_Static_assert(HCCT_RETURN == TRACE_RETURN && HCCT_RESUMED == TRACE_RESUMED, "events are the same");
_Static_assert(HCCT_KINDS < FATHOM_WORDS, "the list has an end");

#define WORD(kind, name, functions) {name, NULL},
const struct fathom_word fathom_tree_counters[FATHOM_WORDS] = {HCCT_EACH(WORD)};

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Converts events in place to what hcct_feed() takes: functions or places. */
static void number_events(struct trace *trace, bool by_function)
{
    for (size_t i = 0; by_function && i < trace->event_count; i++) {
        uint32_t event = trace->events[i];
        if (event != TRACE_RETURN)
            trace->events[i] = trace->places[event & ~TRACE_RESUMED].function | (event & TRACE_RESUMED);
    }
}

static double eps_of(const struct fathom_replay_options *o)
{
    return o->eps > 0 ? o->eps : o->phi / 5;
}

static struct hcct *run_once(const struct trace *trace, const struct hcct_options *options, bool ticks,
                             double *seconds)
{
    struct hcct *h = hcct_new(options);
    double from = cpu_seconds();
    for (size_t i = 0; h && i < trace->thread_count; i++) {
        const struct trace_thread *thread = &trace->threads[i];
        size_t done;
        hcct_rewind(h);
        if (hcct_feed(h, trace->events + thread->first, ticks ? trace->ticks + thread->first : NULL,
                      thread->end - thread->first, &done) < 0) {
            hcct_free(h);
            return NULL;
        }
    }
    *seconds = cpu_seconds() - from;
    return h;
}

/* Runs a counter over all events. *seconds: CPU time of the fastest run. NULL: out of memory. */
static struct hcct *run_counter(const struct trace *trace, const struct fathom_replay_options *o,
                                enum hcct_kind kind, double *seconds)
{
    struct hcct_options options = {
        .kind = kind, .eps = eps_of(o), .phi = o->phi, .delta = o->delta, .metrics = 1, .seed = 1};
    struct hcct *h = NULL;
    *seconds = 0;
    for (uint64_t i = 0; i < o->runs; i++) {
        double took;
        hcct_free(h);
        h = run_once(trace, &options, o->ticks, &took);
        if (!h)
            return NULL;
        if (i == 0 || took < *seconds)
            *seconds = took;
    }
    return h;
}

/* CPU time of only reading the events: depth and items are used, but nothing is counted. */
static double floor_seconds(const struct trace *trace, uint64_t runs)
{
    double least = 0;
    for (uint64_t run = 0; run < runs; run++) {
        uint32_t path[256], depth = 0, sum = 0;
        double from = cpu_seconds();
        for (size_t i = 0; i < trace->event_count; i++) {
            uint32_t event = trace->events[i];
            if (event == TRACE_RETURN)
                depth--;
            else
                path[++depth & 255] = sum += event;
        }
        __asm__ volatile("" : : "r"(path), "r"(sum), "r"(depth) : "memory");
        double took = cpu_seconds() - from;
        if (run == 0 || took < least)
            least = took;
    }
    return least;
}

/* Prints a function by its name in the trace. */
static void print_name(FILE *out, const struct trace *trace, uint32_t function)
{
    const struct trace_function *f = &trace->functions[function];
    if (f->name[0])
        fputs(text_name(f->name), out);
    else
        fprintf(out, "%s+0x%" PRIx64, text_name(path_base(f->image)), f->address);
}

static void print_path(FILE *out, const struct trace *trace, bool by_function,
                       const struct cct_node *const *path, size_t depth)
{
    for (size_t i = depth; i-- > 0;) {
        uint32_t item = path[i]->item;
        print_name(out, trace, by_function ? item : trace->places[item].function);
        uint64_t site = by_function ? 0 : trace->places[item].site;
        if (site)
            fprintf(out, "@%" PRIx64, site);
        if (i)
            fputc(';', out);
    }
    fputc('\n', out);
}

static int print_paths(FILE *out, struct cct *hot, const struct trace *trace, bool by_function, size_t rows,
                       struct fathom_error *err)
{
    struct cct_node **nodes;
    const struct cct_node **path = NULL;
    size_t path_capacity = 0;
    int64_t count = cct_heaviest(hot, &nodes);
    int rc = count < 0 ? error_memory(err) : 0;
    for (size_t i = 0; rc == 0 && i < (size_t)count && i < rows; i++) {
        size_t depth = 0;
        for (const struct cct_node *n = nodes[i]; cct_parent(n) && rc == 0; n = cct_parent(n))
            if (!vec_push(path, depth, path_capacity, n))
                rc = error_memory(err);
        fprintf(out, "%14" PRIu64 " %10" PRIu64 "  ", nodes[i]->self[0], cct_error(nodes[i]));
        print_path(out, trace, by_function, path, depth);
    }
    free(nodes);
    free(path);
    return rc;
}

static void print_quality(FILE *out, const struct hcct *h, const struct quality *q)
{
    fprintf(out, "%7zu %6zu %6zu %8.2f%% %7.1f%% %8.3f%% %8.4f%% %7.2f%% %7.3f%% %7.2f%% %7.3f%% %9.3g",
            q->hot, q->false_positives, q->false_negatives, 100 * q->overlap, 100 * q->coverage[2],
            100 * q->most_uncovered, 100 * q->mean_uncovered, 100 * q->most_error, 100 * q->mean_error,
            100 * q->most_corrected, 100 * q->mean_corrected,
            hcct_total(h) ? (double)hcct_unseen(h) / (double)hcct_total(h) : 0);
}

static void print_heading(FILE *out)
{
    fprintf(out, "%-7s %8s %9s %8s %7s %6s %6s %9s %8s %9s %9s %17s %17s %9s\n", "", "", "peak", "", "",
            "false", "", "", "tau .01", "uncovered", "", "error", "corrected", "");
    fprintf(out, "%-7s %8s %9s %8s %7s %6s %6s %9s %8s %9s %9s %8s %8s %8s %8s %9s\n", "counter", "ns/event",
            "nodes", "MB", "hot", "hot", "missed", "overlap", "covered", "most", "mean", "most", "mean",
            "most", "mean", "bound");
}

static int print_counter(FILE *out, const struct trace *trace, const struct fathom_replay_options *o,
                         enum hcct_kind kind, struct cct *exact, struct fathom_error *err)
{
    double seconds;
    struct hcct *h = run_counter(trace, o, kind, &seconds);
    if (!h)
        return error_memory(err);
    fprintf(out, "%-7s %8.2f %9zu %8.2f ", fathom_tree_counters[kind].name,
            seconds * 1e9 / (double)trace->event_count, hcct_most_nodes(h), (double)hcct_bytes(h) / 1e6);
    struct cct *hot = hcct_query(h, o->phi);
    struct quality q;
    int rc = 0;
    if (!hot && hcct_promises(kind))
        rc = error_memory(err);
    else if (!hot)
        fprintf(out, "its bound, %.3g, is not below phi", (double)hcct_unseen(h) / (double)hcct_total(h));
    else if (quality_of(hot, exact, o->phi, &q) < 0)
        rc = error_memory(err);
    else
        print_quality(out, h, &q);
    fputc('\n', out);
    if (hot && rc == 0 && o->paths)
        rc = print_paths(out, hot, trace, o->by_function, o->paths, err);
    cct_free(hot);
    hcct_free(h);
    return rc;
}

/* A tree of all contexts, with parents. */
static struct cct *exact_tree(const struct trace *trace, const struct fathom_replay_options *o)
{
    struct fathom_replay_options once = *o;
    double seconds;
    once.runs = 1;
    struct hcct *h = run_counter(trace, &once, HCCT_EXACT, &seconds);
    struct cct *exact = h ? hcct_query(h, 1e-300) : NULL;
    hcct_free(h);
    return exact;
}

static int check_options(const struct fathom_replay_options *o, struct fathom_error *err)
{
    if (!(o->phi > 0 && o->phi < 1) || !(o->eps >= 0 && o->eps < o->phi))
        return error_set(err, EINVAL, "phi %g must be above 0 and below 1, and eps %g below it", o->phi,
                         o->eps);
    if (!(o->delta > 0 && o->delta < 1) || !o->runs)
        return error_set(err, EINVAL, "delta %g must be above 0 and below 1, and there must be a run",
                         o->delta);
    return 0;
}

int fathom_call_trace_replay(const char *path, const struct fathom_replay_options *o, FILE *out,
                             struct fathom_error *err)
{
    struct trace trace;
    int rc = check_options(o, err);
    if (rc == 0)
        rc = trace_read(path, &trace, err);
    if (rc < 0)
        return rc;
    number_events(&trace, o->by_function);
    struct cct *exact = exact_tree(&trace, o);
    if (!exact)
        rc = error_memory(err);
    double phi = 0;
    if (rc == 0 && quality_phi_for(exact, OVERLAP, &phi) < 0)
        rc = error_memory(err);
    if (rc == 0 && !trace.event_count)
        rc = error_set(err, ENOMSG, "%s has no events", path);
    if (rc == 0) {
        fprintf(out,
                "%zu events, %zu calls of %zu functions from %zu places, %zu threads, %zu contexts; phi %g, "
                "eps %g\n",
                trace.event_count, trace.entered, trace.function_count, trace.place_count, trace.thread_count,
                cct_count(exact) - 1, o->phi, eps_of(o));
        fprintf(out, "reading the events: %.2f ns each\n",
                floor_seconds(&trace, o->runs) * 1e9 / (double)trace.event_count);
        fprintf(out, "contexts of %g of the weight or more, with their ancestors, have %.0f%% of it\n", phi,
                100 * OVERLAP);
        print_heading(out);
    }
    for (size_t k = 0; rc == 0 && k < HCCT_KINDS; k++)
        if (!o->counters || o->counters >> k & 1)
            rc = print_counter(out, &trace, o, (enum hcct_kind)k, exact, err);
    cct_free(exact);
    trace_free(&trace);
    return rc;
}
