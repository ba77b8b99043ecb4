/*
 * common.h - what all of libfathom shares: errors, and how it speaks to its caller.
 *
 * Functions return 0 or a negative errno; then `error`, if not NULL, holds one sentence: what failed, on what, what to do. After
 * a success it tells nothing.
 * Nothing is printed. The library never changes rights, signal handlers, environment or working directory of its caller.
 * A listener is told by the thread that calls the library, unless a function says otherwise.
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

/* Ends structures of options, for those of later versions: 0, as the defaults and initialisers leave it. */
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
    FATHOM_NOTE,   /* a choice made for the user, such as a fallback event */
    FATHOM_WARNING /* the result is less than requested */
};

/* Who is told of anything other than failures. Each function may be NULL. */
struct fathom_listener {
    /* text: a sentence, no newline. Names in it may be hostile to a terminal. */
    void (*say)(void *context, enum fathom_level level, const char *text);
    /* what: "resolving"; done of all, in any unit; all 0: unknown. Called often. */
    void (*progress)(void *context, const char *what, uint64_t done, uint64_t all);
    /* The same of what has no known end, as a whole line: "12 calls, 3 contexts". Called often. */
    void (*status)(void *context, const char *text);
    void *context;
    bool verbose; /* it shows FATHOM_DEBUG, too: nothing needs to refer to that */
};

/* What an object goes on to write, besides a stream that it is given and the user's caches (XDG_CACHE_HOME or ~/.cache, and
 * DEBUGINFOD_CACHE_PATH): for callers that give up rights before. Borrowed from the object. */
struct fathom_writing {
    const char *const *directories; /* what is below them; NULL among them: none */
    size_t count;
    const char *output; /* a file that is begun, and takes its place later, with some beside it. NULL: none */
    bool connects;      /* TCP connections are made, also where DEBUGINFOD_URLS names no server */
};

/* A word that an option takes, and what it means; help is NULL where the name says it. Lists end with a name of NULL. Their size is
 * that of all versions 1.x, as programs that are linked with a list may have a copy of as many bytes as it had then. */
struct fathom_word {
    const char *name, *help;
};
#define FATHOM_WORDS 64

#ifdef __cplusplus
}
#endif

#endif
