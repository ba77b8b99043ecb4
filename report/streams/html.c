/* html.c - hot streams as a page: rows of objects over the cache lines that they occupy. */
#include "report/streams/html_page.h"
#include "report/streams/streams_json.h"

int streams_html_write(const struct shown_streams *s, FILE *out, struct fathom_error *err)
{
    struct printer printer = {.out = out};
    struct json json = {.printer = &printer, .in_html = true};
    printer_bytes(&printer, streams_page_before_data, streams_page_before_data_size);
    json_object(&json, NULL);
    streams_json_members(&json, s);
    json_end(&json);
    printer_bytes(&printer, streams_page_after_data, streams_page_after_data_size);
    return printer_finish(&printer, err);
}
