/*
 * firefox_tables.h - the tables of the Firefox Profiler's format: numbered texts, files, frames and stacks. Private to
 * report/export/.
 */
#ifndef FATHOM_REPORT_EXPORT_FIREFOX_TABLES_H
#define FATHOM_REPORT_EXPORT_FIREFOX_TABLES_H

#include "base/hash.h"
#include "report/export/export.h"

#define FIREFOX_NONE UINT32_MAX

enum firefox_category { /* how a sample's path is known; the first is the default */
                        FIREFOX_UNKNOWN,
                        FIREFOX_PROVED,
                        FIREFOX_INFERRED,
                        FIREFOX_CATEGORIES
};

struct firefox_file {
    const char *name; /* in frames */
    uint32_t text;
};

struct firefox_frame {
    uint32_t item;
    enum firefox_category category;
};

struct firefox_stack {
    uint32_t prefix; /* the callers' stack, which has a smaller number; FIREFOX_NONE: outermost */
    uint32_t frame;
};

struct firefox_tables {
    struct names *texts;
    struct firefox_file *files;
    struct firefox_frame *frames;
    struct firefox_stack *stacks;
    size_t file_count, frame_count, stack_count;
    struct used_frames used;
    uint32_t *name_of;  /* text of each used frame, by its number */
    uint32_t *file_of;  /* file of each used frame; FIREFOX_NONE: none */
    uint32_t *stack_of; /* stack of each sample; FIREFOX_NONE: none */
};

/* -ENOMEM; clear it even then. */
int firefox_tables_make(const struct contexts *contexts, struct firefox_tables *out,
                        struct fathom_error *err);
void firefox_tables_clear(struct firefox_tables *tables);

#endif
