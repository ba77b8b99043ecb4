/* format.c - see format.h. */
#include "report/format.h"

#include "report/export/export.h"

static int write_text(const struct report *r, FILE *out, struct fathom_error *err)
{
    int rc = view_heading_write(r->heading, r->view, out, err);
    return rc == 0 ? view_write(r->contexts, r->view, out, err) : rc;
}

static int write_folded(const struct report *r, FILE *out, struct fathom_error *err)
{
    return folded_write(r->contexts, out, err);
}

const struct format format_table[] = {
    {.name = "text", .write = write_text},
    {.name = "folded", .help = "for flame graphs", .write = write_folded},
    {.name = "html", .help = "a page to explore", .write = html_write, .samples = true, .events = true},
    {.name = "svg", .help = "a flame graph", .write = svg_write},
    {.name = "json", .help = "all that is known, for programs", .write = json_report_write},
    {.name = "csv", .help = "a context a line", .write = csv_write},
    {.name = "speedscope",
     .help = "for speedscope.app",
     .write = speedscope_write,
     .samples = true,
     .bounded = true},
    {.name = "pprof", .help = "for pprof", .write = pprof_write, .samples = true, .binary = true},
    {.name = "firefox", .help = "for the Firefox Profiler", .write = firefox_write, .samples = true},
    {.name = "perf", .help = "a recording with call chains, for perf", .recording = true, .binary = true},
    {.name = "callgrind", .help = "for KCachegrind", .write = callgrind_write},
    {.name = "dot", .help = "a call graph, for Graphviz", .write = dot_write},
    {0},
};
