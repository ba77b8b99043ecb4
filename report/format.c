/* format.c - see format.h. */
#include "report/format.h"

#include "report/export/export.h"

static int write_text(const struct report *r, FILE *out, struct fathom_error *err)
{
    int rc = view_heading_write(r->heading, r->view, out, err);
    return rc == 0 ? view_write(r->contexts, r->view, out, err) : rc;
}

static int write_folded(const struct report *r, FILE *out, struct fathom_error *err)
{
    return folded_write(r->contexts, out, err);
}

#define ROW(text, help, ...) {.name = text, __VA_ARGS__},
const struct format format_table[] = {FORMATS(ROW){0}};
