/* where.c - see where.h. */
#include "collector/verify/where.h"

#include <stdbool.h>

enum verify_where verify_where_of(const struct pmus *pmus, const struct perf_event_attr *attr)
{
    bool user = attr->exclude_kernel && attr->sample_type & PERF_SAMPLE_REGS_INTR;
    bool core = attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE ||
                attr->type == PERF_TYPE_RAW || pmus_is_core(pmus, attr->type);
    if (attr->precise_ip) /* in the kernel the record does not have the user's registers */
        return core && user ? VERIFY_PRECISE : VERIFY_NOWHERE;
    if (attr->type == PERF_TYPE_TRACEPOINT) /* the program runs at each event, not only at samples */
        return attr->sample_period == 1 && !attr->freq ? VERIFY_TRACEPOINT : VERIFY_NOWHERE;
    if (!core && attr->type != PERF_TYPE_SOFTWARE && attr->type != PERF_TYPE_BREAKPOINT)
        return VERIFY_NOWHERE;
    return user ? VERIFY_USER : VERIFY_KERNEL;
}
