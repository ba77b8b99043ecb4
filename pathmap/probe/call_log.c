/*
 * call_log.c - writes the log of a thread's calls (pathmap/wire/call_log.h).
 *
 * A signal handler may interrupt any of this and log calls itself: an event's place is taken by one instruction, and
 * an event that a handler logs in between stands after the interrupted one.
 */
#include "pathmap/probe/core.h"
#include "pathmap/probe/raw.h"
#include "pathmap/probe/state.h"
#include "pathmap/wire/call_log.h"

static uint64_t log_size(void)
{
    return core_is_limited() ? CALL_LOG_SIZE_FEW : CALL_LOG_SIZE;
}

/* Maps a new file. Its first events have no disk space yet: log_end is where they begin. */
static bool log_open(struct thread *thread)
{
    int fd = store_open_new(CALL_LOG_PREFIX, thread->tid);
    if (fd < 0)
        return false;
    uint64_t size = log_size();
    long p = raw_call(SYS_ftruncate, fd, (long)size, 0, 0, 0, 0);
    if (p == 0)
        p = raw_mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd);
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
    thread->log.last = raw_ticks();
    BARRIER();
    *(volatile uint64_t *)&thread->log.from = (uint64_t)p;
    return true;
}

/* Allocates disk space up to and beyond an event. */
static bool log_grow(struct thread *thread, uint64_t at)
{
    uint64_t most = thread->log.from + log_size();
    if (at + CALL_LOG_STEP > most || !store_room((void *)at, CALL_LOG_STEP))
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
    uint64_t now = raw_ticks(), passed = now - thread->log.last, at = sizeof(struct call_log_event);
    thread->log.last = now;
    __asm__ volatile("xaddq %0, %1" : "+r"(at), "+m"(thread->log.at));
    if (at + sizeof(struct call_log_event) > *(volatile uint64_t *)&thread->log.end &&
        !log_grow(thread, at)) {
        log_fail(thread);
        return;
    }
    struct call_log_event *event = (struct call_log_event *)at;
    event->ticks = passed < UINT32_MAX ? (uint32_t)passed : UINT32_MAX;
    *(volatile uint32_t *)&event->node = node;
}

void call_log_forget(struct thread *thread)
{
    if (thread->log.from)
        raw_munmap((void *)thread->log.from, log_size());
    thread->log = (struct thread_log){0};
}
