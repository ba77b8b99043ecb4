/*
 * sites.h - converts the paths of contexts for other tools: to a list of sites, each a function or a line in it, from the leaf outwards, and
 * labels for who ran them. Private to report/export/.
 */
#ifndef FATHOM_REPORT_EXPORT_SITES_H
#define FATHOM_REPORT_EXPORT_SITES_H

#include "base/hash.h"
#include "profile/levels.h"
#include "report/export/export.h"

/* A function, or a line in it: numbers of used frames. */
struct site {
    uint32_t frame;
    uint32_t line; /* SITE_NO_LINE: unknown */
};

#define SITE_NO_LINE UINT32_MAX

struct sites {
    const struct contexts *contexts;
    const struct used_frames *used;
    struct table *numbers; /* site -> its index in `at`, plus 1 */
    struct site *at;
    size_t count, capacity;
    uint64_t *path; /* result of sites_path(): indexes in `at`, plus 1 */
    size_t length, path_capacity;
};

/* Borrows contexts and used. -ENOMEM. */
int sites_begin(struct sites *sites, const struct contexts *contexts, const struct used_frames *used,
                struct fathom_error *err);
void sites_clear(struct sites *sites);
/* Sets `path` to that of a context. Returns its innermost level, or else the root; NULL: out of memory. */
const struct cct_node *sites_path(struct sites *sites, const struct cct_node *node);
/* The name of a site's function. */
const char *site_name(const struct sites *sites, const struct site *site);
/* The frame of the site's line, whose `source` and `address` are the file and the line number. NULL: unknown. */
const struct frame *site_line(const struct sites *sites, const struct site *site);

/* What a level says about who ran a path. */
struct level_label {
    const char *key; /* "comm" */
    char *text;
};

/* Labels of a level and those above it, except processes and threads. Returns their number; -ENOMEM. */
int level_labels(const struct contexts *contexts, const struct cct_node *level,
                 struct level_label labels[LEVELS]);
void level_labels_clear(struct level_label *labels, int count);

#endif
