/* train_options.h - what `fathom train` was asked to do. */
#ifndef FATHOM_CLI_TRAIN_OPTIONS_H
#define FATHOM_CLI_TRAIN_OPTIONS_H

#include "base/outfile.h"
#include "cli/target.h"

enum train_way {
    TRAIN_AUTO,   /* one of the others */
    TRAIN_PATCH,  /* every call, by hooks that the probe runtime patches into the program's memory */
    TRAIN_SLED,   /* the same, but only where the compiler left room for it */
    TRAIN_UPROBE, /* every call, by the kernel's uprobes */
    TRAIN_UNWIND, /* stack dumps, unwound */
};

struct train_options {
    struct fathom_target target;
    const char *output;
    struct outfile *out; /* where the map goes, open before the training */
    bool append;
    enum train_way way;
    bool sampling;               /* an option that only TRAIN_UNWIND has was given */
    struct option_images images; /* none: the default set of files */
    uint64_t samples;            /* --samples: stacks per second, alongside the calls; 0: none */
    bool samples_given;
};

#endif
