/* counters_late.c - threads that may have their events twice: opened, and inherited from a thread that had them first; see
 * counters_settle(). */
#include <sys/ioctl.h>

#include "collector/rings/counters_data.h"

bool counters_unsettled(const struct counters *counters)
{
    return table_count(counters->late) > 0;
}

void counters_settle(struct counters *counters, uint64_t id, pid_t tid)
{
    const uint64_t *opened = table_find(counters->ids, id);
    uint64_t *own = table_find(counters->late, (uint32_t)tid);
    if (!opened || !counters->events[*opened & 0xff].attr.inherit || !own || *own & LATE_TWICE ||
        *opened >> 8 == (uint32_t)tid)
        return;
    size_t first = (uint32_t)*own, count = (size_t)(*own >> 32);
    for (size_t i = first; i < first + count; i++)
        ioctl(counters->opened[i].fd, PERF_EVENT_IOC_DISABLE, 0);
    *own |= LATE_TWICE;
}

bool counters_twice(const struct counters *counters, uint64_t id, pid_t tid)
{
    const uint64_t *opened = table_find(counters->ids, id);
    const uint64_t *own = table_find(counters->late, (uint32_t)tid);
    return opened && own && *own & LATE_TWICE && *opened >> 8 == (uint32_t)tid;
}

bool counters_settled(const struct counters *counters, size_t at)
{
    size_t cursor = 0;
    uint64_t tid, own;
    while (table_next(counters->late, &cursor, &tid, &own)) {
        size_t first = (uint32_t)own, count = (size_t)((own & ~LATE_TWICE) >> 32);
        if (own & LATE_TWICE && at >= first && at - first < count)
            return true;
    }
    return false;
}
