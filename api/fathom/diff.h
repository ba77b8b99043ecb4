/* diff.h - what changed between two recordings, or between several each: contexts and functions. */
#ifndef FATHOM_DIFF_H
#define FATHOM_DIFF_H

#include "report.h"

#ifdef __cplusplus
extern "C" {
#endif

FATHOM_API extern const struct fathom_word fathom_diff_formats[FATHOM_WORDS]; /* the first is the default */

/* Texts and lists are borrowed until fathom_diff_close(). Set them by fathom_diff_defaults() first. */
struct fathom_diff_options {
    const char *sides
        [2]; /* a file, or several with commas between: recordings, archives of them, or saved trees; of a
                      store "all", or words that choose: "build=1f3a", "host=web1,since=2d,until=1d" */
    /* What both sides have in common of a store (store.h), whose hosts are what recordings are otherwise; NULL: files. */
    const struct fathom_store_selection *store;
    struct fathom_profile_options profile; /* of recordings, without phi */
    /* The file to write, "-" for standard output; it is replaced when all is written. NULL: the stream that fathom_diff_write() gets. */
    const char *output;
    const char *format; /* of fathom_diff_formats; NULL: the default */
    double min_percent; /* what weighs less, on average of both sides, is not compared */
    bool absolute;      /* compare weights of a recording, not shares of its weight */
    bool all;           /* show also what changed by no more than chance */
    bool colour;
    size_t width; /* of a line, in columns: longer names are shortened; 0: any */
    FATHOM_RESERVED;
};

struct fathom_diff;

FATHOM_API void fathom_diff_defaults(struct fathom_diff_options *options);
/* Opens what may need rights, as fathom_report_open() does. listener: may be NULL; borrowed until fathom_diff_close(). Errors:
 * -EINVAL: an option, or an output that would replace what is read; those of files. */
FATHOM_API_MT_UNSAFE int fathom_diff_open(const struct fathom_diff_options *options,
                                          const struct fathom_listener *listener, struct fathom_diff **out,
                                          struct fathom_error *error);
/* What the calls below write, besides a stream. */
FATHOM_API const struct fathom_writing *fathom_diff_writing(const struct fathom_diff *diff);
/* Reads all recordings, and infers their contexts; once. Errors: as fathom_report_run(); -EINVAL: they count different things;
 * -ENOMSG: one has no sample to compare. */
FATHOM_API int fathom_diff_run(struct fathom_diff *diff, struct fathom_error *error);
/* Then: writes the difference, to its output or else to this stream; once. */
FATHOM_API int fathom_diff_write(struct fathom_diff *diff, FILE *stream, struct fathom_error *error);
/* Then: whether files of another build were met, so that what they would tell is unknown. */
FATHOM_API bool fathom_diff_stale(const struct fathom_diff *diff);
/* NULL is allowed. An output that was not written is as it was. */
FATHOM_API void fathom_diff_close(struct fathom_diff *diff);

#ifdef __cplusplus
}
#endif

#endif
