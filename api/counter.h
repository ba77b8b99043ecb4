/* counter.h - converts the counters of the public interface to those of hcct/. */
#ifndef FATHOM_API_COUNTER_H
#define FATHOM_API_COUNTER_H

#include "api/fathom/contexts.h"
#include "hcct/hcct.h"

/* HCCT_KINDS: not a counter. */
static inline enum hcct_kind counter_kind(enum fathom_counter counter)
{
    switch (counter) {
    case FATHOM_SPACE_SAVING:
        return HCCT_LSS;
    case FATHOM_LOSSY_COUNTING:
        return HCCT_LC;
    case FATHOM_STICKY_SAMPLING:
        return HCCT_STICKY;
    case FATHOM_PURGING:
        return HCCT_PURGE;
    case FATHOM_BUCKET_SPACE_SAVING:
        return HCCT_BSS;
    }
    return HCCT_KINDS;
}

#endif
