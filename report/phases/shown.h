/* shown.h - the data that phase reports show: the timeline, and each phase's contexts by their self weight in it. Private to
 * report/phases/. */
#ifndef FATHOM_REPORT_PHASES_SHOWN_H
#define FATHOM_REPORT_PHASES_SHOWN_H

#include "profile/phasing.h"
#include "report/views/report.h"

struct hot_context {
    const struct cct_node *node;
    uint64_t weight;
    uint32_t phase;
};

struct phases_shown {
    struct timeline *timeline;
    const struct phase_interval *intervals;
    const struct phase *phases;
    uint32_t interval_count, phase_count;
    double weight;           /* of all */
    struct hot_context *hot; /* by phase, then heaviest first */
    size_t hot_count;
    size_t *starts; /* phase p has starts[p - 1] up to starts[p] */
};

/* 0; 1: there is nothing to show; or negative. */
int phases_shown_find(const struct report *report, struct phases_shown *out, struct fathom_error *err);
void phases_shown_clear(struct phases_shown *shown);

#endif
