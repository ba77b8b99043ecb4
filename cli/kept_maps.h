/* kept_maps.h - the option --no-cache. */
#ifndef FATHOM_CLI_KEPT_MAPS_H
#define FATHOM_CLI_KEPT_MAPS_H

#include "api/kept_maps.h" /* for commands that do not work through libfathom yet */
#include "cli/options.h"

/* A row of a command's table of options, whose struct has a `bool no_cache`. */
#define KEPT_MAPS_NO_CACHE(type, text) OPTION_FLAG("no-cache", 0, type, no_cache, text)

#endif
