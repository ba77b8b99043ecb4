/* reporting_data.h - private to reporting.c and heading.c: a report in the making. */
#ifndef FATHOM_API_REPORT_REPORTING_DATA_H
#define FATHOM_API_REPORT_REPORTING_DATA_H

#include "api/cached_maps.h"
#include "api/report/reporting.h"
#include "evaluate/evaluation.h"

/* Of one event. */
struct reporting {
    const struct report_options *options;
    const struct log *log;
    const struct progress *progress;
    struct reporting
        *first; /* of the first event, which owns the recording's images and maps; NULL: this one is it */
    struct debuginfod *debuginfod;
    struct image_cache *images;
    struct pathmap *map;     /* NULL: none was given */
    const char *map_name;    /* as it was given */
    struct cached_maps kept; /* if none was given */
    struct engine *engine;
    struct engine *before;   /* found the phases; `engine` reuses what it read. NULL: no phases are chosen */
    bool phasing;            /* this pass only looks for phases: no sample is reported */
    struct time_span *spans; /* of the chosen phases */
    size_t span_count;
    struct filter *filter;   /* NULL: all samples count */
    struct profile *profile; /* NULL before the event is known */
    uint32_t event;
    char others[256];       /* names of the other events */
    struct outfile *output; /* NULL: a stream */
    struct truth *truth;    /* of the audit samples held back for checking */
    struct evaluation *checked;
    struct perf_export *exported; /* NULL: another format */

    /* After reporting_run(): */
    struct contexts contexts;
    struct view_heading heading;
    struct view_options view;
    struct report report;
    char unit[sizeof((struct event *)0)->name];

    struct report_options own; /* `options` of an event that is not the first */
    struct reporting *next;    /* of the next event; NULL: none */
};

/* heading.c: fills r->heading once all samples were counted. kept: the maps in use where none was given. Borrows from all of these, until
 * they change. */
int heading_fill(struct reporting *r, const struct cached_maps *kept, const struct reader *reader,
                 struct fathom_error *err);
/* Counts the files without inlined functions. Its `uninlined` must be 0. */
void heading_fill_uninlined(struct view_heading *heading, const struct image_cache *images);

#endif
