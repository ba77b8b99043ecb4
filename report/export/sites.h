/*
 * sites.h - the paths of contexts as profiles of other tools have them: a list of places, each a function or a line in it, from the leaf
 * outwards; and what ran them, by name. Private to report/export/.
 */
#ifndef FATHOM_REPORT_EXPORT_SITES_H
#define FATHOM_REPORT_EXPORT_SITES_H

#include "base/hash.h"
#include "profile/levels.h"
#include "report/export/export.h"

/* A function, or a line in it: numbers of used frames. */
struct site {
    uint32_t frame;
    uint32_t line; /* SITE_NO_LINE: none is known */
};

#define SITE_NO_LINE UINT32_MAX

struct sites {
    const struct contexts *contexts;
    const struct used_frames *used;
    struct table *numbers; /* a site -> its number in `at`, plus 1 */
    struct site *at;
    size_t count, capacity;
    uint64_t *path; /* of sites_path(): numbers in `at`, plus 1 */
    size_t length, path_capacity;
};

/* Both are borrowed. -ENOMEM. */
int sites_begin(struct sites *sites, const struct contexts *contexts, const struct used_frames *used,
                struct fathom_error *err);
void sites_clear(struct sites *sites);
/* Makes `path` that of a context. Returns its innermost level, or else the root; NULL: out of memory. */
const struct cct_node *sites_path(struct sites *sites, const struct cct_node *node);
/* How the function of a site is called. */
const char *site_name(const struct sites *sites, const struct site *site);
/* Of the line's frame, whose `source` and `address` are its file and number. NULL: none is known. */
const struct frame *site_line(const struct sites *sites, const struct site *site);

/* What a level says of those who ran a path. */
struct level_label {
    const char *key; /* "comm" */
    char *text;
};

/* Of a level and those above it, but processes and threads. Returns their number; -ENOMEM. */
int level_labels(const struct contexts *contexts, const struct cct_node *level,
                 struct level_label labels[LEVELS]);
void level_labels_clear(struct level_label *labels, int count);

#endif
