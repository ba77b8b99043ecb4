/*
 * core.c - the core's global state, its lock, and its initialisation.
 */
#include "pathmap/probe/core.h"

#include <errno.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/raw.h"
#include "pathmap/probe/state.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

static uint64_t nothing; /* the limit of core_no_stack */

struct core core;
struct store_node *probe_nodes;
struct stack core_no_stack = {.limit = &nothing};
__thread struct thread *probe_thread;

uint64_t core_lock(void)
{
    const uint64_t mask = raw_signal_mask(SIG_BLOCK, ~0ull);
    bool forked = fork_unseen();
    if (forked)
        core.lock = 0; /* its holder is not in this process */
    while (__atomic_exchange_n(&core.lock, 1, __ATOMIC_ACQUIRE))
        raw_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
    if (forked)
        fork_child();
    return mask;
}

void core_unlock(uint64_t mask)
{
    __atomic_store_n(&core.lock, 0, __ATOMIC_RELEASE);
    raw_signal_mask(SIG_SETMASK, mask);
}

/* The executable segment that `clone` is in: the C library's. */
static int find_libc(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    uint64_t clone = *(uint64_t *)context;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uint64_t low = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && (p->p_flags & PF_X) && clone >= low && clone < low + p->p_memsz) {
            core.libc_low = low;
            core.libc_high = low + p->p_memsz;
            return 1;
        }
    }
    return 0;
}

/* SP at the program's start: field 28 of /proc/self/stat, counted after the name, which may contain anything.
 */
static uint64_t start_stack(void)
{
    char text[1024];
    int fd = raw_open("/proc/self/stat", O_RDONLY);
    long n = fd < 0 ? 0 : raw_read(fd, text, sizeof text - 1);
    if (fd >= 0)
        raw_close(fd);
    if (n <= 0)
        return 0;
    long i = n;
    while (i > 0 && text[i - 1] != ')')
        i--;
    unsigned field = 2;
    for (; i < n && field < 28; i++)
        field += text[i] == ' ';
    uint64_t value = 0;
    for (; i < n && text[i] >= '0' && text[i] <= '9'; i++)
        value = value * 10 + (uint64_t)(text[i] - '0');
    return field == 28 ? value : 0;
}

void *core_reserve(size_t size)
{
    long p = raw_mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (raw_failed(p))
        return NULL;
    raw_call(SYS_madvise, p, (long)size, MADV_NOHUGEPAGE, 0, 0, 0);
    return (void *)p;
}

/* The main thread's own stack; it may still grow below `low`, which stack_here() detects. */
static int start_main_thread(void)
{
    extern void *__libc_stack_end __attribute__((weak));
    uint64_t base = start_stack(), size = RESERVE_MAX;
    if (!base)
        base = (uint64_t)__libc_stack_end;
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < size)
        size = limit.rlim_cur;
    const uint64_t mask = core_lock();
    struct thread *thread = thread_here();
    struct stack *own = thread ? stack_new(STACK_OWN, base - size, base) : NULL;
    if (own) {
        own->base = base;
        own->thread = thread;
        own->frames->node = thread->root;
        stack_set_limit(own);
        thread->own = thread->current = own;
    }
    core_unlock(mask);
    return own ? 0 : -ENOMEM;
}

/* Reads the limit of the address space, of which the program must get what it needs. */
static void look_at_limits(void)
{
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    raw_call(SYS_prlimit64, 0, RLIMIT_AS, 0, (long)&limit, 0, 0);
    core.space = limit.rlim_cur;
    core.thread_most = core_is_limited() ? THREADS_FEW : THREADS_MAX;
    core.reserve_most = core_is_limited() ? RESERVE_FEW : RESERVE_MAX;
}

bool core_is_limited(void)
{
    return core.space != RLIM_INFINITY;
}

int core_start(const char *directory)
{
    size_t length = raw_length(directory);
    if (core.started)
        return -EALREADY;
    if (length >= sizeof core.directory)
        return -ENAMETOOLONG;
    raw_copy(core.directory, directory, length + 1);
    core.pid = raw_pid();
    look_at_limits();
    core.limits = core_reserve(STACKS_MAX * sizeof *core.limits);
    core.stacks = core_reserve(STACKS_MAX * sizeof *core.stacks);
    core.by_low = core_reserve(STACKS_MAX * sizeof *core.by_low);
    core.threads = core_reserve(core.thread_most * sizeof *core.threads);
    if (!core.limits || !core.stacks || !core.by_low || !core.threads)
        return -ENOMEM;
    int r = (int)raw_call(SYS_madvise, (long)core.limits, STACKS_MAX * sizeof *core.limits, MADV_WIPEONFORK,
                          0, 0, 0);
    if (r < 0)
        return r;
    core.limits[0] = 1;
    core.stack_count = 1;
    uint64_t clone_at = (uint64_t)clone;
    dl_iterate_phdr(find_libc, &clone_at);

    long store = store_make(core.pid, &core.store_size);
    if (raw_failed(store))
        return (int)store;
    store_use((uint8_t *)store);
    if (!counters_start())
        return -ENOMEM;
    __atomic_store_n(&core.started, true, __ATOMIC_RELEASE);
    r = start_main_thread();
    if (r < 0)
        core.started = false;
    return r;
}

void core_watch(const uint32_t *trainer)
{
    core.trainer = trainer;
}

void core_record(const struct recording *recording)
{
    core.recording = *recording;
}

void (*core_entry(void))(void)
{
    extern void probe_entry_slow(void) __attribute__((visibility("hidden")));
    extern void probe_entry_monitored(void) __attribute__((visibility("hidden")));
    if (core.recording.log_calls || core.recording.weigh_ticks || core.recording.counter == RECORD_BSS)
        return probe_entry_slow;
    return core.recording.counter ? probe_entry_monitored : probe_entry;
}

void core_tell(void (*tell)(int error))
{
    core.tell = tell;
}

void core_leave(void)
{
    if (!core.started)
        return;
    const uint64_t mask = core_lock();
    core.started = false;
    core_unlock(mask);
}
