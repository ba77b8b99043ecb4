/* evaluating.h - private to evaluate/: an evaluation and its results. */
#ifndef FATHOM_API_EVALUATE_EVALUATING_H
#define FATHOM_API_EVALUATE_EVALUATING_H

#include "api/archived.h"
#include "api/evaluate/path_names.h"
#include "api/fathom/evaluate.h"
#include "api/host.h"
#include "api/record/target.h"
#include "evaluate/evaluation.h"
#include "evaluate/replay.h"
#include "infer/engine/engine.h"
#include "report/views/inferences.h"

/* The results of one configuration of inference. */
struct stage {
    const char *name; /* "exact", "+ automaton", ... */
    struct engine_options options;
    struct score score;
};
#define STAGES_MAX 8

struct evaluate_result {
    struct stage stages[STAGES_MAX]; /* the last one has all requested parts */
    unsigned stage_count;
    bool maps; /* two maps were compared: CIDs were counted, not samples */
    uint64_t audit_samples;
    bool chains;   /* the truth comes from call chains */
    uint64_t lost; /* records, because the rings were full */
    bool replayed; /* the recording was treated like one whose stacks were compared: `replay` */
    struct replay replay;
    struct inferences inferences; /* of the last stage */
    struct verdict *wrong;        /* of the last stage, the heaviest first */
    size_t wrong_count;
    struct path_names *names; /* for these */
};

/* One configuration of inference. */
struct run {
    struct engine *engine;
    struct evaluation *evaluation;
};

struct fathom_evaluation {
    struct host host;
    struct fathom_evaluation_options options;
    struct archived *archived; /* the recording, unpacked; NULL: it is not an archive */
    const char *directory;     /* where it is unpacked; NULL: not an archive */
    struct fathom_writing writing;
    struct columns_file *file;        /* as of struct engine_options */
    bool given;                       /* the recording was not made here */
    char *temporary;                  /* the file that is recorded; NULL: the output, or none */
    struct collector_options collect; /* borrowed by the collector */
    struct collector *collector;      /* NULL: nothing is recorded */
    atomic_bool stop;
    struct image_cache *images;
    struct debuginfod *debuginfod;
    struct reader *reader;
    uint32_t event;
    struct pathmap *map, *truth_map; /* NULL: none */
    struct truth *truth;
    struct run run; /* the last one; the results refer to it */
    struct evaluate_result result;
    bool stale; /* an image of the recording has a different build in the map */
};

/* record.c: opens the events of the target and the file; records. */
int evaluate_record_open(struct fathom_evaluation *e, struct fathom_error *err);
int evaluate_record(struct fathom_evaluation *e, struct fathom_error *err);
void evaluate_run_close(struct run *run); /* a zero-initialised one is allowed */
/* stages.c: resolves the recording once per stage. */
int evaluate_stages(struct fathom_evaluation *e, struct fathom_error *err);
/* maps.c: compares the map with the truth map, without a recording. */
int evaluate_maps(struct fathom_evaluation *e, struct fathom_error *err);
/* Stores the requested number of heaviest wrong contexts in the result. map: the one that the answers refer to. */
int evaluate_wrong(struct fathom_evaluation *e, const struct pathmap *map, struct fathom_error *err);
/* text.c, json.c. 0, -ENOMEM or the errno of a failed write. */
int evaluate_write_text(const struct evaluate_result *result, FILE *out, struct fathom_error *err);
int evaluate_write_json(const struct evaluate_result *result, FILE *out, struct fathom_error *err);
extern const char *const category_names[CATEGORIES]; /* "precise", ... */

#endif
