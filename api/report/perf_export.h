/*
 * perf_export.h - `fathom report --format perf`: writes the recording again, each sample with the most probable path as its call
 * chain, and its probability in percent as its weight (PERF_SAMPLE_WEIGHT).
 */
#ifndef FATHOM_API_REPORT_PERF_EXPORT_H
#define FATHOM_API_REPORT_PERF_EXPORT_H

#include "api/fathom/report.h"
#include "base/outfile.h"
#include "image/cache.h"
#include "infer/engine/engine.h"

struct perf_export;

/* Suffixes of the files with names of frames, added to the output's name. */
#define PERF_CERTAINTY_SUFFIX ".certainty"
#define PERF_FUNCTIONS_SUFFIX ".functions"

struct perf_export_options {
    const char *path;     /* of the file, for messages and for PATH.certainty */
    struct outfile *file; /* opened by outfile_open(); perf_export_begin() takes it, even if it fails */
    enum fathom_certainty_shown certainty; /* FATHOM_CERTAINTY_FRAME needs a file */
    double min_confidence;                 /* paths less probable are unknown */
    bool scripts;                          /* show the functions that an interpreter runs: needs a file */
};

/* Writes the records of processes; for FATHOM_CERTAINTY_FRAME also PATH.certainty, and at the first function of a script
 * PATH.functions, where readers find the frames' names. path, reader and images are borrowed. engine: must have read the recording. */
int perf_export_begin(const struct perf_export_options *options, struct reader *reader, struct engine *engine,
                      uint32_t event, struct image_cache *images, struct perf_export **out,
                      struct fathom_error *err);
/* map: always the same. */
int perf_export_sample(struct perf_export *out, const struct pathmap *map, const struct process *process,
                       const struct sample *sample, const struct resolved *resolved,
                       struct fathom_error *err);
/* Completes the file. */
int perf_export_end(struct perf_export *out, const struct log *log, struct fathom_error *err);
/* NULL is allowed. Without perf_export_end() the file is dropped. */
void perf_export_free(struct perf_export *out);

#endif
