/* user_chain.c - see user_chain.h. */
#include "perfdata/user_chain.h"

#include <linux/perf_event.h>

struct user_chain user_chain_begin(const struct sample *sample)
{
    bool user = sample->mode == SAMPLE_MODE_USER || sample->mode == SAMPLE_MODE_UNKNOWN;
    return (struct user_chain){.sample = sample, .user = user};
}

bool user_chain_next(struct user_chain *chain, uint64_t *address)
{
    const struct sample *s = chain->sample;
    while (s->callchain && chain->next < s->callchain_count) {
        uint64_t entry = s->callchain[chain->next++];
        if (entry >= (uint64_t)PERF_CONTEXT_MAX) {
            chain->user = entry == (uint64_t)PERF_CONTEXT_USER;
        } else if (chain->user) {
            *address = entry;
            return true;
        }
    }
    return false;
}
