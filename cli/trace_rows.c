#include "cli/trace_rows.h"

#include <errno.h>
#include <stdlib.h>

#include "cli/exit.h"
#include "cli/interrupt.h"

#define DEFAULT_OUTPUT "fathom.trace"
#define DEFAULT_BYTES  1024u /* MB */
#define MEGABYTE       1000000u
#define DEFAULT_CHECKS 10000u

const struct option_word trace_logs[] = {{"loads", FATHOM_TRACE_LOADS}, {"stores", FATHOM_TRACE_STORES},
                                         {"stack", FATHOM_TRACE_STACK}, {"blocks", FATHOM_TRACE_BLOCKS},
                                         {"calls", FATHOM_TRACE_CALLS}, {0}};
const struct option_word trace_entries[] = {
    {"cycles", FATHOM_TRACE_CYCLES}, {"callers", FATHOM_TRACE_CALLERS}, {"all", FATHOM_TRACE_ALL}, {0}};

void trace_rows_init(struct trace_rows *r)
{
    *r = (struct trace_rows){.options = {.output = DEFAULT_OUTPUT,
                                         .burst = 50,
                                         .bytes = DEFAULT_BYTES,
                                         .runtime = getenv("FATHOM_BURST_LIBRARY")}};
}

void trace_rows_clear(struct trace_rows *r)
{
    free((void *)(uintptr_t)r->images.at);
    free((void *)(uintptr_t)r->functions.at);
    free((void *)(uintptr_t)r->files.at);
}

int trace_rows_complete(struct trace_rows *r, struct terminal *terminal)
{
    struct fathom_trace_code *code = &r->options.code;
    if (code->log == 1u << FATHOM_TRACE_STACK)
        return option_usage(terminal, "--log stack is about loads and stores: give these, too");
    if (!*r->options.output)
        return option_usage(terminal, "--output: an empty name");
    if (!code->log)
        code->log = 1u << FATHOM_TRACE_LOADS | 1u << FATHOM_TRACE_STORES;
    if (r->overhead > 0 && (r->full || r->options.checks))
        return option_usage(terminal, "--overhead chooses --checks: leave that and --full out");
    if (!r->options.checks)
        r->options.checks = DEFAULT_CHECKS;
    code->images = r->images.at;
    code->image_count = r->images.count;
    r->options.files = r->files.at;
    r->options.file_count = r->files.count;
    code->functions = r->functions.at;
    code->function_count = r->functions.count;
    code->boring = r->every_loop || r->full ? FATHOM_TRACE_EVERY_LOOP : (int64_t)r->boring;
    r->options.checks = r->full ? 0 : r->options.checks;
    r->options.bytes *= MEGABYTE;
    r->options.heap_bytes = r->options.bytes;
    return -1;
}

int trace_exit_result(struct terminal *terminal, int rc, const struct fathom_error *err)
{
    const int code = exit_result(terminal, rc, err);
    return rc < 0 && err->code == ENODATA ? EXIT_NOTHING : code;
}

INTERRUPT_BY(stop_trace, fathom_trace_stop)

static int run_traced(struct fathom_trace *trace, double overhead, struct fathom_error *err)
{
    struct interrupted_run run;
    int rc = 0;
    interrupt_hold(&run);
    if (overhead > 0) {
        interrupt_begin(&run, stop_trace, trace);
        rc = fathom_trace_fit(trace, overhead, err);
        interrupt_end(&run);
        interrupt_hold(&run);
    }
    if (rc == 0)
        rc = fathom_trace_start(trace, err);
    interrupt_begin(&run, stop_trace, trace);
    if (rc == 0)
        fathom_trace_run(trace);
    interrupt_end(&run);
    return rc == 0 ? fathom_trace_end(trace, err) : rc;
}

int trace_rows_run(struct trace_rows *r, char *const *command, struct terminal *terminal, int *status)
{
    struct fathom_error err = {0};
    struct fathom_trace *trace = NULL;
    r->options.command = command;
    *status = -1;
    int rc = fathom_trace_open(&r->options, &terminal->listener, &trace, &err);
    terminal_progress_end(terminal);
    if (rc == 0) {
        rc = run_traced(trace, r->overhead, &err);
        *status = fathom_trace_status(trace);
    }
    fathom_trace_close(trace);
    return trace_exit_result(terminal, rc, &err);
}
