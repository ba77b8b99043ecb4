/* links.c - see links.h. */
#include "infer/chains/links.h"

#include <linux/perf_event.h>
#include <string.h>

#include "perfdata/user_chain.h"

enum chain_source links_source(const struct perf_event_attr *attr)
{
    if (attr->sample_type & PERF_SAMPLE_STACK_USER)
        return CHAIN_NONE;
    if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK &&
        attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK)
        return CHAIN_CALLS;
    /* Recordings by fathom have chains of one entry, or of the kernel alone: no callers. */
    bool callers = attr->sample_max_stack != 1 && !attr->exclude_callchain_user;
    return attr->sample_type & PERF_SAMPLE_CALLCHAIN && callers ? CHAIN_FRAMES : CHAIN_NONE;
}

static bool read_chain(const struct sample *sample, struct links *out)
{
    struct user_chain chain = user_chain_begin(sample);
    bool found = user_chain_next(&chain, &out->ip);
    for (uint64_t address; out->count < LINKS_MOST && user_chain_next(&chain, &address);)
        out->at[out->count++] = (struct link){address, 0};
    return found;
}

static void read_calls(const struct sample *sample, struct links *out)
{
    for (uint32_t i = 0; i < sample->branch_count && out->count < LINKS_MOST; i++) {
        const uint8_t *entry = sample->branches + (size_t)SAMPLE_BRANCH * i;
        struct link *link = &out->at[out->count++];
        memcpy(&link->address, entry, sizeof link->address);
        memcpy(&link->entered, entry + sizeof link->address, sizeof link->entered);
    }
}

bool links_of(const struct sample *sample, enum chain_source source, struct links *out)
{
    out->count = 0;
    out->source = source;
    out->ip = sample->ip;
    bool found = read_chain(sample, out);
    if (source == CHAIN_CALLS) {
        out->count = 0;
        read_calls(sample, out);
        found = found || sample->mode == SAMPLE_MODE_USER;
    }
    if (sample->has_regs && sample->reg_ip != out->ip)
        return false; /* chain and registers were taken at different moments */
    return found && source != CHAIN_NONE;
}
