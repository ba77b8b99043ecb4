/* run.h - opens a recording and runs the engine over its main event, for functions of libfathom. */
#ifndef FATHOM_API_RUN_H
#define FATHOM_API_RUN_H

#include "image/debuginfod.h"
#include "infer/engine/engine.h"
#include "profile/metric.h"

struct run {
    struct debuginfod *debuginfod;
    struct image_cache *images;
    struct engine *engine;
    struct reader *reader;
    struct pathmap *map; /* NULL: none was given */
    uint32_t event;
    struct metrics metrics;
};

/* Opens both files; map may be NULL. Call run_close() even after an error. */
int run_open(struct run *run, const char *recording, const char *map, struct fathom_error *err);
int run_samples(struct run *run, resolve_sink *sink, void *context, struct fathom_error *err);
void run_close(struct run *run);

#endif
