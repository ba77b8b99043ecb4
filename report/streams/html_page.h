/* html_page.h - the page of streams before and after its data, made from html/ at build time (scripts/embed). */
#ifndef FATHOM_REPORT_STREAMS_HTML_PAGE_H
#define FATHOM_REPORT_STREAMS_HTML_PAGE_H

#include <stddef.h>

extern const char streams_page_before_data[], streams_page_after_data[];
extern const size_t streams_page_before_data_size, streams_page_after_data_size; /* bytes */

#endif
