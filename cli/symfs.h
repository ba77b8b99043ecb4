/* symfs.h - the option --symfs. */
#ifndef FATHOM_CLI_SYMFS_H
#define FATHOM_CLI_SYMFS_H

#include "api/symfs.h" /* for commands that do not work through libfathom yet */
#include "cli/options.h"

/* A row of a command's table of options; its struct's member is `symfs` where none is named. */
#define SYMFS_OPTION(type) SYMFS_OPTION_AT(type, symfs)
#define SYMFS_OPTION_AT(type, member)                                                                        \
    OPTION_TEXT("symfs", 0, "DIR", type, member, "look for programs, libraries and debug files below DIR")

#endif
