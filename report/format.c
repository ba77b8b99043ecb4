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
    {.name = "folded", .write = write_folded},
    {.name = "html",
     .write = html_write,
     .samples = true,
     .summed = true,
     .script_lines = true,
     .bounded = true,
     .events = true},
    {.name = "svg", .write = svg_write},
    {.name = "json", .write = json_report_write},
    {.name = "csv", .write = csv_write},
    {.name = "speedscope", .write = speedscope_write, .samples = true, .bounded = true},
    {.name = "pprof", .write = pprof_write, .samples = true, .summed = true, .binary = true},
    {.name = "otlp", .write = otlp_write, .samples = true, .summed = true, .binary = true},
    {.name = "firefox", .write = firefox_write, .samples = true},
    {.name = "perf", .recording = true, .binary = true},
    {.name = "callgrind", .write = callgrind_write},
    {.name = "dot", .write = dot_write},
    {.name = "autofdo", .write = autofdo_write, .code = true, .samples = true},
    {.name = "csspgo", .write = csspgo_write, .code = true, .samples = true},
    {.name = "gcov-autofdo", .write = gcov_autofdo_write, .code = true, .samples = true, .binary = true},
    {.name = "bolt", .write = bolt_write, .code = true, .samples = true},
    {.name = "symbol-order", .write = symbol_order_write, .code = true, .samples = true},
    {.name = "propeller", .write = propeller_write, .code = true, .samples = true},
    {0},
};
