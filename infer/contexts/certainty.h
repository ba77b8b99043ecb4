/*
 * certainty.h - how certain a sample's path is, as reports show it: proved, inferred (and how probable), or unknown. The ICPP
 * paper's terms precise, ambiguous, incorrect and missing are used only for a CID and its paths (evaluate/).
 */
#ifndef FATHOM_INFER_CONTEXTS_CERTAINTY_H
#define FATHOM_INFER_CONTEXTS_CERTAINTY_H

#include "infer/contexts/resolver.h"

enum certainty {
    CERTAINTY_PROVED,   /* from its own stack or call chain, or from a stack with the same return addresses */
    CERTAINTY_INFERRED, /* from other samples' paths, a map, or the code, even if only one path is possible */
    CERTAINTY_UNKNOWN,  /* it has no path */
    CERTAINTIES
};

extern const char *const certainty_names[CERTAINTIES]; /* "proved", ... */
enum certainty certainty_of(const struct resolved *resolved);

#endif
