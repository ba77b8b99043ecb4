/*
 * train.h - what the ways of `fathom train` share: its options, and reading and writing the map.
 */
#ifndef FATHOM_CLI_TRAIN_H
#define FATHOM_CLI_TRAIN_H

#include "cli/target.h"
#include "pathmap/trie.h"
#include "perfdata/order.h"

enum train_way {
    TRAIN_AUTO,   /* one of the others */
    TRAIN_PATCH,  /* every call, by hooks that the probe runtime patches into the program's memory */
    TRAIN_SLED,   /* the same, but only where the compiler left room for it */
    TRAIN_UPROBE, /* every call, by the kernel's uprobes */
    TRAIN_UNWIND, /* stack dumps, unwound */
};

struct train_options {
    struct target target;
    const char *output;
    bool append;
    enum train_way way;
    bool sampling;            /* an option was given that only TRAIN_UNWIND has */
    const char *const *names; /* --image: prefixes of file names, without directories */
    size_t name_count;        /* 0: the default choice */
};

/* Each trains and writes the map; returns an exit code, with everything said. */
int train_unwind(const struct train_options *options, struct terminal *terminal);
int train_patch(const struct train_options *options, struct terminal *terminal);
int train_uprobe(const struct train_options *options, struct terminal *terminal);

/* The way for a command where none was asked for, with a line that says which and why. */
int train_choose(const struct train_options *options, struct terminal *terminal, enum train_way *way,
                 struct fathom_error *err);

/* --append: the map as it is so far, opened before the training so that a damaged one stops it; *old is NULL
 * without --append or where there is none yet. The caller closes it. */
int train_open_map(const struct train_options *options, struct pathmap **old, struct fathom_error *err);
/* The collector's records, put in order of time. */
int train_order(struct order *order, const void *records, size_t size, struct fathom_error *err);

#endif
