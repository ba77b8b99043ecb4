/* train_options.h - what `fathom train` was asked to do. */
#ifndef FATHOM_CLI_TRAIN_OPTIONS_H
#define FATHOM_CLI_TRAIN_OPTIONS_H

#include "base/outfile.h"
#include "cli/target.h"

struct train_options {
    struct fathom_target target;
    const char *output;
    struct outfile *out; /* where the map goes, open before the training */
    bool append;
    enum fathom_train_way way;
    bool sampling;               /* an option that only FATHOM_TRAIN_UNWIND has was given */
    struct option_images images; /* none: the default set of files */
    uint64_t samples;            /* --samples: stacks per second, alongside the calls; 0: none */
    bool samples_given;
};

#endif
