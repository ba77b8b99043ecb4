/* html_page.h - the page before and after its data, made from html/ at build time (scripts/embed). Private to report/export/. */
#ifndef FATHOM_REPORT_EXPORT_HTML_PAGE_H
#define FATHOM_REPORT_EXPORT_HTML_PAGE_H

#include <stddef.h>

#include "profile/frames.h"
#include "report/export/json.h"

extern const char html_before_data[], html_after_data[];
extern const size_t html_before_data_size, html_after_data_size; /* bytes */

/* The member `frames` of the data. */
void html_frames_write(struct json *json, const struct frames *frames);

#endif
