/* symfs.h - the option --symfs. */
#ifndef FATHOM_CLI_SYMFS_H
#define FATHOM_CLI_SYMFS_H

#include "cli/options.h"

/* A row of a command's table of options. */
#define SYMFS_OPTION(type, member)                                                                           \
    OPTION_TEXT("symfs", 0, "DIR", type, member, "look for programs, libraries and debug files below DIR")

#endif
