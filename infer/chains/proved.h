/* proved.h - gives the samples of a recording, as they are read, the stacks that their call chains prove (proof.h). */
#ifndef FATHOM_INFER_CHAINS_PROVED_H
#define FATHOM_INFER_CHAINS_PROVED_H

#include "infer/chains/proof.h"

struct proved;

/* *out is NULL if no event has call chains. calls is borrowed. 0 or -ENOMEM. */
int proved_new(const struct event *events, size_t count, struct image_calls *calls, struct proved **out);
void proved_free(struct proved *proved);
/* Sets what the sample's chain proves. process: its state at the sample; NULL: unknown. The stack is valid until the next call. */
void proved_fill(struct proved *proved, const struct process *process, struct sample *sample);

#endif
