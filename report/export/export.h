/*
 * export.h - the formats of a report for other programs, one file each (the table is in format.h). Private to report/.
 *
 * Except for DOT and the formats of code (for compilers and linkers), each writes all contexts, whatever they weigh, so that the sum of
 * all weights is the same in every format. Errors as in view.h.
 */
#ifndef FATHOM_REPORT_EXPORT_EXPORT_H
#define FATHOM_REPORT_EXPORT_EXPORT_H

#include "report/views/branches.h"
#include "report/views/changes.h"
#include "report/views/report.h"

/* Fathom's own format, with everything in a report. docs/json.md */
int json_report_write(const struct report *report, FILE *out, struct fathom_error *err);
/* CSV: a line for each context, a column for each metric (RFC 4180). */
int csv_write(const struct report *report, FILE *out, struct fathom_error *err);
/* Callgrind's profile format 1, for callgrind_annotate and KCachegrind: functions and calls, without their contexts.
 * (Valgrind's manual, "Callgrind Format Specification") */
int callgrind_write(const struct report *report, FILE *out, struct fathom_error *err);
/* A call graph for Graphviz: functions and calls that weigh at least min_percent. */
int dot_write(const struct report *report, FILE *out, struct fathom_error *err);
/* Sample profiles: for clang (LLVM's text format); the same with call paths as contexts; for GCC. -ENOENT: no function has lines. These and
 * the next two: -EINVAL: the event counts neither time nor instructions. */
int autofdo_write(const struct report *report, FILE *out, struct fathom_error *err);
int csspgo_write(const struct report *report, FILE *out, struct fathom_error *err);
int gcov_autofdo_write(const struct report *report, FILE *out, struct fathom_error *err);
/* Branch counts for perf2bolt and llvm-bolt (-pa). */
int bolt_write(const struct report *report, FILE *out, struct fathom_error *err);
/* The symbols of sampled functions, one per line, in the best order in memory (lld's --symbol-ordering-file). */
int symbol_order_write(const struct report *report, FILE *out, struct fathom_error *err);
/* Orders of basic blocks, for clang -fbasic-block-sections=list=. -ENOENT: no sampled function's blocks have numbers. */
int propeller_write(const struct report *report, FILE *out, struct fathom_error *err);
/* A self-contained flame graph. */
int svg_write(const struct report *report, FILE *out, struct fathom_error *err);

/* A self-contained page for browsers; only of contexts if samples were not kept. */
int html_write(const struct report *report, FILE *out, struct fathom_error *err);

/* pprof's format, gzipped (https://github.com/google/pprof/blob/main/proto/profile.proto): needs each sample. */
int pprof_write(const struct report *report, FILE *out, struct fathom_error *err);

/* OpenTelemetry profiles: a ProfilesData message, for files and servers (otlp.proto): needs each sample. */
int otlp_write(const struct report *report, FILE *out, struct fathom_error *err);

/* https://www.speedscope.app/file-format-schema.json; a profile for each metric and thread. */
int speedscope_write(const struct report *report, FILE *out, struct fathom_error *err);

/* The Firefox Profiler's processed format: needs each sample. */
int firefox_write(const struct report *report, FILE *out, struct fathom_error *err);

/* The difference of two recordings, as JSON (docs/json.md) and as a page; errors as changes_text_write(). */
int changes_json_write(const struct changes_report *report, FILE *out, struct fathom_error *err);
int changes_html_write(const struct changes_report *report, FILE *out, struct fathom_error *err);

/* Shared by them ---------------------------------------------------------------------------------------------- */

#define EXPORT_NOT_KEPT "[contexts not kept]" /* the name of branch 0, which has their self weight */

/* All contexts, heaviest first, in the same order for equal trees. All their items are valid in the frame table. */
int export_branches(const struct contexts *contexts, struct branches *out, struct fathom_error *err);
/* The frames that occur in contexts: with a filter or bounded memory, not all do. */
struct used_frames {
    uint32_t *items;   /* items of the frame table, by number */
    uint32_t *numbers; /* number of each item; valid only for used ones */
    uint32_t count;
};

/* -ENOMEM. */
int used_frames_find(const struct contexts *contexts, struct used_frames *out, struct fathom_error *err);
void used_frames_clear(struct used_frames *used);
/* The name of a unit in pprof's convention: "nanoseconds", "count". */
const char *export_pprof_unit(const char *unit);
const char *export_name(const struct contexts *contexts, const struct branches *branches, uint32_t branch);
/* How certain it is, 0 to 1, that the self weight of a context is on its path. */
double export_sure(const struct branch *branch);
/* Whether the context has self weight in any metric. */
bool export_has_values(const struct contexts *contexts, const struct branch *branch);

#endif
