/* format.h - the table of report formats. A new exporter is a file with a function of this type, and a line in the table. */
#ifndef FATHOM_REPORT_FORMAT_H
#define FATHOM_REPORT_FORMAT_H

#include "report/views/report.h"

struct format {
    const char *name;
    int (*write)(const struct report *report, FILE *out, struct fathom_error *err);
    bool recording;    /* no report: `write` is NULL (api/report/perf_export.h) */
    bool binary;       /* not text for a terminal */
    bool code;         /* it is made from sampled code, not contexts; paths have the instructions of calls */
    bool samples;      /* it shows each sample (contexts->samples) */
    bool summed;       /* ... also samples that were added up, e.g. those of a store (store/gathering.h) */
    bool bounded;      /* ... or contexts, if samples are not kept */
    bool script_lines; /* it needs the lines of interpreted functions in paths, if samples are kept */
    bool events;       /* it shows all events, unless one is selected */
};

/* The formats: name, help for --help (NULL: the name says it), and the rest of a struct format. The first is the default. */
/* clang-format off */
#define FORMATS(ROW) \
    ROW("text", NULL, .write = write_text) \
    ROW("folded", "for flame graphs", .write = write_folded) \
    ROW("html", "a page to explore", .write = html_write, \
        .samples = true, .summed = true, .script_lines = true, .bounded = true, .events = true) \
    ROW("svg", "a flame graph", .write = svg_write) \
    ROW("json", "all that is known, for programs", .write = json_report_write) \
    ROW("csv", "a context a line", .write = csv_write) \
    ROW("speedscope", "for speedscope.app", .write = speedscope_write, .samples = true, .bounded = true) \
    ROW("pprof", "for pprof", .write = pprof_write, .samples = true, .summed = true, .binary = true) \
    ROW("otlp", "profiles of OpenTelemetry", .write = otlp_write, \
        .samples = true, .summed = true, .binary = true) \
    ROW("firefox", "for the Firefox Profiler", .write = firefox_write, .samples = true) \
    ROW("perf", "a recording with call chains, for perf", .recording = true, .binary = true) \
    ROW("callgrind", "for KCachegrind", .write = callgrind_write) \
    ROW("dot", "a call graph, for Graphviz", .write = dot_write) \
    ROW("autofdo", "a sample profile for clang", .write = autofdo_write, .code = true, .samples = true) \
    ROW("csspgo", "the same, with call paths", .write = csspgo_write, .code = true, .samples = true) \
    ROW("gcov-autofdo", "a sample profile for gcc", .write = gcov_autofdo_write, \
        .code = true, .samples = true, .binary = true) \
    ROW("bolt", "branches, for perf2bolt -pa", .write = bolt_write, .code = true, .samples = true) \
    ROW("symbol-order", "functions in an order for linkers", .write = symbol_order_write, \
        .code = true, .samples = true) \
    ROW("propeller", "basic blocks in an order for clang", .write = propeller_write, \
        .code = true, .samples = true)
/* clang-format on */
extern const struct format format_table[]; /* ends with an entry without a name */

#endif
