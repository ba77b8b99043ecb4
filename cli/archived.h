/* archived.h - for commands that do not work through libfathom yet. */
#ifndef FATHOM_CLI_ARCHIVED_H
#define FATHOM_CLI_ARCHIVED_H

#include "api/archived.h"

#endif
