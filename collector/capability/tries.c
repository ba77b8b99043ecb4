/* tries.c - see tries.h. */
#include "collector/capability/tries.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collector/events/event.h"
#include "collector/events/open.h"
#include "collector/events/settle.h"
#include "collector/events/tracefs.h"
#include "collector/verify/verify.h"
#include "perfdata/stack_record.h"

#define PERIOD 100003

static void try_clocks(struct tries *out)
{
    struct event clock;
    int rc = event_parse(&(struct event_options){.name = "cpu-clock"}, NULL, &clock, NULL);
    if (rc == 0)
        settle_attrs(&clock, 1, NULL);
    out->user = rc ? rc : open_probe(&clock.attr);
    out->registers = clock.attr.sample_type & PERF_SAMPLE_REGS_INTR ? out->user : -EACCES;
    out->by_cpu = rc ? rc : open_probe_for(&clock.attr, -1, 0);
    clock.attr.exclude_kernel = 0;
    out->kernel = rc ? rc : open_probe(&clock.attr);
}

/* The kernel's own name for cycles, which is not replaced by another event if there is no counter. */
static int make_cycles(struct event *cycles, struct fathom_error *err)
{
    int rc = event_parse(&(struct event_options){.name = "cpu-clock"}, NULL, cycles, err);
    if (rc)
        return rc;
    cycles->attr.type = PERF_TYPE_HARDWARE;
    cycles->attr.config = PERF_COUNT_HW_CPU_CYCLES;
    cycles->attr.sample_period = PERIOD;
    return 0;
}

/* The kernel fills in the times of a batch's records by the same condition as this member of an event's page
 * (setup_pebs_time() of arch/x86/events/intel/ds.c, arch_perf_update_userpage() of arch/x86/events/core.c). */
static int try_tsc(void)
{
    struct event clock;
    int rc = event_parse(&(struct event_options){.name = "cpu-clock"}, NULL, &clock, NULL);
    if (rc)
        return rc;
    settle_attrs(&clock, 1, NULL);
    clock.attr.disabled = 1;
    int fd = open_event(&clock.attr, 0, -1);
    if (fd < 0)
        return fd;
    const size_t size = (size_t)sysconf(_SC_PAGESIZE);
    const struct perf_event_mmap_page *page = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    rc = page == MAP_FAILED ? -errno : page->cap_user_time_zero ? 0 : -ENOTSUP;
    if (page != MAP_FAILED)
        munmap((void *)(uintptr_t)page, size);
    close(fd);
    return rc;
}

static void try_hardware(struct tries *out)
{
    struct event cycles;
    int rc = make_cycles(&cycles, NULL);
    if (rc == 0)
        settle_attrs(&cycles, 1, NULL);
    out->hardware = rc ? rc : open_probe(&cycles.attr);
}

static void try_program(struct tries *out)
{
    const struct verify_options options = {
        .wish = VERIFY_ASKED, .where = VERIFY_USER, .compared = STACK_RECORD_ALL, .follow = VERIFY_ALL};
    struct verify *verify = NULL;
    out->program = verify_new(&options, &verify, &out->program_error);
    verify_free(verify);
}

static int try_file(const char *name, int flags)
{
    int fd = tracefs_open(name, flags);
    if (fd < 0)
        return fd;
    close(fd);
    return 0;
}

void tries_run(struct tries *out)
{
    *out = (struct tries){0};
    try_clocks(out);
    try_hardware(out);
    out->tsc = try_tsc();
    try_program(out);
    out->tracefs = try_file("events/task/task_newtask/format", O_RDONLY);
    out->uprobes = try_file("uprobe_events", O_WRONLY | O_APPEND);
}

int tries_thread(pid_t tid, struct fathom_error *err)
{
    struct event clock;
    int rc = event_parse(&(struct event_options){.name = "cpu-clock"}, NULL, &clock, err);
    if (rc)
        return rc;
    settle_attrs(&clock, 1, NULL);
    rc = open_probe_for(&clock.attr, tid, -1);
    return rc ? open_error(err, -rc, clock.name, &clock.attr, tid) : 0;
}

int tries_precise(struct event *out, struct fathom_error *err)
{
    int rc = make_cycles(out, err);
    if (rc == 0)
        out->attr.precise_ip = 2; /* the CPU may have no such event */
    return rc;
}
