/* html_phases.c - the phase of each of a page's time slices: that of the interval in its middle. */
#include <errno.h>

#include "profile/phasing.h"
#include "report/export/html_page.h"

int html_phases_write(struct json *json, const struct report *report, uint64_t first, uint64_t last,
                      unsigned slices, struct fathom_error *err)
{
    struct timeline *timeline = NULL;
    int rc = report->contexts->samples && report->view->phasing
                 ? phasing_find(report->contexts, report->view->phasing, &timeline, err)
                 : -ENODATA;
    if (rc < 0 && rc != -ENODATA)
        return rc;
    const double length = (double)(last - first) / slices;
    JSON_NUMBERS(json, "phases", timeline ? slices : 0,
                 timeline_phase_at(timeline, first + (uint64_t)(length * ((double)i + 0.5))));
    timeline_free(timeline);
    return 0;
}
