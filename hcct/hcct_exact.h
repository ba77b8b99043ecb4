/* hcct_exact.h - counting where a new node begins at `unseen`, so that it needs no test: hcct_data.h. */
#ifndef FATHOM_HCCT_HCCT_EXACT_H
#define FATHOM_HCCT_HCCT_EXACT_H

#include "hcct/hcct_data.h"

int hcct_exact_add(struct hcct *h, struct cct_node *node, const uint64_t *values);
int hcct_exact_feed(struct hcct *h, const uint32_t *events, const uint32_t *weights, size_t count,
                    size_t *done);

#endif
