/* changes.c - see changes.h. */
#include "report/changes.h"

#include "report/export/export.h"

#define ROW(text, help, function) {text, function},
const struct changes_format changes_format_table[] = {CHANGES_FORMATS(ROW){0}};
