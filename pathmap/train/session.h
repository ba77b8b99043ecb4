/*
 * session.h - a training session: the directory that the probe runtimes of the trained processes share with
 * `fathom train`, and the server of their mailbox (pathmap/wire/mail.h).
 *
 * The directory, mode 0700 below TMPDIR, holds the mailbox, the plans and the stores, and goes with the
 * session. What the clients write is hostile: a path is a question, no more; each file (device, inode) is
 * planned once.
 */
#ifndef FATHOM_PATHMAP_TRAIN_SESSION_H
#define FATHOM_PATHMAP_TRAIN_SESSION_H

#include <stdbool.h>

#include "image/cache.h"
#include "pathmap/train/plan.h"
#include "pathmap/train/session_notes.h"

#define SESSION_IMAGES_MAX 4096

struct session;

struct session_options {
    const char *const *names; /* hook images whose file name begins with one of these; borrowed */
    size_t name_count;        /* 0: all but the C library, the loader and the probe runtime */
    bool sleds_only;          /* no hooks but PLAN_SLED */
    const char *output;       /* of the map, a whole path, for session_directory_adopt(); NULL: not told */
    struct image_cache *images;
    const struct log *log; /* borrowed, as images */
};

/* Whether the file is one to hook, by its name. */
bool session_wants(const struct session_options *options, const char *path);
/* The session belongs to the calling thread: when this one ends, however it does, the clients know at once.
 * System errors; -ENOSPC. */
int session_open(const struct session_options *options, struct session **out, struct fathom_error *err);
const char *session_directory(const struct session *session);
/* Answers one request; waits timeout_ms for it (less when a signal comes). Whether there was one. */
bool session_serve(struct session *session, int timeout_ms);
/* What was not trained, up to now. */
const struct session_notes *session_notes(struct session *session);
/* Tells processes that still run to ask no more, and removes the directory. NULL is allowed. */
void session_close(struct session *session);

/* An image that was asked for and chosen. */
struct session_image {
    const char *path;
    const char *failure;      /* why there is no plan; NULL: there is one */
    struct plan_summary plan; /* empty without a plan */
};

size_t session_image_count(const struct session *session);
const struct session_image *session_image(const struct session *session, size_t index);

#endif
