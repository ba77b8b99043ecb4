/* csv.c - a line for each context with self weight; see export.h. */
#include <stdlib.h>

#include "report/export/export.h"
#include "report/text/printer.h"

/* Writes text inside a quoted field; ';' separates the functions of a path. */
static void write_quoted(struct printer *printer, const char *text, bool of_path)
{
    for (; *text; text++)
        if (*text == '"')
            printer_write(printer, "\"\"");
        else
            printer_write(printer, "%c", of_path && *text == ';' ? ':' : *text);
}

/* Writes a path from the root inwards. `path` is scratch space, large enough for it. */
static void write_path(struct printer *printer, const struct contexts *contexts, const struct branches *b,
                       uint32_t at, uint32_t *path)
{
    size_t depth = 0;
    do
        path[depth++] = at;
    while (at && (at = b->at[at].parent) != 0);
    while (depth--) {
        write_quoted(printer, export_name(contexts, b, path[depth]), true);
        printer_write(printer, depth ? ";" : "");
    }
}

static void write_rows(struct printer *printer, const struct contexts *contexts, const struct branches *b,
                       uint32_t *path)
{
    for (uint32_t i = 0; i < b->count && !printer->failed; i++) {
        const struct branch *branch = &b->at[i];
        if (!export_has_values(contexts, branch))
            continue;
        for (uint32_t m = 0; m < contexts->metrics->count; m++)
            printer_write(printer, "%llu,", (unsigned long long)branch->node->self[m]);
        if (contexts->doubts)
            printer_write(printer, "%.3f", export_sure(branch));
        printer_write(printer, ",\"");
        write_path(printer, contexts, b, i, path);
        printer_write(printer, "\",\"");
        write_quoted(printer, i ? frames_at(contexts->frames, branch->item)->image : "", false);
        printer_write(printer, "\"\r\n");
    }
}

int csv_write(const struct report *report, FILE *out, struct fathom_error *err)
{
    const struct contexts *contexts = report->contexts;
    struct printer printer = {.out = out};
    struct branches b;
    int rc = export_branches(contexts, &b, err);
    if (rc < 0)
        return rc;
    uint32_t *path = malloc(b.count * sizeof *path);
    for (uint32_t m = 0; m < contexts->metrics->count; m++)
        printer_write(&printer, "%s,", contexts->metrics->at[m]->name);
    printer_write(&printer, "sure,path,image\r\n");
    if (path)
        write_rows(&printer, contexts, &b, path);
    rc = path ? printer_finish(&printer, err) : error_memory(err);
    free(path);
    branches_clear(&b);
    return rc;
}
