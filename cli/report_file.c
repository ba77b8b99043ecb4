/* report_file.c - see report_file.h. */
#include "cli/report_file.h"

#include "cli/exit.h"
#include "cli/privilege.h"

int reporting_file(const struct report_options *wanted, struct terminal *terminal)
{
    struct fathom_error err = {0};
    struct report_options own = *wanted, *options = &own;
    struct reader *reader = NULL;
    struct reporting *reporting = NULL;
    int rc = archived_begin(options->input, &options->archived, &err);
    if (rc == 0 && !options->archived)
        options->kernel = running_kernel_open(&kernel_places_here); /* names that others may not read */
    if (rc == 0 && options->output)
        rc = reporting_output(options, &options->opened, &err);
    const char *target = options->opened ? outfile_target(options->opened) : NULL;
    privilege_only_read_and(
        &(struct privilege_writing){&(const char *){archived_directory(options->archived)}, 1, target},
        terminal);
    if (rc == 0 && options->archived && (rc = archived_unpack(options->archived, &err)) == 0)
        options->kernel = archived_kernel(options->archived);
    if (rc == 0)
        rc = options->kernel ? reader_open(archived_recording(options->archived, options->input),
                                           &terminal->log, &reader, &err)
                             : error_memory(&err);
    if (rc == 0)
        rc = reporting_new(options, terminal, &reporting, &err);
    else
        outfile_close(options->opened);
    if (rc == 0)
        rc = reporting_run(reporting, reader, &err);
    if (rc < 0)
        terminal_error(terminal, &err);
    int code = rc < 0 ? exit_code_of(&err) : reporting_code(reporting);
    if (rc == 0 && reporting_tell_empty(reporting))
        code = EXIT_NOTHING;
    reporting_free(reporting);
    reader_close(reader);
    running_kernel_close(options->kernel);
    archived_close(options->archived);
    return code;
}
