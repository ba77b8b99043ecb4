/* sideband.c - synthesised records; see sideband.h. */
#include "collector/targets/sideband.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define FINISHED_ROUND 68 /* tools/lib/perf/include/perf/event.h, enum perf_user_event_type */

struct trailer {
    uint32_t pid, tid;
    uint64_t time, id;
};

struct comm_head {
    struct perf_event_header header;
    uint32_t pid, tid;
};

struct fork_body {
    struct perf_event_header header;
    uint32_t pid, ppid, tid, ptid;
    uint64_t time;
};

struct cgroup_head {
    struct perf_event_header header;
    uint64_t id;
};

struct lost_body {
    struct perf_event_header header;
    uint64_t lost;
};

struct read_body {
    struct perf_event_header header;
    uint32_t pid, tid;
    uint64_t value, enabled, running;
    uint64_t lost; /* omitted if the event's read_format lacks it */
};

struct mmap2_head {
    struct perf_event_header header;
    uint32_t pid, tid;
    uint64_t address, length, offset;
    uint32_t maj, min;
    uint64_t inode, generation;
    uint32_t prot, flags;
};

_Static_assert(sizeof(struct trailer) == 24, "struct sample_id of our events");
_Static_assert(sizeof(struct comm_head) == 16, "PERF_RECORD_COMM");
_Static_assert(sizeof(struct fork_body) == 32, "PERF_RECORD_FORK");
_Static_assert(sizeof(struct cgroup_head) == 16, "PERF_RECORD_CGROUP");
_Static_assert(sizeof(struct lost_body) == 16, "PERF_RECORD_LOST_SAMPLES");
_Static_assert(sizeof(struct read_body) == 48, "PERF_RECORD_READ");
_Static_assert(sizeof(struct mmap2_head) == 72, "PERF_RECORD_MMAP2");

/* head, then (unless NULL) the text with its NULs up to a multiple of 8, then the trailer. */
static int put_record(const struct sideband *to, struct perf_event_header *head, size_t head_size,
                      const char *text, const struct trailer *trailer, struct fathom_error *err)
{
    size_t length = text ? strlen(text) : 0;
    size_t padded = text ? (length + 8) & ~(size_t)7 : 0;
    size_t size = head_size + padded + sizeof *trailer;
    int rc = 0;
    uint8_t *at = batch_reserve(to->batch, size, &rc, err);
    if (!at)
        return rc;
    head->size = (uint16_t)size;
    memcpy(at, head, head_size);
    if (text) {
        memset(at + head_size, 0, padded);
        memcpy(at + head_size, text, length);
    }
    memcpy(at + head_size + padded, trailer, sizeof *trailer);
    batch_commit(to->batch, size);
    return 0;
}

int sideband_comm(const struct sideband *to, pid_t pid, pid_t tid, const char *name, struct fathom_error *err)
{
    struct comm_head head = {{.type = PERF_RECORD_COMM}, (uint32_t)pid, (uint32_t)tid};
    struct trailer trailer = {(uint32_t)pid, (uint32_t)tid, 0, to->id};
    char text[32];
    snprintf(text, sizeof text, "%s", name);
    return put_record(to, &head.header, sizeof head, text, &trailer, err);
}

int sideband_fork(const struct sideband *to, pid_t pid, pid_t tid, pid_t parent_pid, pid_t parent_tid,
                  struct fathom_error *err)
{
    struct fork_body body = {.header = {.type = PERF_RECORD_FORK},
                             .pid = (uint32_t)pid,
                             .ppid = (uint32_t)parent_pid,
                             .tid = (uint32_t)tid,
                             .ptid = (uint32_t)parent_tid};
    struct trailer trailer = {(uint32_t)pid, (uint32_t)tid, 0, to->id};
    return put_record(to, &body.header, sizeof body, NULL, &trailer, err);
}

int sideband_cgroup(const struct sideband *to, uint64_t id, const char *path, struct fathom_error *err)
{
    struct cgroup_head head = {{.type = PERF_RECORD_CGROUP}, id};
    struct trailer trailer = {.id = to->id};
    return put_record(to, &head.header, sizeof head, path, &trailer, err);
}

