/*
 * error.h - how functions report errors.
 *
 * A function that can fail returns 0 or a negative errno and, on failure, leaves one clear sentence in the
 * caller's error object: what failed, on which file or PID, what to do. The errno also determines the exit
 * code of the command line (cli/exit.h). An error object may be NULL if the caller needs only the code.
 */
#ifndef FATHOM_BASE_ERROR_H
#define FATHOM_BASE_ERROR_H

#define ERROR_TEXT_SIZE 512

/* The same as in api/fathom/common.h, which programs outside see. */
#ifndef FATHOM_ERROR_DEFINED
#define FATHOM_ERROR_DEFINED
struct fathom_error {
    int code;                   /* a positive errno; 0: no error */
    char text[ERROR_TEXT_SIZE]; /* one sentence, without a final newline */
};
#endif

/* Fills *err (unless NULL) and returns -code, so that a caller can `return error_set(err, EINVAL, ...)`. code
 * is a positive errno. */
int error_set(struct fathom_error *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The same for a failed system call: appends ": " and the text of errno `code`. */
int error_system(struct fathom_error *err, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Out of memory: sets the message without allocating. Returns -ENOMEM. */
int error_memory(struct fathom_error *err);

#endif
