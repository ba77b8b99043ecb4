/*
 * user_chain.h - the user's part of a sample's call chain, whose parts are told apart by PERF_CONTEXT_ markers: the PC
 * first, then return addresses, from the innermost frame outwards.
 *
 * The kernel writes a marker ahead of every part (get_perf_callchain()). Of a chain without one, which other tools make,
 * what comes first belongs to the sample's mode; where that is unknown, to the user, as perf's tools take it
 * (thread__resolve_callchain_sample()).
 */
#ifndef FATHOM_PERFDATA_USER_CHAIN_H
#define FATHOM_PERFDATA_USER_CHAIN_H

#include "perfdata/sample.h"

struct user_chain {
    const struct sample *sample;
    uint32_t next; /* entry of the chain */
    bool user;     /* it is in the user's part, if it is no marker */
};

/* A sample without a call chain has no addresses. */
struct user_chain user_chain_begin(const struct sample *sample);
/* The next address. false: there is none. */
bool user_chain_next(struct user_chain *chain, uint64_t *address);

#endif