int sideband_mapping(const struct sideband *to, pid_t pid, const struct vma *vma, uint64_t time,
                     struct fathom_error *err)
{
    struct mmap2_head head = {.header = {.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER},
                              .pid = (uint32_t)pid,
                              .tid = (uint32_t)pid,
                              .address = vma->start,
                              .length = vma->end - vma->start,
                              .offset = vma->offset,
                              .maj = vma->maj,
                              .min = vma->min,
                              .inode = vma->inode,
                              .prot = vma->prot,
                              .flags = vma->shared ? MAP_SHARED : MAP_PRIVATE};
    if (!(vma->prot & PROT_EXEC))
        head.header.misc |= PERF_RECORD_MISC_MMAP_DATA;
    struct trailer trailer = {(uint32_t)pid, (uint32_t)pid, time, to->id};
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", vma->path[0] ? vma->path : "//anon");
    return put_record(to, &head.header, sizeof head, path, &trailer, err);
}

/* As stock perf writes it (tools/perf/util/synthetic-events.c, __perf_event__synthesize_kernel_mmap()): the
 * offset is the address of the symbol in the name. The build-id replaces device and inode. */
int sideband_kernel(const struct sideband *to, const struct kernel_range *range, const char *name,
                    const struct build_id *id, struct fathom_error *err)
{
    struct mmap2_head head = {.header = {.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_KERNEL},
                              .pid = UINT32_MAX,
                              .address = range->start,
                              .length = range->end - range->start,
                              .offset = id ? range->start : 0,
                              .prot = PROT_EXEC};
    if (id && id->size) {
        head.header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
        uint8_t *at = (uint8_t *)&head + offsetof(struct mmap2_head, maj);
        at[0] = id->size;
        memcpy(at + 4, id->bytes, id->size);
    }
    struct trailer trailer = {UINT32_MAX, 0, 0, to->id};
    return put_record(to, &head.header, sizeof head, name, &trailer, err);
}

int sideband_stack(const struct sideband *to, const struct sideband_range *stack, uint64_t time,
                   struct fathom_error *err)
{
    struct mmap2_head head = {
        .header = {.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_DATA},
        .pid = (uint32_t)stack->pid,
        .tid = (uint32_t)stack->tid,
        .address = stack->low,
        .length = stack->base - stack->low,
        .prot = PROT_READ | PROT_WRITE,
        .flags = MAP_PRIVATE};
    struct trailer trailer = {(uint32_t)stack->pid, (uint32_t)stack->tid, time, to->id};
    char name[32];
    snprintf(name, sizeof name, "[stack:%d]", (int)stack->tid);
    return put_record(to, &head.header, sizeof head, name, &trailer, err);
}

int sideband_lost(const struct sideband *to, uint64_t lost, struct fathom_error *err)
{
    struct lost_body body = {.header = {.type = PERF_RECORD_LOST_SAMPLES}, .lost = lost};
    struct trailer trailer = {.id = to->id};
    return put_record(to, &body.header, sizeof body, NULL, &trailer, err);
}

int sideband_totals(const struct sideband *to, const struct event *event,
                    const struct counters_totals *totals, struct fathom_error *err)
{
    struct read_body body = {.header = {.type = PERF_RECORD_READ},
                             .value = totals->value,
                             .enabled = totals->enabled,
                             .running = totals->running};
    struct trailer trailer = {.id = event->ids[0]};
    bool lost = event->attr.read_format & PERF_FORMAT_LOST;
    size_t size = lost ? sizeof body : offsetof(struct read_body, lost);
    return put_record(to, &body.header, size, NULL, &trailer, err);
}

int sideband_round(const struct sideband *to, struct fathom_error *err)
{
    struct perf_event_header round = {.type = FINISHED_ROUND, .size = sizeof round};
    int rc = 0;
    void *at = batch_reserve(to->batch, sizeof round, &rc, err);
    if (!at)
        return rc;
    memcpy(at, &round, sizeof round);
    batch_commit(to->batch, sizeof round);
    return 0;
}
