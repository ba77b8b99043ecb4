/*
 * export.h - the formats of a report for other programs, one file each (format.h has them in a table). Private to report/.
 *
 * Each writes all contexts, whatever they weigh, with the sum of all weights in every format the same; but those of code (for compilers and linkers) and dot. Errors
 * as in view.h.
 */
#ifndef FATHOM_REPORT_EXPORT_EXPORT_H
#define FATHOM_REPORT_EXPORT_EXPORT_H

#include "report/views/branches.h"
#include "report/views/changes.h"
#include "report/views/report.h"

/* Fathom's own: all that a report has. docs/json.md */
int json_report_write(const struct report *report, FILE *out, struct fathom_error *err);
/* A line for each context, with a column for each metric (RFC 4180). */
int csv_write(const struct report *report, FILE *out, struct fathom_error *err);
/* Callgrind's profile format 1, for callgrind_annotate and KCachegrind: functions and calls, without their contexts.
 * (Valgrind's manual, "Callgrind Format Specification") */
int callgrind_write(const struct report *report, FILE *out, struct fathom_error *err);
/* A call graph for Graphviz: functions and calls that weigh at least min_percent. */
int dot_write(const struct report *report, FILE *out, struct fathom_error *err);
/* A sample profile for clang (LLVM's text format); with call paths as contexts; for GCC. -ENOENT: no function has lines. These and the next two: -EINVAL: the
 * event counts neither time nor instructions. */
int autofdo_write(const struct report *report, FILE *out, struct fathom_error *err);
int csspgo_write(const struct report *report, FILE *out, struct fathom_error *err);
int gcov_autofdo_write(const struct report *report, FILE *out, struct fathom_error *err);
/* How often branches were taken, for perf2bolt and llvm-bolt (-pa). */
int bolt_write(const struct report *report, FILE *out, struct fathom_error *err);
/* The symbols of sampled functions, a line each, in the order in which they should lie (lld's --symbol-ordering-file). */
int symbol_order_write(const struct report *report, FILE *out, struct fathom_error *err);
/* Orders of basic blocks, for clang -fbasic-block-sections=list=. -ENOENT: no sampled function's blocks have numbers. */
int propeller_write(const struct report *report, FILE *out, struct fathom_error *err);
/* A flame graph that stands by itself. */
int svg_write(const struct report *report, FILE *out, struct fathom_error *err);

/* A page for a browser, without the network; of contexts alone, if samples were not kept. */
int html_write(const struct report *report, FILE *out, struct fathom_error *err);

/* pprof's format, gzipped (https://github.com/google/pprof/blob/main/proto/profile.proto): needs each sample. */
int pprof_write(const struct report *report, FILE *out, struct fathom_error *err);

/* OpenTelemetry's profiles: ProfilesData, as for files and for servers (otlp.proto): needs each sample. */
int otlp_write(const struct report *report, FILE *out, struct fathom_error *err);

/* https://www.speedscope.app/file-format-schema.json; a profile for each metric and thread. */
int speedscope_write(const struct report *report, FILE *out, struct fathom_error *err);

/* The Firefox Profiler's processed format: needs each sample. */
int firefox_write(const struct report *report, FILE *out, struct fathom_error *err);

/* The difference of two recordings; errors as of changes_text_write(). docs/json.md, and a page. */
int changes_json_write(const struct changes_report *report, FILE *out, struct fathom_error *err);
int changes_html_write(const struct changes_report *report, FILE *out, struct fathom_error *err);

/* Shared by them ---------------------------------------------------------------------------------------------- */

#define EXPORT_NOT_KEPT "[contexts not kept]" /* the name of branch 0, whose own weight is theirs */

/* All contexts, heaviest first, in the same order for equal trees; their names can be looked up. */
int export_branches(const struct contexts *contexts, struct branches *out, struct fathom_error *err);
/* The frames that contexts have: a filter, or bounded memory, may have left others without one. */
struct used_frames {
    uint32_t *items;   /* of the frame table, by number */
    uint32_t *numbers; /* of each item; only that of a used one is meant */
    uint32_t count;
};

/* -ENOMEM. */
int used_frames_find(const struct contexts *contexts, struct used_frames *out, struct fathom_error *err);
void used_frames_clear(struct used_frames *used);
/* The name of a unit in pprof's convention: "nanoseconds", "count". */
const char *export_pprof_unit(const char *unit);
const char *export_name(const struct contexts *contexts, const struct branches *branches, uint32_t branch);
/* How sure it is that the weight that ends in a context has come that way: 0 to 1. */
double export_sure(const struct branch *branch);
/* Whether anything ends in it, by any metric. */
bool export_has_values(const struct contexts *contexts, const struct branch *branch);

#endif
