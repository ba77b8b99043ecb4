/* evaluation.c - see fathom/evaluate.h. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/evaluate/evaluating.h"
#include "image/debuginfod.h"

static bool has_target(const struct fathom_target *target)
{
    return target->command || target->pids.count || target->tids.count;
}

int fathom_evaluation_open(const struct fathom_evaluation_options *options,
                           const struct fathom_listener *listener, struct fathom_evaluation **out,
                           struct fathom_error *err)
{
    struct fathom_evaluation *e = calloc(1, sizeof *e);
    if (!e)
        return error_memory(err);
    host_init(&e->host, listener);
    e->options = *options;
    e->given = options->recording;
    bool records = !options->recording && has_target(&options->target);
    bool maps = !options->recording && !records;
    int rc = maps ? 0 : archived_check_root(options->symfs, err);
    if (maps && !(options->map && options->truth))
        rc = error_set(err, EINVAL, "nothing to evaluate: name a recording, a target, or two maps");
    if (rc == 0 && options->recording)
        rc = archived_begin(options->recording, &e->archived, err);
    if (rc == 0 && !(e->file = columns_file_open()))
        rc = error_memory(err);
    if (rc == 0 && records)
        rc = evaluate_record_open(e, err);
    e->directory = archived_directory(e->archived);
    e->writing = (struct fathom_writing){&e->directory, 1, records ? e->options.recording : NULL, false};
    if (rc < 0)
        fathom_evaluation_close(e);
    else
        *out = e;
    return rc;
}

const struct fathom_writing *fathom_evaluation_writing(const struct fathom_evaluation *e)
{
    return &e->writing;
}

int fathom_evaluation_record(struct fathom_evaluation *e, struct fathom_error *err)
{
    return e->collector ? evaluate_record(e, err) : 0;
}

void fathom_evaluation_stop(struct fathom_evaluation *e)
{
    atomic_store(&e->stop, true);
}

int fathom_evaluation_run(struct fathom_evaluation *e, struct fathom_error *err)
{
    if (!e->options.recording)
        return evaluate_maps(e, err);
    int rc = archived_unpack(e->archived, err);
    return rc < 0 ? rc : evaluate_stages(e, err);
}

bool fathom_evaluation_stale(const struct fathom_evaluation *e)
{
    return e->stale;
}

int fathom_evaluation_write(const struct fathom_evaluation *e, FILE *out, struct fathom_error *err)
{
    return e->options.format == FATHOM_EVALUATION_JSON ? evaluate_write_json(&e->result, out, err)
                                                       : evaluate_write_text(&e->result, out, err);
}

void fathom_evaluation_close(struct fathom_evaluation *e)
{
    if (!e)
        return;
    evaluate_run_close(&e->run);
    path_names_free(e->result.names);
    free(e->result.wrong);
    truth_free(e->truth);
    pathmap_close(e->truth_map);
    pathmap_close(e->map);
    reader_close(e->reader);
    image_cache_free(e->images);
    debuginfod_free(e->debuginfod);
    replay_free(&e->result.replay);
    columns_file_close(e->file);
    archived_close(e->archived);
    collector_close(e->collector);
    if (e->temporary)
        unlink(e->temporary);
    free(e->temporary);
    free(e);
}
