/*
 * links.h - the callers that were recorded with a sample: by its call chain, or by its processor's call stack (branch
 * stacks of --call-graph lbr). Nothing of it is checked here.
 */
#ifndef FATHOM_INFER_CHAINS_LINKS_H
#define FATHOM_INFER_CHAINS_LINKS_H

#include "perfdata/record.h"

#define LINKS_MOST                                                                                           \
    1024u /* kernel.perf_event_max_stack allows more only if it was raised; the rest is left out */

struct link {
    uint64_t address; /* CHAIN_FRAMES: the return address; CHAIN_CALLS: of the call */
    uint64_t entered; /* CHAIN_CALLS: where it led */
};

struct links {
    uint64_t ip; /* of the user's code */
    enum chain_source {
        CHAIN_NONE,
        CHAIN_FRAMES, /* the kernel followed frame pointers */
        CHAIN_CALLS,  /* the processor kept the last calls that had not returned */
    } source;
    uint32_t count;
    struct link at[LINKS_MOST]; /* the innermost caller first */
};

/* Which of them an event's samples have. With a stack dump: none, as it tells more. */
enum chain_source links_source(const struct perf_event_attr *attr);
/* false: the sample has none of the user's code. */
bool links_of(const struct sample *sample, enum chain_source source, struct links *out);

#endif
