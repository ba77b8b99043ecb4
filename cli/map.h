/* map.h - the parts of `fathom map`: path map files (map.c), and the maps that recordings keep (map_cache.c). */
#ifndef FATHOM_CLI_MAP_H
#define FATHOM_CLI_MAP_H

#include "base/error.h"

/* `fathom map cache list|clear|path`. -EINVAL: another verb. */
int map_cache_command(const char *verb, struct fathom_error *err);

#endif
