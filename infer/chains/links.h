/*
 * links.h - the callers that were recorded with a sample, in its call chain or its processor's call stack (branch stacks of
 * --call-graph lbr). They are not checked here.
 */
#ifndef FATHOM_INFER_CHAINS_LINKS_H
#define FATHOM_INFER_CHAINS_LINKS_H

#include "perfdata/record.h"

/* kernel.perf_event_max_stack exceeds this only if an administrator raised it; the rest is dropped */
#define LINKS_MOST 1024u

struct link {
    uint64_t address; /* CHAIN_FRAMES: the return address; CHAIN_CALLS: the address of the call */
    uint64_t entered; /* CHAIN_CALLS: the target of the call */
};

struct links {
    uint64_t ip; /* in user space */
    enum chain_source {
        CHAIN_NONE,
        CHAIN_FRAMES, /* the kernel followed frame pointers */
        CHAIN_CALLS,  /* the processor recorded the last calls that had not returned */
    } source;
    uint32_t count;
    struct link at[LINKS_MOST]; /* innermost caller first */
};

/* Which source an event's samples have. None if they have a stack dump, which says more. */
enum chain_source links_source(const struct perf_event_attr *attr);
/* false: the sample has no user-space callers. */
bool links_of(const struct sample *sample, enum chain_source source, struct links *out);

#endif
