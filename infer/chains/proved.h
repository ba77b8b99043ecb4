/*
 * proved.h - the stacks that the samples' call chains prove, for all passes over a recording: found once, in a pass of
 * their own, as they depend on the mappings at each sample's time. Equal stacks are kept once.
 */
#ifndef FATHOM_INFER_CHAINS_PROVED_H
#define FATHOM_INFER_CHAINS_PROVED_H

#include "infer/chains/proof.h"
#include "perfdata/reader.h"

struct proved;

/* Reads the recording. *out is NULL if none of its events has call chains. images, calls and log are borrowed. */
int proved_read(struct reader *reader, struct image_cache *images, struct image_calls *calls,
                const struct log *log, struct proved **out, struct fathom_error *err);
void proved_free(struct proved *proved);
/* Gives a sample the stack that its chain proves, if any (prover_prove()). *at counts the samples of a pass, from 0: call
 * it for each of them, in order. The stack lives as long as `proved`. */
void proved_fill(const struct proved *proved, size_t *at, struct sample *sample);

#endif
