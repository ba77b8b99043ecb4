/* diff.h - how contexts and functions changed between two recordings, or two groups of recordings. */
#ifndef FATHOM_DIFF_H
#define FATHOM_DIFF_H

#include "report.h"

#ifdef __cplusplus
extern "C" {
#endif

FATHOM_API extern const struct fathom_word fathom_diff_formats[FATHOM_WORDS]; /* the first is the default */

/* Texts and lists are borrowed until fathom_diff_close(). Set them by fathom_diff_defaults() first. */
struct fathom_diff_options {
    const char
        *sides[2]; /* files, separated by commas: recordings, archives of them, or saved trees; of a store:
                      "all", or a selection: "build=1f3a", "host=web1,since=2d,until=1d" */
    /* The part of the selection that both sides share, for a store (store.h); its hosts take the place of recordings. NULL: files. */
    const struct fathom_store_selection *store;
    struct fathom_profile_options profile; /* for recordings; phi is not used */
    /* The file to write, which is replaced once the output is complete; "-": standard output. NULL: the stream given to
     * fathom_diff_write(). */
    const char *output;
    const char *format; /* of fathom_diff_formats; NULL: the default */
    double min_percent; /* leave out what weighs less on average over both sides */
    bool absolute;      /* compare weights, not shares of each recording's weight */
    bool all;           /* also show changes that may be chance */
    bool colour;
    size_t width; /* columns of a line, to which long names are shortened; 0: unlimited */
    FATHOM_RESERVED;
};

struct fathom_diff;

FATHOM_API void fathom_diff_defaults(struct fathom_diff_options *options);
/* Opens everything that may need rights, as fathom_report_open() does. listener: may be NULL; borrowed until fathom_diff_close().
 * Errors: -EINVAL: an option, or the output would overwrite an input; file errors. */
FATHOM_API_MT_UNSAFE int fathom_diff_open(const struct fathom_diff_options *options,
                                          const struct fathom_listener *listener, struct fathom_diff **out,
                                          struct fathom_error *error);
/* What the calls below write, apart from a stream. */
FATHOM_API const struct fathom_writing *fathom_diff_writing(const struct fathom_diff *diff);
/* Reads all recordings and infers their contexts. Call it once. Errors: as fathom_report_run(); -EINVAL: the recordings count different
 * things; -ENOMSG: one has no sample to compare. */
FATHOM_API int fathom_diff_run(struct fathom_diff *diff, struct fathom_error *error);
/* Writes the difference to the output, or else to this stream. Call it once, after fathom_diff_run(). */
FATHOM_API int fathom_diff_write(struct fathom_diff *diff, FILE *stream, struct fathom_error *error);
/* After fathom_diff_run(): whether files of another build were found, whose contents could not be used. */
FATHOM_API bool fathom_diff_stale(const struct fathom_diff *diff);
/* NULL is allowed. An output that was not written is left unchanged. */
FATHOM_API void fathom_diff_close(struct fathom_diff *diff);

#ifdef __cplusplus
}
#endif

#endif
