/* options.h - the options of a report as those of its parts. */
#ifndef FATHOM_API_REPORT_OPTIONS_H
#define FATHOM_API_REPORT_OPTIONS_H

#include "api/archived.h"
#include "api/fathom/report.h"
#include "api/report/perf_export.h"
#include "profile/phasing.h"
#include "profile/profile.h"
#include "report/annotate/annotate.h"
#include "report/export/script.h"
#include "report/format.h"

struct report_options {
    const char *input, *map, *event, *symfs;
    const char *output;     /* NULL: a stream */
    struct outfile *opened; /* the output; reporting_new() takes it */
    struct view_options view;
    struct profile_options profile; /* without its filter */
    struct filter_options filter;
    struct engine_options engine;
    const struct format *format;
    struct script_fields fields;
    struct annotate_options annotate;
    struct phasing_options phasing;
    const int *phase;   /* the phases whose samples count; */
    size_t phase_count; /* 0: any */
    enum perf_certainty certainty;
    const struct metric *metric;
    struct archived *archived; /* the input, unpacked; NULL: it is a recording */
    /* Names the kernel's functions; opened before privileges are given up. NULL: paths end with user code. */
    struct running_kernel *kernel;
    bool cgroups_optional; /* levels of cgroups do not fail where the recording tells of none */
    bool no_cache;         /* do not use maps that earlier recordings kept */
    bool terminal;         /* the stream is one */
};

/* The entry with this name of a table whose entries, of `size` bytes, begin with a name, the last with NULL; name: NULL: the first.
 * NULL: there is none (EINVAL): "there is no view 'x'" of what: "view". */
const void *report_word_find(const char *what, const void *table, size_t size, const char *name,
                             struct fathom_error *err);
/* Texts and lists are borrowed; `to` must stay where it is. Errors: as fathom_report_check(). */
int report_options_set(struct report_options *to, const struct fathom_report_options *from,
                       struct fathom_error *err);

#endif
