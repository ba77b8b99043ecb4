/* html_page.h - the page before and after its data, made from html/ at build time (scripts/embed). Private to report/export/. */
#ifndef FATHOM_REPORT_EXPORT_HTML_PAGE_H
#define FATHOM_REPORT_EXPORT_HTML_PAGE_H

#include <stddef.h>

#include "report/annotate/listing.h"
#include "report/annotate/script_listing.h"
#include "report/export/export.h"
#include "report/export/json.h"
#include "report/views/report.h"

extern const char html_before_data[], html_after_data[];
extern const size_t html_before_data_size, html_after_data_size; /* bytes */

/* The member `frames` of the data: those that are used; NULL: all. */
void html_frames_write(struct json *json, const struct frames *frames, const struct used_frames *used);
/* Functions of scripts. */
struct html_scripts {
    const struct script_listing *listing;
    const struct frames *frames;
    const uint32_t *numbers; /* of items in `frames` of the data */
};
/* The member `code`. -ENOMEM. */
int html_code_write(struct json *json, const struct listing *listing, const struct html_scripts *scripts,
                    struct fathom_error *err);

/* "phases": by slice of the time from first to last (ns), the number of its phase, 0: none; empty where samples were not kept. */
int html_phases_write(struct json *json, const struct report *report, uint64_t first, uint64_t last,
                      unsigned slices, struct fathom_error *err);

#endif
