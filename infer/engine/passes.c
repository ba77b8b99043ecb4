/* passes.c - see passes.h. */
#include "infer/engine/passes.h"

#include <errno.h>

#define SHOW_RECORDS 4096u /* between two updates of the progress line */

static int take_record(void *passes, const struct record *record, struct fathom_error *err)
{
    struct passes *p = passes;
    if (p->most && p->records == p->most)
        return -ECANCELED;
    if (p->records++ % SHOW_RECORDS == 0)
        progress_show(p->progress, p->name, p->records, p->all);
    if (!p->proved || record->kind != RECORD_SAMPLE)
        return p->step(p->context, record, err);
    struct record filled = *record;
    proved_fill(p->proved, &p->proved_at, &filled.sample);
    return p->step(p->context, &filled, err);
}

int passes_run(struct passes *p, const char *name, order_sink *step, void *context, struct fathom_error *err)
{
    int rc = observer_begin(p->observer, err);
    p->name = name;
    p->step = step;
    p->context = context;
    p->records = 0;
    p->proved_at = 0;
    if (rc == 0)
        rc = reader_run(p->reader, take_record, p, err);
    if (rc == -ECANCELED && p->most)
        rc = 0;
    p->all = p->records;
    return rc;
}
