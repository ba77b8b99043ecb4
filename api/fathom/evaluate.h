/*
 * evaluate.h - how often inference is right, and how reliable its probabilities are: paths that it infers against the true ones.
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
    /* What is evaluated: the recording, a perf.data file or an archive, whose samples have copies of their stacks or call chains, or
     * need `truth`; else, if it names one, the target, which is recorded first; else the map: each context of the map `truth` is
     * looked up in it. */
    const char *recording;
    /* target.verify, if asked for: also of a recording, as if its stacks had been compared while it was made. target.stack_bytes: 0: 65528, unless there is `truth`. */
    struct fathom_target target;
    /* The file to record into; an old one is kept as FILE.old. NULL: a temporary one, in $TMPDIR or /tmp. */
    const char *output;
    /* Audit samples per second to infer from, FATHOM_AUDIT_DEFAULT; 0: by the map alone, also of a recording. */
    uint64_t audit_hz;
    const char *map;   /* a path map's file; NULL: none */
    const char *truth; /* a map trained on this very input; NULL: the samples' own stacks */
    const char *symfs; /* programs, libraries and debug files are looked for below it; NULL: "/" */
    bool no_automaton; /* contexts that training never saw are unknown */
    bool no_temporal;  /* each sample by itself, without what its thread did before and after */
    bool no_em;        /* do not learn path frequencies from ambiguous samples */
    bool stages;       /* with and without each stage of inference */
    uint64_t wrong;    /* show so many of the wrong contexts, the heaviest */
    enum fathom_evaluation_format format;
    FATHOM_RESERVED;
};

struct fathom_evaluation;

/* Makes a directory for an archive's files, as fathom_report_open() does, or opens the events and forks the command of a target, as
 * fathom_recorder_open() does. listener: may be NULL; borrowed until fathom_evaluation_close(). Errors: theirs; -ENOENT, -ENOTDIR:
 * symfs; -EINVAL: nothing to evaluate. */
FATHOM_API_MT_UNSAFE int fathom_evaluation_open(const struct fathom_evaluation_options *options,
                                                const struct fathom_listener *listener,
                                                struct fathom_evaluation **out, struct fathom_error *error);
/* What the calls below write; of a target, it is the output. */
FATHOM_API const struct fathom_writing *fathom_evaluation_writing(const struct fathom_evaluation *evaluation);
/* Records the target, as fathom_recorder_run() does; nothing is done without one. -EINVAL: the output is no regular file. */
FATHOM_API int fathom_evaluation_record(struct fathom_evaluation *evaluation, struct fathom_error *error);
/* Ends recording soon. */
FATHOM_API_AS_SAFE void fathom_evaluation_stop(struct fathom_evaluation *evaluation);
/* Then: infers and compares; once. With target.verify of a recording, by one thread of the process at a time. Errors: those of files;
 * -ENOMSG, -EBADMSG, -ENOTSUP: no recording or map, damaged, unsupported format; -ENOMSG: its true paths are not known; -ENOMEM. */
FATHOM_API_MT_UNSAFE int fathom_evaluation_run(struct fathom_evaluation *evaluation,
                                               struct fathom_error *error);
/* Then: whether files of another build were met. */
FATHOM_API bool fathom_evaluation_stale(const struct fathom_evaluation *evaluation);
/* Then: writes the results. Errors: of a failed write; -ENOMEM. */
FATHOM_API int fathom_evaluation_write(const struct fathom_evaluation *evaluation, FILE *out,
                                       struct fathom_error *error);
FATHOM_API void fathom_evaluation_close(struct fathom_evaluation *evaluation); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
