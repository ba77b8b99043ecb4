/* evaluate.h - declarations shared by the files of `fathom evaluate`. */
#ifndef FATHOM_CLI_EVALUATE_H
#define FATHOM_CLI_EVALUATE_H

#include "cli/archived.h"
#include "cli/path_names.h"
#include "cli/target.h"
#include "evaluate/evaluation.h"
#include "evaluate/replay.h"
#include "infer/engine/engine.h"
#include "report/views/inferences.h"

struct evaluate_options {
    struct fathom_target target;
    const char *map, *input, *output;
    const char *symfs;         /* NULL: none */
    struct archived *archived; /* the input, unpacked; NULL: it is a recording */
    const char *truth;         /* a map's file; NULL: unwound stacks */
    struct engine_options engine;
    uint64_t audit_hz;
    bool audit_given; /* by the user */
    uint64_t wrong;   /* how many wrong contexts to show */
    bool stages;      /* with and without each stage of inference */
    enum evaluate_format { EVALUATE_TEXT, EVALUATE_JSON } format;
};

/* The results of one configuration of inference. */
struct stage {
    const char *name; /* "exact", "+ automaton", ... */
    struct engine_options options;
    struct score score;
};
#define STAGES_MAX 8

struct evaluate_result {
    struct stage stages[STAGES_MAX]; /* the last one has everything that was asked for */
    unsigned stage_count;
    bool maps; /* two maps were compared: CIDs were counted, not samples */
    uint64_t audit_samples;
    bool chains;   /* the truth comes from call chains */
    uint64_t lost; /* records, because the rings were full */
    bool replayed; /* the recording is taken for one whose stacks were compared: `replay` */
    struct replay replay;
    struct inferences inferences; /* of the last stage */
    struct verdict *wrong;        /* of the last stage, the heaviest first */
    size_t wrong_count;
    struct path_names *names; /* for these */
};

/* evaluate_stages.c: resolves the recording once per stage and prints the results. *stale: an image of the
 * recording has a different build in the map. */
int evaluate_stages(const struct evaluate_options *options, const char *recording, struct terminal *terminal,
                    bool *stale, struct fathom_error *err);
/* evaluate_maps.c: compares the map with the truth map, without a recording. */
int evaluate_maps(const struct evaluate_options *options, struct fathom_error *err);
/* Stores the heaviest wrong contexts, as many as were asked for, in the result. map: the one that the answers
 * refer to. */
int evaluate_wrong(const struct evaluate_options *options, struct evaluation *evaluation,
                   const struct truth *truth, const struct pathmap *map, struct evaluate_result *result,
                   struct fathom_error *err);
/* Prints the result in the format that the options ask for. */
int evaluate_write(const struct evaluate_options *options, const struct evaluate_result *result,
                   struct fathom_error *err);
/* evaluate_text.c, evaluate_json.c. 0, -ENOMEM or the errno of a failed write. */
int evaluate_write_text(const struct evaluate_result *result, FILE *out, struct fathom_error *err);
int evaluate_write_json(const struct evaluate_result *result, FILE *out, struct fathom_error *err);
extern const char *const category_names[CATEGORIES]; /* "precise", ... */

#endif
