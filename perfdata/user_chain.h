/*
 * user_chain.h - the user part of a sample's call chain, whose parts are separated by PERF_CONTEXT_ markers: the PC first, then
 * return addresses, from the innermost frame outwards.
 *
 * The kernel writes a marker before every part (get_perf_callchain()). In a chain without one, from other tools, the first part
 * belongs to the sample's mode; if that is unknown, to the user, as in perf's tools (thread__resolve_callchain_sample()).
 */
#ifndef FATHOM_PERFDATA_USER_CHAIN_H
#define FATHOM_PERFDATA_USER_CHAIN_H

#include "perfdata/sample.h"

struct user_chain {
    const struct sample *sample;
    uint32_t next; /* index in the chain */
    bool user;     /* it is in the user part, unless it is a marker */
};

/* A sample without a call chain has no addresses. */
struct user_chain user_chain_begin(const struct sample *sample);
/* The next address. false: there is none. */
bool user_chain_next(struct user_chain *chain, uint64_t *address);

#endif
