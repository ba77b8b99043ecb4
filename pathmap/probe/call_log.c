/*
 * call_log.c - writes the log of a thread's calls (pathmap/wire/call_log.h).
 *
 * A signal handler may interrupt any of this and log calls itself: an event's place is claimed by one
 * instruction. A handler that never returns (longjmp) may leave a place empty, which readers skip.
 */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "pathmap/probe/core.h"
#include "base/raw.h"
#include "pathmap/probe/state.h"
#include "pathmap/wire/call_log.h"

/* The next smaller size to try for a file; 0 after the smallest. */
static uint64_t next_size(uint64_t size)
{
    if (!size)
        return core_is_limited() ? CALL_LOG_SIZE_FEW : CALL_LOG_SIZE;
    return size / 2 > 2 * CALL_LOG_STEP ? size / 2 : 0;
}

/* An address, or a negative errno. *size: as large as the limits on files and address space allow. */
static long map_file(int fd, uint64_t *size)
{
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    long p = -EFBIG;
    raw_call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit, 0, 0);
    for (*size = next_size(0); *size; *size = next_size(*size)) {
        if (*size > limit.rlim_cur) /* ftruncate would raise SIGXFSZ */
            continue;
        p = raw_call(SYS_ftruncate, fd, (long)*size, 0, 0, 0, 0);
        if (p == 0)
            p = raw_mmap(0, *size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd);
        if (!raw_failed(p))
            break;
    }
    return p;
}

/* Maps a new file. Its first events have no disk space yet: log.end is where they begin. Signals are blocked. */
static bool log_make(struct thread *thread)
{
    int fd = store_open_new(CALL_LOG_PREFIX, thread->tid);
    if (fd < 0)
        return false;
    uint64_t size;
    long p = map_file(fd, &size);
    raw_close(fd);
    if (raw_failed(p))
        return false;
    struct call_log_header *header = (struct call_log_header *)p;
    if (!store_room(header, sizeof *header)) {
        raw_munmap(header, size);
        return false;
    }
    header->magic = CALL_LOG_MAGIC;
    header->store = core.header->token;
    thread->log.end = thread->log.at = (uint64_t)(header + 1);
    thread->log.size = size;
    thread->log.from = (uint64_t)p;
    return true;
}

static bool log_open(struct thread *thread)
{
    const uint64_t mask = raw_signal_mask(SIG_BLOCK, ~0ull);
    bool open = thread->log.from || log_make(thread); /* a handler may have made it meanwhile */
    raw_signal_mask(SIG_SETMASK, mask);
    return open;
}

/* Allocates disk space up to and beyond an event. */
static bool log_grow(struct thread *thread, uint64_t at)
{
    uint64_t most = thread->log.from + thread->log.size;
    if (trainer_is_over() || at + CALL_LOG_STEP > most || !store_room((void *)at, CALL_LOG_STEP))
        return false;
    uint64_t end = RAW_PAGE_DOWN(at + CALL_LOG_STEP);
    if (end > thread->log.end)
        *(volatile uint64_t *)&thread->log.end = end;
    return true;
}

static void log_fail(struct thread *thread)
{
    thread->log.failed = true;
    core.header->logs_cut++;
}

void call_log_add(struct thread *thread, uint32_t node)
{
    if (thread->log.failed)
        return;
    if (!thread->log.from && !log_open(thread)) {
        log_fail(thread);
        return;
    }
    uint64_t passed = ticks_passed(thread), at = sizeof(struct call_log_event);
    __asm__ volatile("xaddq %0, %1" : "+r"(at), "+m"(thread->log.at));
    if (at < sizeof(struct call_log_header))
        return; /* a handler forked, and this is the child, whose log is not open yet */
    if (at + sizeof(struct call_log_event) > *(volatile uint64_t *)&thread->log.end &&
        !log_grow(thread, at)) {
        log_fail(thread);
        return;
    }
    struct call_log_event *event = (struct call_log_event *)at;
    event->ticks = passed < UINT32_MAX ? (uint32_t)passed : UINT32_MAX;
    *(volatile uint32_t *)&event->node = node;
}

/* The mapping stays in place, without the file: an interrupted call_log_add() may still write there. */
void call_log_forget(struct thread *thread)
{
    if (thread->log.from)
        raw_mmap(thread->log.from, thread->log.size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1);
    thread->log = (struct thread_log){0};
}
