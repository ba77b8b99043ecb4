/*
 * common.h - shared by all of libfathom: errors, and messages to the caller.
 *
 * Functions return 0 or a negative errno. On failure `error`, if not NULL, holds one sentence: what failed, on what, and what to do. After
 * a success its contents mean nothing.
 * The library prints nothing, and never changes its caller's rights, signal handlers, environment or working directory.
 * Listeners are called by the thread that calls the library, unless a function says otherwise.
 */
#ifndef FATHOM_COMMON_H
#define FATHOM_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a function may be called, in the terms of attributes(7); race:object: one object by one thread at a time. */
#define FATHOM_API           __attribute__((visibility("default"))) /* MT-Safe race:object, AS-Unsafe */
#define FATHOM_API_AS_SAFE   FATHOM_API /* MT-Safe, AS-Safe: while another thread uses the object, too */
#define FATHOM_API_MT_UNSAFE FATHOM_API /* MT-Unsafe where its comment says so, AS-Unsafe */

/* The end of each structure of options, for options of later versions: must be 0, as defaults and initialisers leave it. */
#define FATHOM_RESERVED uint64_t reserved[8]

FATHOM_API_AS_SAFE const char *fathom_version(void);

#define FATHOM_ERROR_SIZE 512
#ifndef FATHOM_ERROR_DEFINED
#define FATHOM_ERROR_DEFINED
struct fathom_error {
    int code;                     /* a positive errno; 0: no error */
    char text[FATHOM_ERROR_SIZE]; /* one sentence, without a final newline */
};
#endif

enum fathom_level {
    FATHOM_DEBUG,  /* for developers of Fathom */
    FATHOM_NOTE,   /* a choice made for the user, e.g. a fallback event */
    FATHOM_WARNING /* the result is less than requested */
};

/* Receives all messages other than failures. Each function may be NULL. */
struct fathom_listener {
    /* text: a sentence, no newline. Names in it may be hostile to a terminal. */
    void (*say)(void *context, enum fathom_level level, const char *text);
    /* what: e.g. "resolving"; done and all are in the same, any unit; all 0: unknown. Called often. */
    void (*progress)(void *context, const char *what, uint64_t done, uint64_t all);
    /* Progress of work without a known end, as a whole line: "12 calls, 3 contexts". Called often. */
    void (*status)(void *context, const char *text);
    void *context;
    bool verbose; /* it shows FATHOM_DEBUG too, so that messages need not say how to see that */
};

/* Where an object will write, apart from a stream it is given and the user's caches (XDG_CACHE_HOME or ~/.cache, and
 * DEBUGINFOD_CACHE_PATH). For callers that give up rights first. Borrowed from the object. */
struct fathom_writing {
    const char *const *directories; /* it writes below these; NULL entries stand for nothing */
    size_t count;
    const char
        *output;   /* a file that was begun and is renamed into place later; others beside it. NULL: none */
    bool connects; /* makes TCP connections, even if DEBUGINFOD_URLS names no server */
};

/* A word that an option takes, and its meaning; help is NULL where the name is enough. Lists end with a NULL name. They have the same size
 * in all 1.x versions, as a program linked with a list may hold a copy of the size that the list had when it was linked. */
struct fathom_word {
    const char *name, *help;
};
#define FATHOM_WORDS 64

#ifdef __cplusplus
}
#endif

#endif
