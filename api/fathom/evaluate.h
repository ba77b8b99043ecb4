/*
 * evaluate.h - measures how often inference is right, and how reliable its probabilities are, by comparing inferred with true paths.
 */
#ifndef FATHOM_EVALUATE_H
#define FATHOM_EVALUATE_H

#include "record.h"

#ifdef __cplusplus
extern "C" {
#endif

enum fathom_evaluation_format { FATHOM_EVALUATION_TEXT, FATHOM_EVALUATION_JSON };

/* Pointers are borrowed until fathom_evaluation_close(). */
struct fathom_evaluation_options {
    /* What is evaluated: the recording (a perf.data file or an archive), if not NULL; its samples must have copies of their stacks or
     * call chains, unless `truth` is given. Else the target, if it names one, which is recorded first. Else the map: each context of the
     * map `truth` is looked up in it. */
    const char *recording;
    /* If target.verify is asked for, a recording is evaluated as if its stacks had been compared while it was made. target.stack_bytes:
     * 0 means 65528, unless there is `truth`. */
    struct fathom_target target;
    /* The file to record into; an existing one is renamed to FILE.old. NULL: a temporary file in $TMPDIR or /tmp. */
    const char *output;
    /* Audit samples per second to infer from, or FATHOM_AUDIT_DEFAULT; 0: infer by the map alone, also with a recording. */
    uint64_t audit_hz;
    const char *map;   /* a path map file; NULL: none */
    const char *truth; /* a map trained on this same input; NULL: the samples' own stacks are the truth */
    const char *symfs; /* root directory of programs, libraries and debug files; NULL: "/" */
    bool no_automaton; /* leave contexts that training never saw unknown */
    bool no_temporal;  /* infer each sample by itself, ignoring what its thread did before and after */
    bool no_em;        /* do not learn path frequencies from ambiguous samples */
    bool stages;       /* compare results with and without each stage of inference */
    uint64_t wrong;    /* number of wrong contexts to show, the heaviest first */
    enum fathom_evaluation_format format;
    FATHOM_RESERVED;
};

struct fathom_evaluation;

/* Makes a directory for an archive's files as fathom_report_open() does, or opens the events and forks the command of a target as
 * fathom_recorder_open() does. listener: may be NULL; borrowed until fathom_evaluation_close(). Errors: as those two; -ENOENT,
 * -ENOTDIR: symfs; -EINVAL: nothing to evaluate. */
FATHOM_API_MT_UNSAFE int fathom_evaluation_open(const struct fathom_evaluation_options *options,
                                                const struct fathom_listener *listener,
                                                struct fathom_evaluation **out, struct fathom_error *error);
/* What the calls below write: for a target, the output. */
FATHOM_API const struct fathom_writing *fathom_evaluation_writing(const struct fathom_evaluation *evaluation);
/* Records the target as fathom_recorder_run() does; without a target it does nothing. -EINVAL: the output is not a regular file. */
FATHOM_API int fathom_evaluation_record(struct fathom_evaluation *evaluation, struct fathom_error *error);
/* Ends recording soon. */
FATHOM_API_AS_SAFE void fathom_evaluation_stop(struct fathom_evaluation *evaluation);
/* Infers the paths and compares them. Call it once, after fathom_evaluation_record(); with target.verify and a recording, by one thread
 * of the process at a time. Errors: file errors; -ENOMSG, -EBADMSG, -ENOTSUP: not a recording or map, damaged, unsupported format;
 * -ENOMSG: the true paths are unknown; -ENOMEM. */
FATHOM_API_MT_UNSAFE int fathom_evaluation_run(struct fathom_evaluation *evaluation,
                                               struct fathom_error *error);
/* After fathom_evaluation_run(): whether files of another build were found. */
FATHOM_API bool fathom_evaluation_stale(const struct fathom_evaluation *evaluation);
/* Writes the results, after fathom_evaluation_run(). Errors: those of a failed write; -ENOMEM. */
FATHOM_API int fathom_evaluation_write(const struct fathom_evaluation *evaluation, FILE *out,
                                       struct fathom_error *error);
FATHOM_API void fathom_evaluation_close(struct fathom_evaluation *evaluation); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
