/*
 * checks.c - bursts that begin and end by numbers of calls (Hirzel and Chilimbi, Bursty Tracing, FDDO-4 2001, section 3):
 * between bursts the entries that keep their hooks are checks and count down from nCheck, in a burst all entries count down
 * from nInstr. The one that reaches the end asks the thread of bursts.c to change the hooks.
 *
 * The numbers are the process's, and are counted down without a lock: threads that do so at once may miss some. Until the
 * hooks have changed, nothing is counted.
 */
#include <linux/membarrier.h>

#include "pathmap/probe/core.h"
#include "base/raw.h"
#include "pathmap/probe/state.h"

#define LOOKS 100

int64_t probe_to_go = INT64_MAX;
uint32_t probe_counting = 1; /* whether entries are recorded */
void (*probe_counted)(void);

static uint32_t turn; /* futex: 1: hooks are to change */

/* By several threads, perhaps. */
void core_turn(void)
{
    __atomic_store_n(&probe_counting, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&probe_to_go, INT64_MAX, __ATOMIC_RELAXED);
    __atomic_store_n(&turn, 1, __ATOMIC_RELEASE);
    raw_call(SYS_futex, (long)&turn, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

static bool is_turn(void)
{
    return __atomic_load_n(&turn, __ATOMIC_ACQUIRE);
}

/* A thread may have been counting down the number from before, and overwrite the new one: mostly at once, which is seen
 * before much is counted. */
static bool is_overwritten(uint64_t calls)
{
    bool overwritten = false;
    for (unsigned i = 0; i < LOOKS && !overwritten; i++) {
        overwritten = __atomic_load_n(&probe_to_go, __ATOMIC_ACQUIRE) > (int64_t)calls && !is_turn();
        __builtin_ia32_pause();
    }
    return overwritten;
}

void core_count_calls(bool burst)
{
    uint64_t calls = burst ? core.recording.burst_calls : core.recording.check_calls;
    __atomic_store_n(&turn, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&probe_counting, burst, __ATOMIC_RELEASE); /* first: the number may be reached at once */
    do {
        do
            __atomic_store_n(&probe_to_go, (int64_t)calls, __ATOMIC_RELEASE);
        while (is_overwritten(calls));
        raw_call(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0, 0, 0, 0);
    } while (is_overwritten(calls));
}

bool core_awaits_turn(uint64_t ns)
{
    struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    if (!is_turn())
        raw_call(SYS_futex, (long)&turn, FUTEX_WAIT_PRIVATE, 0, (long)&t, 0, 0);
    return is_turn();
}
