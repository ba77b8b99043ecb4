/*
 * records.h - how the records that the collector looks at begin (include/uapi/linux/perf_event.h).
 */
#ifndef FATHOM_COLLECTOR_RINGS_RECORDS_H
#define FATHOM_COLLECTOR_RINGS_RECORDS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct sample_record { /* as attr_set_layout() asks for its fields */
    struct perf_event_header header;
    uint64_t id, ip;
    uint32_t pid, tid;
    uint64_t time;
};
struct fork_record { /* and EXIT */
    struct perf_event_header header;
    uint32_t pid, ppid, tid, ptid;
    uint64_t time;
};
struct comm_record {
    struct perf_event_header header;
    uint32_t pid, tid;
};
struct lost_record {
    struct perf_event_header header;
    uint64_t id, lost;
};
struct lost_samples_record {
    struct perf_event_header header;
    uint64_t lost;
};

/* Copies the start of something in memory into *to; false when it is shorter. */
static inline bool record_view(const void *record, size_t size, void *to, size_t want)
{
    if (size < want)
        return false;
    memcpy(to, record, want);
    return true;
}

#endif
