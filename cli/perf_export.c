/* perf_export.c - see perf_export.h. */
#include "cli/perf_export.h"

#include <stdlib.h>

#include "cli/output.h"
#include "perfdata/chained.h"
#include "profile/chain.h"

struct perf_export {
    struct perf_export_options options;
    struct image_cache *images;
    struct chained *file;
    struct chains *chains; /* NULL before the first sample */
};

static int copy_record(void *context, const struct record *record, struct fathom_error *err)
{
    struct perf_export *e = context;
    return chained_record(e->file, record, err);
}

int perf_export_begin(const struct perf_export_options *options, struct reader *reader, uint32_t event,
                      struct image_cache *images, struct perf_export **out, struct fathom_error *err)
{
    struct perf_export *e = calloc(1, sizeof *e);
    if (!e)
        return error_memory(err);
    e->options = *options;
    e->images = images;
    const struct event *events;
    struct outfile *file;
    reader_events(reader, &events);
    int rc = output_open(options->path, &file, err);
    if (rc == 0)
        rc = chained_new(file, &events[event], reader_command(reader), &e->file, err);
    if (rc == 0)
        rc = reader_run(reader, copy_record, e, err);
    if (rc < 0)
        perf_export_free(e);
    else
        *out = e;
    return rc;
}

int perf_export_sample(struct perf_export *e, const struct pathmap *map, const struct process *process,
                       const struct sample *sample, const struct resolved *resolved, struct fathom_error *err)
{
    if (!e->chains)
        e->chains = chains_new(e->images, map);
    if (!e->chains)
        return error_memory(err);
    bool known = resolved->kind != RESOLVED_UNKNOWN && resolved->probability >= e->options.min_confidence;
    const uint64_t *chain;
    size_t count;
    int rc =
        chains_find(e->chains, process, sample, known ? resolved->node : PATHMAP_NONE, &chain, &count, err);
    if (rc < 0)
        return rc;
    uint64_t sure = known ? (uint64_t)(resolved->probability * 100 + 0.5) : 0;
    return chained_sample(e->file, sample, chain, count, sure, err);
}

int perf_export_end(struct perf_export *e, const struct log *log, struct fathom_error *err)
{
    uint64_t left_out = e->chains ? chains_left_out(e->chains) : 0;
    if (left_out)
        log_write(
            log, LOG_WARNING,
            "%llu frames are left out of the call chains: their files were not mapped, or cannot be read",
            (unsigned long long)left_out);
    struct chained *file = e->file;
    e->file = NULL;
    return chained_close(file, err);
}

void perf_export_free(struct perf_export *e)
{
    if (!e)
        return;
    chained_discard(e->file);
    chains_free(e->chains);
    free(e);
}
