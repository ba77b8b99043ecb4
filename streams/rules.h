/*
 * rules.h - hot streams (hot.h) as the rules of a grammar (sequitur.h), as in Chilimbi and Hirzel, Dynamic Hot
 * Data Stream Prefetching, PLDI 2002, figure 5: as long as what repeats, so these are shown. Rules depend on
 * everything before them, so a sample of a trace has other rules than the whole: traces are compared by scan.h.
 */
#ifndef FATHOM_STREAMS_RULES_H
#define FATHOM_STREAMS_RULES_H

#include "streams/hot.h"
#include "streams/sequitur.h"

/* Adds the hottest streams that cover the share, and adds the grammar's symbols without breaks to the total. A
 * trace of any length can be processed in pieces, each with a grammar of its own. -ENOMEM. */
int rules_add(struct hot_profile *profile, const struct sequitur *grammar, const struct hot_options *options);

#endif
