/* changes.c - see changes.h. */
#include "report/changes.h"

#include "report/export/export.h"

const struct changes_format changes_format_table[] = {
    {.name = "text", .write = changes_text_write},
    {.name = "json", .write = changes_json_write},
    {.name = "html", .write = changes_html_write},
    {0},
};
