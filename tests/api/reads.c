/*
 * reads.c - how often a report reads its recording: "reads FORMAT RECORDING [MAP]" prints it. The linker puts
 * __wrap_reader_run() in the place of reader_run() (-Wl,--wrap=reader_run).
 */
#include <stdio.h>

#include "api/fathom/report.h"
#include "perfdata/reader.h"

static unsigned reads;

int __real_reader_run(struct reader *reader, order_sink *sink, void *context, struct fathom_error *err);
int __wrap_reader_run(struct reader *reader, order_sink *sink, void *context, struct fathom_error *err);

int __wrap_reader_run(struct reader *reader, order_sink *sink, void *context, struct fathom_error *err)
{
    reads++;
    return __real_reader_run(reader, sink, context, err);
}

int main(int argc, char **argv)
{
    struct fathom_report_options options;
    struct fathom_report *report = NULL;
    struct fathom_error err = {0};
    if (argc < 3)
        return fputs("usage: reads FORMAT RECORDING [MAP]\n", stderr), 2;
    FILE *null = fopen("/dev/null", "w");
    fathom_report_defaults(&options);
    options.format = argv[1];
    options.recording = argv[2];
    options.profile.map = argv[3];
    if (!null || fathom_report_open(&options, NULL, &report, &err) < 0 ||
        fathom_report_run(report, &err) < 0 || fathom_report_write(report, null, &err) < 0)
        return fprintf(stderr, "reads: %s\n", err.text), 1;
    printf("%u\n", reads);
    fathom_report_close(report);
    fclose(null);
    return 0;
}
