/* resolving.h - what other parts of libfathom need of an open resolver. */
#ifndef FATHOM_API_RESOLVE_RESOLVING_H
#define FATHOM_API_RESOLVE_RESOLVING_H

#include "api/fathom/resolve.h"
#include "pathmap/map/pathmap.h"

const struct pathmap *resolving_map(const struct fathom_resolver *resolver);

#endif
