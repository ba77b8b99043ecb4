/*
 * record.h - decoded perf records, as written by the kernel and perf (include/uapi/linux/perf_event.h; for
 * the types from 64 on, tools/perf/Documentation/perf.data-file-format.txt).
 */
#ifndef FATHOM_PERFDATA_RECORD_H
#define FATHOM_PERFDATA_RECORD_H

#include <linux/perf_event.h>

#include "base/error.h"
#include "perfdata/sample.h"
#include "perfdata/wait_reason.h"

enum record_kind {
    RECORD_SAMPLE,
    RECORD_MMAP, /* MMAP and MMAP2 */
    RECORD_COMM,
    RECORD_FORK,
    RECORD_EXIT,
    RECORD_CGROUP,   /* the path of the cgroup with an ID that samples have */
    RECORD_LOST,     /* LOST and LOST_SAMPLES */
    RECORD_TOTALS,   /* READ with pid and tid 0, as written by the collector (collector.h) */
    RECORD_THROTTLE, /* the kernel paused an event that was too frequent */
    RECORD_UNTHROTTLE,
    RECORD_OTHER, /* any other, known or not: not needed for a profile */
};

struct record_mmap {
    uint64_t address, length; /* of the mapping, bytes */
    uint64_t offset;          /* in the file, bytes */
    bool executable;
    uint8_t build_id_size; /* 0: not recorded */
    uint8_t build_id[20];
    const char *path;       /* borrowed */
    uint64_t device, inode; /* of the file, instead of a build-id; inode 0: not recorded */
    uint64_t generation;    /* of the inode number, as that can be reused; 0: not recorded */
};

struct record {
    enum record_kind kind;
    uint32_t type; /* PERF_RECORD_*, from the header */
    uint32_t pid, tid;
    uint64_t time; /* ns; 0: unknown (synthesised records) */
    union {
        struct sample sample;
        struct record_mmap mmap;
        struct {
            const char *name; /* borrowed */
            bool exec;        /* the process replaced its image */
        } comm;
        struct {
            const char *path; /* relative to the hierarchy's root, "/" for the root itself; borrowed */
            uint64_t id;      /* sample.cgroup */
        } cgroup;
        struct {
            uint32_t parent_pid, parent_tid;
        } fork;        /* also for exit; a fork with pid == parent_pid is a new thread */
        uint64_t lost; /* records or samples */
        struct {
            uint32_t event;            /* index */
            uint64_t value;            /* what it counted */
            uint64_t enabled, running; /* ns; running < enabled: the counter was shared with others */
        } totals;
    };
};

#define EVENT_AUDIT_NAME      "audit"
#define EVENT_STACKS_NAME     "stacks"
#define EVENT_NEW_STACKS_NAME "new-stacks" /* the same in samples for other tools (stack_sample.h) */

/* One event of a recording, as the decoder needs it. */
struct event {
    struct perf_event_attr attr;
    char name[128]; /* "cpu-clock:u" */
    uint64_t *ids;  /* owned by the creator of the table */
    size_t id_count;
    bool audit;  /* a slow software clock with stack dumps besides the main event */
    bool stacks; /* stack records from the BPF program that follows the main event (stack_record.h) */
    /* For opening the event, not stored in files: */
    bool helper;   /* only counts: the event before it works only with this one ahead of it in its group */
    bool followed; /* a BPF program sees its samples */
    bool switched; /* off until counters_switch() */
    bool batched;  /* sampled without an interrupt each (collector/events/pebs.h) */
    bool partial;  /* only some CPUs have it: those of one kind of core */
    const char *tracepoint; /* its name in tracefs, if different; borrowed; NULL: the same */
    /* for a tracepoint: the field that its samples weigh by default; borrowed; NULL: none */
    const char *weight;
    uint64_t cookie;    /* for a probe: passed to the BPF program (enum verify_allocator); 0: nothing */
    const char *filter; /* for the kernel, over a tracepoint's fields; borrowed; NULL: none */
    uint8_t group;      /* events of the same group, if not 0, count at the same time */
};

/* Whether the event is a clock, of the CPU or of the thread, so that it counts nanoseconds. */
static inline bool attr_is_clock(const struct perf_event_attr *attr)
{
    return attr->type == PERF_TYPE_SOFTWARE &&
           (attr->config == PERF_COUNT_SW_CPU_CLOCK || attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* Whether its samples are times in which threads were not on a CPU (wait_reason.h): they weigh ns, like a clock's. */
static inline bool attr_is_waits(const struct perf_event_attr *attr)
{
    return attr_is_clock(attr) && attr->config1 == EVENT_WAITS_MARK;
}

/* Whether its samples are those of who ended waits. */
static inline bool attr_is_wakeups(const struct perf_event_attr *attr)
{
    return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY &&
           attr->config1 == EVENT_WAKEUPS_MARK;
}

/* Whether it is the event that readers make from these two. */
static inline bool attr_is_wakers(const struct perf_event_attr *attr)
{
    return attr_is_waits(attr) && attr->config2 == EVENT_WAKERS_MARK;
}

/* Whether it is the event that readers make from waits and a clock's samples. */
static inline bool attr_is_wall(const struct perf_event_attr *attr)
{
    return attr_is_waits(attr) && attr->config2 == EVENT_WALL_MARK;
}

/* Whether samples in the kernel have the kernel's part of their path: a call chain with its functions. */
static inline bool attr_has_kernel(const struct perf_event_attr *attr)
{
    return !attr->exclude_kernel && attr->sample_type & PERF_SAMPLE_CALLCHAIN &&
           !attr->exclude_callchain_kernel;
}

/* The decoder: raw record bytes to struct record, using the events' attrs. */
struct decoder;

/* Records of events with the same name, which count the same on other kinds of cores or in other functions, get the first one's
 * index. events are borrowed and must outlive the decoder. -ENOTSUP: their samples cannot be distinguished. */
int decoder_new(const struct event *events, size_t count, struct decoder **out, struct fathom_error *err);
void decoder_free(struct decoder *decoder);
/* The index of the first event with the same name as this one. */
uint32_t decoder_first(const struct decoder *decoder, uint32_t event);
/* Decodes the record of `size` bytes at `data` (8-byte aligned, header included). Pointers in *out borrow
 * from data. -EBADMSG: damaged (too small for its fields). */
int decoder_decode(const struct decoder *decoder, const void *data, size_t size, struct record *out,
                   struct fathom_error *err);
/* Decodes only the time, for ordering; 0 if the record has none. */
uint64_t decoder_time(const struct decoder *decoder, const void *data, size_t size);

#endif
