/* process_facts.c - see process_facts.h. */
#include "collector/capability/process_facts.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/capability/tries.h"
#include "collector/targets/proc.h"
#include "collector/targets/stackbase.h"

/* A collector_sink: counts the [stack:TID] mappings. */
static int count_stacks(void *context, const void *records, size_t size, struct fathom_error *err)
{
    unsigned *count = context;
    (void)err;
    for (size_t at = 0; at + sizeof(struct perf_event_header) <= size;) {
        struct perf_event_header header;
        memcpy(&header, (const char *)records + at, sizeof header);
        *count += header.type == PERF_RECORD_MMAP2 || header.type == PERF_RECORD_MMAP;
        at += header.size < sizeof header ? size : header.size;
    }
    return 0;
}

/* As collector_start() finds them. */
static int locate_stacks(pid_t pid, struct process_facts *out, struct fathom_error *err)
{
    struct batch batch = {0};
    struct stackbases *bases = NULL;
    pid_t *tids = NULL;
    size_t count = 0;
    int rc = proc_threads(pid, &tids, &count);
    if (rc)
        return error_set(err, -rc, "process %d does not exist", (int)pid);
    rc = batch_init(&batch, err);
    if (rc == 0)
        rc = stackbases_new(&bases, err);
    batch.sink = count_stacks;
    batch.context = &out->located;
    const struct sideband to = {.batch = &batch, .id = 1};
    out->threads = (unsigned)count;
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = stackbases_attach(bases, pid, tids[i], &to, err);
    if (rc == 0)
        rc = batch_flush(&batch, err);
    stackbases_free(bases);
    batch_free(&batch);
    free(tids);
    return rc;
}

/* The link to its program is not hidden, but leads nowhere. */
static bool is_kernel_thread(pid_t pid)
{
    char link[32], target[2];
    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    return readlink(link, target, sizeof target) < 0 && errno == ENOENT;
}

int process_facts_read(pid_t pid, struct process_facts *out, struct fathom_error *err)
{
    struct process_facts facts = {0};
    struct proc_stat stat;
    uint64_t word;
    int rc = proc_stat(pid, &stat);
    if (rc)
        return error_set(err, ESRCH, "process %d does not exist", (int)pid);
    proc_program(pid, facts.program, sizeof facts.program);
    facts.kernel = !facts.program[0] && is_kernel_thread(pid);
    facts.allowed = tries_thread(pid, &facts.refusal);
    facts.start_stack = stat.start_stack != 0;
    facts.memory =
        facts.start_stack && proc_read_memory(pid, stat.start_stack, &word, sizeof word) == sizeof word;
    rc = locate_stacks(pid, &facts, err);
    if (rc)
        return rc;
    *out = facts;
    return 0;
}
