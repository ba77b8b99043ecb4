/* perf_export.c - see perf_export.h. */
#include "api/report/perf_export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "api/report/certainty.h"
#include "perfdata/chained.h"
#include "profile/chain.h"

struct perf_export {
    struct perf_export_options options;
    struct image_cache *images;
    struct chained *file;
    struct chains *chains; /* NULL before the first sample */
    char *certainty;       /* path of the file with the frames; NULL: none */
    struct table *mapped;  /* PID and mappings of processes in which it is mapped, hashed */
};

static int write_certainty(struct perf_export *e, struct fathom_error *err)
{
    static const char suffix[] = PERF_CERTAINTY_SUFFIX;
    size_t length = strlen(e->options.path);
    char *path = malloc(length + sizeof suffix);
    e->mapped = table_new();
    if (!path || !e->mapped) {
        free(path);
        return error_memory(err);
    }
    memcpy(path, e->options.path, length);
    memcpy(path + length, suffix, sizeof suffix);
    int rc = certainty_write(path, err);
    if (rc == 0 && !(e->certainty = realpath(path, NULL)))
        rc = error_system(err, errno, "cannot find %s, which was just written", path);
    free(path);
    return rc;
}

static int copy_record(void *context, const struct record *record, struct fathom_error *err)
{
    struct perf_export *e = context;
    return chained_record(e->file, record, err);
}

int perf_export_begin(const struct perf_export_options *options, struct reader *reader, struct engine *engine,
                      uint32_t event, struct image_cache *images, struct perf_export **out,
                      struct fathom_error *err)
{
    struct perf_export *e = calloc(1, sizeof *e);
    if (!e) {
        outfile_close(options->file);
        return error_memory(err);
    }
    e->options = *options;
    e->images = images;
    const struct event *events;
    reader_events(reader, &events);
    int rc = options->certainty == PERF_CERTAINTY_FRAME ? write_certainty(e, err) : 0;
    if (rc < 0)
        outfile_close(options->file);
    struct chained_source source = {
        .event = &events[event], .command = reader_command(reader), .host = reader_host(reader)};
    source.tracing = reader_tracing_data(reader, &source.tracing_size);
    if (rc == 0)
        rc = chained_new(options->file, &source, &e->file, err);
    if (rc == 0)
        rc = engine_changes(engine, copy_record, e, err);
    if (rc < 0)
        perf_export_free(e);
    else
        *out = e;
    return rc;
}

/* Adds the frame that says how the path is known, outermost. */
static int add_certainty(struct perf_export *e, const struct process *process, const struct sample *sample,
                         enum certainty certainty, struct fathom_error *err)
{
    uint64_t address = certainty_address(certainty);
    if (!address)
        return 0;
    bool added;
    uint64_t state = process ? process_state(process) : 0;
    if (!table_put(e->mapped, hash_u64(state + ((uint64_t)sample->pid << 32)), &added))
        return error_memory(err);
    struct record mapping = certainty_mapping(e->certainty, sample->pid, sample->time);
    int rc = added ? chained_record(e->file, &mapping, err) : 0;
    return rc < 0 ? rc : chains_add(e->chains, address, err);
}

int perf_export_sample(struct perf_export *e, const struct pathmap *map, const struct process *process,
                       const struct sample *sample, const struct resolved *resolved, struct fathom_error *err)
{
    if (!e->chains)
        e->chains = chains_new(e->images, map);
    if (!e->chains)
        return error_memory(err);
    bool known = resolved->kind != RESOLVED_UNKNOWN && resolved->probability >= e->options.min_confidence;
    int rc = chains_find(e->chains, process, sample, known ? resolved->node : PATHMAP_NONE, err);
    if (rc == 0 && e->certainty)
        rc = add_certainty(e, process, sample, known ? certainty_of(resolved) : CERTAINTY_UNKNOWN, err);
    if (rc < 0)
        return rc;
    size_t count;
    const uint64_t *chain = chains_found(e->chains, &count);
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
    table_free(e->mapped);
    free(e->certainty);
    free(e);
}
