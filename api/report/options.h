/* options.h - the public options of a report, checked and split into those of its parts. */
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
    struct fathom_report_options given; /* texts and lists are borrowed */
    struct outfile *opened;             /* the output, NULL: a stream; reporting_new() takes it */
    struct view_options view;
    struct profile_options profile; /* without its filter */
    struct filter_options filter;
    struct engine_options engine;
    const struct format *format;
    struct script_fields fields;
    struct annotate_options annotate;
    struct phasing_options phasing;
    const struct metric *metric;
    struct archived *archived; /* the input, unpacked; NULL: it is a recording */
    /* Names the kernel's functions; opened before rights are given up. NULL: paths end with user code. */
    struct running_kernel *kernel;
    bool cgroups_optional; /* accept levels of cgroups even if the recording has no cgroups */
};

/* The entry of a table with this name; NULL: the first entry. Entries have `size` bytes and begin with a name, which is NULL in the last.
 * what: "view", for the error "there is no view 'x'", EINVAL: returns NULL. */
const void *report_word_find(const char *what, const void *table, size_t size, const char *name,
                             struct fathom_error *err);
/* `to` must not be moved. Errors: as fathom_report_check(). */
int report_options_set(struct report_options *to, const struct fathom_report_options *from,
                       struct fathom_error *err);

#endif
