#include "api/report/perf_export.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "infer/contexts/certainty.h"
#include "api/report/script_chain.h"
#include "api/report/symbol_file.h"
#include "pathmap/map/partial.h"
#include "perfdata/chained.h"
#include "profile/chain.h"

static const struct symbol_room certainty_room = {0x2000, 0x1000}, functions_room = {0x3000, 0xd000};

/* A file with names of frames that are not code (symbol_file.h). */
struct names_file {
    char *path;           /* absolute; NULL: none */
    struct table *mapped; /* hashes of PID and mappings of processes in which it is mapped */
};

struct perf_export {
    struct perf_export_options options;
    struct image_cache *images;
    struct chained *file;
    struct chains *chains; /* NULL before the first sample */
    struct names_file certainty, functions;
    struct script_chain *scripts; /* NULL: there is no file for their names */
};

/* Writes a file with these names beside the recording. */
static int begin_names(const struct perf_export *e, const char *suffix, const char *const *names,
                       size_t count, struct names_file *out, struct fathom_error *err)
{
    char *path = NULL;
    out->mapped = table_new();
    if (!out->mapped || asprintf(&path, "%s%s", e->options.path, suffix) < 0)
        return error_memory(err);
    int rc = symbol_file_write(path, names, count, err);
    if (rc == 0 && !(out->path = realpath(path, NULL)))
        rc = error_system(err, errno, "cannot find %s, which was just written", path);
    free(path);
    return rc;
}

/* Maps a file in the sample's process, unless it was mapped there since the process's mappings last changed. */
static int map_names(const struct perf_export *e, const struct names_file *file,
                     const struct symbol_room *room, const struct process *process,
                     const struct sample *sample, struct fathom_error *err)
{
    bool added;
    const uint64_t state = process ? process_state(process) : 0;
    if (!table_put(file->mapped, hash_u64(state + ((uint64_t)sample->pid << 32)), &added))
        return error_memory(err);
    const struct record record = symbol_file_mapping(room, file->path, sample->pid, sample->time);
    return added ? chained_record(e->file, &record, err) : 0;
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
    static const char *const certainties[] = {"[inferred]", "[unknown context]"};
    struct perf_export *e = calloc(1, sizeof *e);
    if (!e) {
        outfile_close(options->file);
        return error_memory(err);
    }
    e->options = *options;
    e->images = images;
    const struct event *events;
    reader_events(reader, &events);
    int rc = options->certainty == FATHOM_CERTAINTY_FRAME
                 ? begin_names(e, PERF_CERTAINTY_SUFFIX, certainties, 2, &e->certainty, err)
                 : 0;
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

/* Adds an outermost frame that says how certain the path is; a proved path has none. */
static int add_certainty(struct perf_export *e, const struct process *process, const struct sample *sample,
                         enum certainty certainty, struct fathom_error *err)
{
    if (certainty == CERTAINTY_PROVED)
        return 0;
    const int rc = map_names(e, &e->certainty, &certainty_room, process, sample, err);
    return rc < 0 ? rc
                  : chains_add(e->chains,
                               symbol_file_address(&certainty_room, certainty == CERTAINTY_UNKNOWN), err);
}

static bool is_rooted(const struct pathmap *map, uint32_t node)
{
    uint32_t function = 0;
    bool known = node != PATHMAP_NONE;
    for (; node != PATHMAP_NONE; node = pathmap_node(map, node).parent)
        function = pathmap_node(map, node).function;
    return known && function < pathmap_function_count(map) &&
           !partial_is_image(pathmap_image(map, pathmap_function(map, function).image).path);
}

static int write_functions(struct perf_export *e, struct fathom_error *err)
{
    const char *const *names;
    const size_t count = script_chain_names(e->scripts, &names);
    return e->functions.path ? symbol_file_write(e->functions.path, names, count, err)
                             : begin_names(e, PERF_FUNCTIONS_SUFFIX, names, count, &e->functions, err);
}

/* Adds the functions that an interpreter runs. */
static int add_scripts(struct perf_export *e, const struct process *process, const struct sample *sample,
                       struct address_chain *chain, struct fathom_error *err)
{
    int rc = 0;
    if (!e->scripts) {
        e->scripts = script_chain_new(&functions_room);
        rc = e->scripts ? write_functions(e, err) : error_memory(err);
    }
    if (rc == 0)
        rc = map_names(e, &e->functions, &functions_room, process, sample, err);
    if (rc == 0 && script_chain_join(e->scripts, process, sample->script, chain, chain) < 0)
        rc = error_memory(err);
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
    const uint32_t node = known ? resolved->node : PATHMAP_NONE;
    int rc = chains_find(e->chains, process, sample, node, err);
    if (rc == 0 && e->certainty.path)
        rc = add_certainty(e, process, sample, known ? certainty_of(resolved) : CERTAINTY_UNKNOWN, err);
    struct address_chain chain = {.rooted = is_rooted(map, node)};
    chain.at = chains_found(e->chains, &chain.count);
    if (rc == 0 && e->options.scripts && sample->script && process)
        rc = add_scripts(e, process, sample, &chain, err);
    if (rc < 0)
        return rc;
    uint64_t sure = known ? (uint64_t)(resolved->probability * 100 + 0.5) : 0;
    return chained_sample(e->file, sample, chain.at, chain.count, sure, err);
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
    const int rc = chained_close(file, err);
    return rc == 0 && e->functions.path ? write_functions(e, err) : rc;
}

void perf_export_free(struct perf_export *e)
{
    if (!e)
        return;
    chained_discard(e->file);
    chains_free(e->chains);
    table_free(e->certainty.mapped);
    free(e->certainty.path);
    table_free(e->functions.mapped);
    free(e->functions.path);
    script_chain_free(e->scripts);
    free(e);
}
