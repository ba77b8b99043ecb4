#include "api/run.h"

int run_open(struct run *run, const char *recording, const char *map, struct fathom_error *err)
{
    static const struct engine_options options = {.learning = LEARN_DUMPS, .own_dumps = true};
    const struct event *events;
    *run = (struct run){.debuginfod = debuginfod_new(NULL)};
    run->images = image_cache_new(&(struct image_options){.debuginfod = run->debuginfod});
    run->engine = run->images ? engine_new(run->images, &options, NULL) : NULL;
    int rc = run->engine ? reader_open(recording, NULL, &run->reader, err) : error_memory(err);
    if (rc == 0)
        rc = reader_main_event(run->reader, NULL, &run->event, err);
    if (rc == 0) {
        reader_events(run->reader, &events);
        rc = metrics_of(&events[run->event], NULL, &run->metrics, err);
    }
    if (rc == 0 && map)
        rc = pathmap_open(map, &run->map, err);
    return rc;
}

int run_samples(struct run *run, resolve_sink *sink, void *context, struct fathom_error *err)
{
    const struct engine_input input = {run->reader, run->event, run->map, false};
    return engine_run(run->engine, &input, sink, context, err);
}

void run_close(struct run *run)
{
    engine_free(run->engine);
    image_cache_free(run->images);
    debuginfod_free(run->debuginfod);
    pathmap_close(run->map);
    reader_close(run->reader);
}
