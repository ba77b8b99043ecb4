/* report.c - reports of a file; see fathom/report.h. */
#include <stdlib.h>

#include "api/host.h"
#include "api/report/reporting.h"

struct fathom_report {
    struct host host;
    struct report_options options;
    const char *directory; /* of an archive's files; NULL: none */
    struct fathom_writing writing;
    struct reader *reader;
    struct reporting *reporting;
    bool empty;
};

static int begin(struct fathom_report *r, const struct fathom_report_options *options,
                 struct fathom_error *err)
{
    struct report_options *o = &r->options;
    int rc = report_options_set(o, options, err);
    if (rc == 0)
        rc = archived_begin(o->input, &o->archived, err);
    if (rc == 0 && !o->archived && !(o->kernel = running_kernel_open(&kernel_places_here)))
        rc = error_memory(err);
    if (rc == 0 && !(o->engine.file = columns_file_open()))
        rc = error_memory(err);
    if (rc == 0 && o->output)
        rc = reporting_output(o, &o->opened, err);
    r->directory = archived_directory(o->archived);
    r->writing = (struct fathom_writing){&r->directory, 1, o->opened ? outfile_target(o->opened) : NULL};
    return rc;
}

int fathom_report_open(const struct fathom_report_options *options, const struct fathom_listener *listener,
                       struct fathom_report **out, struct fathom_error *error)
{
    struct fathom_report *r = calloc(1, sizeof *r);
    if (!r)
        return error_memory(error);
    host_init(&r->host, listener);
    int rc = begin(r, options, error);
    if (rc < 0)
        fathom_report_close(r);
    else
        *out = r;
    return rc;
}

const struct fathom_writing *fathom_report_writing(const struct fathom_report *r)
{
    return &r->writing;
}

int fathom_report_run(struct fathom_report *r, struct fathom_error *error)
{
    struct report_options *o = &r->options;
    int rc = archived_unpack(o->archived, error);
    if (rc == 0 && o->archived && !(o->kernel = archived_kernel(o->archived)))
        rc = error_memory(error);
    if (rc == 0)
        rc = reader_open(archived_recording(o->archived, o->input), &r->host.log, &r->reader, error);
    if (rc < 0)
        return rc;
    rc = reporting_new(o, &r->host.log, &r->host.progress, &r->reporting, error);
    o->opened = NULL; /* it was taken */
    return rc == 0 ? reporting_run(r->reporting, r->reader, error) : rc;
}

int fathom_report_write(struct fathom_report *r, FILE *stream, struct fathom_error *error)
{
    int rc = reporting_write(r->reporting, stream, error);
    r->empty = rc == 0 && reporting_tell_empty(r->reporting);
    return rc;
}

unsigned fathom_report_lacks(const struct fathom_report *r)
{
    return (reporting_stale(r->reporting) ? FATHOM_REPORT_STALE : 0u) | (r->empty ? FATHOM_REPORT_EMPTY : 0u);
}

void fathom_report_close(struct fathom_report *r)
{
    if (!r)
        return;
    reporting_free(r->reporting);
    outfile_close(r->options.opened);
    reader_close(r->reader);
    columns_file_close(r->options.engine.file);
    running_kernel_close(r->options.kernel);
    archived_close(r->options.archived);
    free(r);
}
