/*
 * certainty.h - what reports say of weight: whether its path is proved, inferred (with how sure), or unknown. What the
 * ICPP paper calls precise, ambiguous, incorrect and missing is said of a CID and its paths alone (evaluate/).
 */
#ifndef FATHOM_INFER_CONTEXTS_CERTAINTY_H
#define FATHOM_INFER_CONTEXTS_CERTAINTY_H

#include "infer/contexts/resolver.h"

enum certainty {
    CERTAINTY_PROVED, /* from its own stack or call chain, or from one with the same return addresses */
    CERTAINTY_INFERRED, /* from paths that other samples have, a map, or the code; also where just one is possible */
    CERTAINTY_UNKNOWN, /* there is no path */
    CERTAINTIES
};

extern const char *const certainty_names[CERTAINTIES]; /* "proved", ... */
enum certainty certainty_of(const struct resolved *resolved);

#endif
