/*
 * session.h - a training session: the directory that the probe runtimes in the trained processes share with
 * `fathom train`, and the server of their mailbox (pathmap/wire/mail.h).
 *
 * The directory, mode 0700 below TMPDIR, contains the mailbox, the plans and the stores, and is removed with
 * the session. What the clients write is untrusted: a path is only a request; each file (device, inode) is
 * planned once.
 */
#ifndef FATHOM_PATHMAP_TRAIN_SESSION_H
#define FATHOM_PATHMAP_TRAIN_SESSION_H

#include <stdbool.h>

#include "image/cache.h"
#include "pathmap/train/plan.h"
#include "pathmap/wire/mail.h"
#include "pathmap/wire/recording.h"

#define SESSION_IMAGES_MAX 4096
#define SESSION_NOTES_MAX  256

struct session;

struct session_options {
    const char *const *names; /* hook images whose file names start with one of these; borrowed */
    size_t name_count;        /* 0: all but the C library, the loader and the probe runtime */
    bool sleds_only;          /* only hooks of kind PLAN_SLED */
    bool no_map;              /* if the session is killed, the next one must not make a map of it */
    struct recording recording;
    const char *output; /* absolute path of the map, for session_directory_adopt(); NULL: unknown */
    struct image_cache *images;
    const struct log *log; /* borrowed, as images */
};

/* What the processes of a training reported on programs that are not trained (mail.h), summed up. */
struct session_note {
    enum mail_note_kind kind;
    int detail;
    char path[sizeof((struct mail_note *)0)->path];
    uint64_t count; /* of processes, or executions */
};

struct session_notes {
    struct session_note all[SESSION_NOTES_MAX];
    size_t count;
    uint64_t lost; /* those without room */
};

/* Whether to hook the file, by its name. */
bool session_wants(const struct session_options *options, const char *path);
/* The session belongs to the calling thread: when that ends, for whatever reason, the clients notice at once.
 * System errors; -ENOSPC. */
int session_open(const struct session_options *options, struct session **out, struct fathom_error *err);
const char *session_directory(const struct session *session);
/* Answers one request; waits timeout_ms for it (less if a signal arrives). Returns whether there was one. */
bool session_serve(struct session *session, int timeout_ms);
/* With recording.on_request: lets hooks be put in, or taken out, soon. Initially they are out. */
void session_hooks(struct session *session, bool in);
/* What was not trained so far. */
const struct session_notes *session_notes(struct session *session);
/* Tells running processes to stop asking, and removes the directory. NULL is allowed. */
void session_close(struct session *session);

/* A requested image that was chosen for hooking. */
struct session_image {
    const char *path;
    const char *failure;      /* why there is no plan; NULL: there is one */
    struct plan_summary plan; /* empty without a plan */
};

size_t session_image_count(const struct session *session);
const struct session_image *session_image(const struct session *session, size_t index);

#endif
