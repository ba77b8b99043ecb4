/* report.c - reports of a recording or a store; see fathom/report.h. */
#include "api/report/report.h"

#include <stdlib.h>

#include "api/host.h"
#include "api/report/local_maps.h"
#include "api/store/stored.h"

struct fathom_report {
    struct host host;
    struct report_options options;
    const char *directory; /* where an archive is unpacked; NULL: no archive */
    struct fathom_writing writing;
    struct reader *reader;
    struct reporting *reporting;
    struct stored *stored; /* the store that is reported instead; NULL: none */
    bool empty;
};

/* Opens everything about the input that may need rights. */
static int begin_input(struct report_options *o, struct fathom_error *err)
{
    int rc = archived_begin(o->given.recording, &o->archived, err);
    if (rc == 0 && !o->archived && !(o->kernel = running_kernel_open(&kernel_places_here)))
        rc = error_memory(err);
    if (rc == 0 && !(o->engine.file = columns_file_open()))
        rc = error_memory(err);
    return rc;
}

/* format: as for report_open_as(); NULL: that of the options */
static int begin_report(struct fathom_report *r, const struct fathom_report_options *options,
                        const struct format *format, struct fathom_error *err)
{
    struct report_options *o = &r->options;
    int rc = report_options_set(o, options, err);
    if (format) {
        o->format = format;
        o->cgroups_optional = true;
    }
    if (rc == 0)
        rc = options->store ? stored_open(o, &r->stored, err) : begin_input(o, err);
    if (rc == 0 && o->given.output)
        rc = reporting_output(o, &o->opened, err);
    r->directory = archived_directory(o->archived);
    r->writing = (struct fathom_writing){&r->directory, 1, o->opened ? outfile_target(o->opened) : NULL,
                                         options->store != NULL};
    return rc;
}

int report_open_as(const struct fathom_report_options *options, const struct format *format,
                   const struct fathom_listener *listener, struct fathom_report **out,
                   struct fathom_error *err)
{
    struct fathom_report *r = calloc(1, sizeof *r);
    if (!r)
        return error_memory(err);
    host_init(&r->host, listener);
    int rc = begin_report(r, options, format, err);
    if (rc < 0)
        fathom_report_close(r);
    else
        *out = r;
    return rc;
}

const struct report *report_of(const struct fathom_report *r)
{
    return reporting_report(r->reporting);
}

const struct reader *report_reader(const struct fathom_report *r)
{
    return r->reader;
}

const char *report_recording(const struct fathom_report *r)
{
    return archived_recording(r->options.archived, r->options.given.recording);
}

int fathom_report_open(const struct fathom_report_options *options, const struct fathom_listener *listener,
                       struct fathom_report **out, struct fathom_error *error)
{
    return report_open_as(options, NULL, listener, out, error);
}

const struct fathom_writing *fathom_report_writing(const struct fathom_report *r)
{
    return &r->writing;
}

int fathom_report_run(struct fathom_report *r, struct fathom_error *error)
{
    struct report_options *o = &r->options;
    if (r->stored)
        return stored_run(r->stored, error);
    int rc = archived_unpack(o->archived, error);
    if (rc == 0 && o->archived && !(o->kernel = archived_kernel(o->archived)))
        rc = error_memory(error);
    if (rc == 0)
        rc =
            reader_open(archived_recording(o->archived, o->given.recording), &r->host.log, &r->reader, error);
    if (rc == 0 && !o->archived)
        rc = local_maps_read(r->reader, &r->host.log, error);
    if (rc < 0)
        return rc;
    rc = reporting_new(o, &r->host.log, &r->host.progress, &r->reporting, error);
    o->opened = NULL; /* r->reporting owns it */
    return rc == 0 ? reporting_run(r->reporting, r->reader, error) : rc;
}

int fathom_report_write(struct fathom_report *r, FILE *stream, struct fathom_error *error)
{
    int rc =
        r->stored ? stored_write(r->stored, stream, error) : reporting_write(r->reporting, stream, error);
    r->empty = rc == 0 && (r->stored ? stored_empty(r->stored) : reporting_tell_empty(r->reporting));
    return rc;
}

unsigned fathom_report_lacks(const struct fathom_report *r)
{
    return (!r->stored && reporting_stale(r->reporting) ? FATHOM_REPORT_STALE : 0u) |
           (r->empty ? FATHOM_REPORT_EMPTY : 0u);
}

void fathom_report_close(struct fathom_report *r)
{
    if (!r)
        return;
    reporting_free(r->reporting);
    stored_close(r->stored);
    outfile_close(r->options.opened);
    reader_close(r->reader);
    columns_file_close(r->options.engine.file);
    running_kernel_close(r->options.kernel);
    archived_close(r->options.archived);
    free(r);
}
