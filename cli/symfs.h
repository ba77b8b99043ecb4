/* symfs.h - the option --symfs, which report and evaluate share. */
#ifndef FATHOM_CLI_SYMFS_H
#define FATHOM_CLI_SYMFS_H

#include "cli/options.h"

/* A row of a command's table of options, whose struct has a `const char *symfs`. */
#define SYMFS_OPTION(type)                                                                                   \
    OPTION_TEXT("symfs", 0, "DIR", type, symfs, "look for programs, libraries and debug files below DIR")

/* A root that is not there would make every image one that cannot be read. */
int symfs_check(const char *directory, struct fathom_error *err);

#endif
