/* where.c - see where.h. */
#include "collector/verify/where.h"

#include <stdbool.h>

enum verify_where verify_where_of(const struct perf_event_attr *attr)
{
    bool user = attr->exclude_kernel && attr->sample_type & PERF_SAMPLE_REGS_INTR;
    if (attr->precise_ip)
        return VERIFY_NOWHERE;
    if (attr->type ==
        PERF_TYPE_TRACEPOINT) /* the program runs at each: its records would be without a sample */
        return attr->sample_period == 1 && !attr->freq ? VERIFY_TRACEPOINT : VERIFY_NOWHERE;
    if (attr->type == PERF_TYPE_SOFTWARE)
        return user ? VERIFY_USER : VERIFY_KERNEL;
    bool hardware =
        attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE || attr->type == PERF_TYPE_RAW;
    if (!hardware && attr->type != PERF_TYPE_BREAKPOINT)
        return VERIFY_NOWHERE;
    return user ? VERIFY_USER : VERIFY_KERNEL;
}
