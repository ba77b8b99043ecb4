/*
 * evidence.h - the callers of a sample's function as its call chain or its branch stack tells them.
 */
#ifndef FATHOM_INFER_MODEL_EVIDENCE_H
#define FATHOM_INFER_MODEL_EVIDENCE_H

#include "infer/contexts/resolver.h"

#define EVIDENCE_CALLERS 24 /* of the innermost ones are kept */

struct evidence {
    uint32_t callers[EVIDENCE_CALLERS]; /* functions of the map, from the inside out */
    uint32_t count;
};

/* Of a branch stack when there is one (calls whose return it does not hold), else of the user's part of the
 * call chain. Callers that the map does not know are left out. */
void evidence_of(struct evidence *out, struct resolver *resolver, const struct process *process,
                 const struct sample *sample);

#endif
