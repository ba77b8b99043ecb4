/* retry.h - when to retry after a failure: after one to two seconds, and twice as late after each further
 * failure, up to ten minutes. */
#ifndef FATHOM_AGENT_RETRY_H
#define FATHOM_AGENT_RETRY_H

#include "base/clock.h"
#include "base/hash.h"

#define RETRY_LEAST (1 * SECOND_NS)
#define RETRY_MOST  (300 * SECOND_NS) /* plus a random part */

struct retry {
    uint64_t at, delay; /* ns; 0: at once */
};

/* Agents that lost the same store do not all return at the same moment: each adds a random part. */
static inline void retry_later(struct retry *retry, uint64_t *random)
{
    retry->delay = retry->delay ? 2 * retry->delay : RETRY_LEAST;
    if (retry->delay > RETRY_MOST)
        retry->delay = RETRY_MOST;
    retry->at = clock_ns() + retry->delay + hash_random(random) % retry->delay;
}

static inline bool retry_is_due(const struct retry *retry)
{
    return clock_ns() >= retry->at;
}

/* Seconds until the next try. */
static inline unsigned retry_in(const struct retry *retry)
{
    const uint64_t now = clock_ns();
    return retry->at > now ? (unsigned)((retry->at - now + SECOND_NS - 1) / SECOND_NS) : 0;
}

#endif
