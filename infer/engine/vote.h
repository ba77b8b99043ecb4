/*
 * vote.h - the step that finds stack bases missing both in the recording's records and its dumps: by votes from the map's
 * heights, then from the binaries' code (../bases/).
 */
#ifndef FATHOM_INFER_ENGINE_VOTE_H
#define FATHOM_INFER_ENGINE_VOTE_H

#include "infer/engine/passes.h"
#include "infer/model/fit.h"

/* by_code: the binaries' code may vote too. Adds the number of bases found to *voted. 0 or negative. */
int vote_bases(const struct passes *passes, struct fit *fit, bool by_code, uint64_t *voted,
               struct fathom_error *err);

#endif
