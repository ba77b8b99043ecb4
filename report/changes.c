/* changes.c - see changes.h. */
#include "report/changes.h"

#include "report/export/export.h"

const struct changes_format changes_format_table[] = {
    {.name = "text", .write = changes_text_write},
    {.name = "json", .help = "all that is known, for programs", .write = changes_json_write},
    {.name = "html", .help = "a page to explore", .write = changes_html_write},
    {0},
};
