/*
 * sideband.h - writes records of our own between the kernel's, in its formats: COMM, FORK, MMAP2 and CGROUP for what
 * happened before we attached, [stack:TID] mappings, and LOST_SAMPLES and READ at the end. Each has the trailer
 * that sample_id_all asks for (perf_event_open(2), struct sample_id), as `perf record` itself writes them.
 *
 * The trailer has TID, TIME and IDENTIFIER: none of our events samples any other of its fields.
 */
#ifndef FATHOM_COLLECTOR_TARGETS_SIDEBAND_H
#define FATHOM_COLLECTOR_TARGETS_SIDEBAND_H

#include "collector/rings/batch.h"
#include "collector/rings/counters.h"
#include "collector/targets/proc.h"
#include "image/kernel/layout.h"

struct sideband {
    struct batch *batch; /* borrowed */
    uint64_t id;         /* of the first event; the trailers have its layout */
};

/* All return 0 or what the sink returned. time: ns of the perf clock; 0: before everything else. */
int sideband_comm(const struct sideband *to, pid_t pid, pid_t tid, const char *name,
                  struct fathom_error *err);
int sideband_fork(const struct sideband *to, pid_t pid, pid_t tid, pid_t parent_pid, pid_t parent_tid,
                  struct fathom_error *err);
int sideband_mapping(const struct sideband *to, pid_t pid, const struct vma *vma, uint64_t time,
                     struct fathom_error *err);
/* PERF_RECORD_CGROUP: a control group's path from the root of its hierarchy, and its id in samples. */
int sideband_cgroup(const struct sideband *to, uint64_t id, const char *path, struct fathom_error *err);
/* A mapping of the kernel, with its build-id unless that is NULL. */
int sideband_kernel(const struct sideband *to, const struct kernel_range *range, const char *name,
                    const struct build_id *id, struct fathom_error *err);
/* A data mapping [stack:TID]. */
struct sideband_range {
    pid_t pid, tid;
    uint64_t low, base; /* [low, base) */
};
int sideband_stack(const struct sideband *to, const struct sideband_range *stack, uint64_t time,
                   struct fathom_error *err);
/* PERF_RECORD_LOST_SAMPLES: `lost` records that were lost without a record by the kernel. */
int sideband_lost(const struct sideband *to, uint64_t lost, struct fathom_error *err);
/* PERF_RECORD_READ with pid and tid 0: what an event counted in all that was recorded. Its read_format must not
 * have ID or GROUP. */
int sideband_totals(const struct sideband *to, const struct event *event,
                    const struct counters_totals *totals, struct fathom_error *err);
/* perf's PERF_RECORD_FINISHED_ROUND: all rings were drained once. */
int sideband_round(const struct sideband *to, struct fathom_error *err);

#endif
