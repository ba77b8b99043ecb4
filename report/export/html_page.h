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

/* The data's member `frames`. used: only these; NULL: all. */
void html_frames_write(struct json *json, const struct frames *frames, const struct used_frames *used);
/* Script functions. */
struct html_scripts {
    const struct script_listing *listing;
    const struct frames *frames;
    const uint32_t *numbers; /* item -> index in the data's `frames` */
};
/* The data's member `code`. -ENOMEM. */
int html_code_write(struct json *json, const struct listing *listing, const struct html_scripts *scripts,
                    struct fathom_error *err);

#endif
