/* passes.c - see passes.h. */
#include "infer/engine/passes.h"

#include <errno.h>

#define SHOW_RECORDS 4096u /* between two updates of the progress line */

struct pass {
    const struct passes *passes;
    const char *name; /* for the progress line */
    observation_sink *step;
    void *context; /* for the step */
    uint64_t records;
    struct pairing *pairing; /* pairs table rows with records; NULL: the table alone is read */
};

static int take_observation(void *pass, const struct observation *o, struct fathom_error *err)
{
    struct pass *p = pass;
    if (p->records++ % SHOW_RECORDS == 0)
        progress_show(p->passes->progress, p->name, p->records,
                      observations_count(p->passes->reading->observations));
    return p->step(p->context, o, err);
}

/* An order_sink, for reading the recording again. */
static int take_record(void *pass, const struct record *record, struct fathom_error *err)
{
    struct pass *p = pass;
    const struct passes *passes = p->passes;
    struct observation o = {.record = record};
    struct record filled;
    uint64_t row;
    int rc = pairing_next(p->pairing, record, &o.learned, &row, err);
    if (rc <= 0)
        return rc;
    if (passes->most && p->records == passes->most)
        return -ECANCELED;
    if (record->kind == RECORD_SAMPLE) {
        struct sample *sample = &filled.sample;
        filled = *record;
        sample->row = row;
        o.record = &filled;
        const struct process *process = process_find(passes->observer->processes, sample->pid);
        if (passes->reading->proved)
            proved_fill(passes->reading->proved, process, sample);
        o.frame = leaf_frame_of(process, sample);
    }
    return take_observation(p, &o, err);
}

static int read_again(struct pass *p, struct fathom_error *err)
{
    const struct reading *reading = p->passes->reading;
    p->pairing = pairing_new(reading->observations);
    int rc = p->pairing ? reader_run(reading->reader, take_record, p, err) : error_memory(err);
    pairing_free(p->pairing);
    return rc == -ECANCELED && p->passes->most ? 0 : rc;
}

int passes_run(const struct passes *passes, const char *name, bool whole, observation_sink *step,
               void *context, struct fathom_error *err)
{
    struct observations *table = passes->reading->observations;
    struct pass pass = {.passes = passes, .name = name, .step = step, .context = context};
    int rc = observer_begin(passes->observer, err);
    if (rc < 0)
        return rc;
    return whole || observations_cut(table)
               ? read_again(&pass, err)
               : observations_run(table, passes->most, take_observation, &pass, err);
}
