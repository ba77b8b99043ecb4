/* heading.h - the heading of a report: what the recording, the profile, and inference tell of how far it can be trusted. */
#ifndef FATHOM_API_REPORT_HEADING_H
#define FATHOM_API_REPORT_HEADING_H

#include "api/cached_maps.h"
#include "api/report/reporting.h"
#include "evaluate/evaluation.h"

/* What it is made of, when all samples are counted; all borrowed. */
struct heading_parts {
    const struct report_options *options;
    const char *map; /* as it was given; NULL: none */
    const struct cached_maps *kept;
    struct reader *reader;
    const struct event *event; /* that is reported */
    const char *others;        /* names of the other events */
    const struct profile *profile;
    const struct contexts *contexts;
    const struct image_cache *images;
    const struct engine *engine;
    struct evaluation *checked; /* of the audit samples held back */
    bool filtered;              /* not all samples count */
};

/* Borrows from the parts, as long as nothing is added to them. */
int heading_fill(struct view_heading *heading, const struct heading_parts *parts, struct fathom_error *err);
/* Its `uninlined`, which must be 0. */
void heading_fill_uninlined(struct view_heading *heading, const struct image_cache *images);

#endif
