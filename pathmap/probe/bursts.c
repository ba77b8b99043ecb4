/*
 * bursts.c - static bursts (HCCT paper, section 4.3): a thread of the runtime puts all hooks in for `burst_ns`
 * and takes them out for the rest of `interval_ns`. Without hooks the code is unchanged, byte for byte. Or hooks
 * are put in and taken out when the trainer requests it.
 *
 * Code that other threads may be running is changed in steps. After each step, all threads execute a serialising
 * instruction (membarrier(2), SYNC_CORE; Intel SDM, volume 3, section 8.1.3):
 *
 *      in:   the first byte of each hook becomes int3: a thread that arrives continues in the trampoline, by the SIGTRAP handler.
 *            From then on no thread gets inside the bytes to be replaced; then each thread is observed until it was outside
 *            once (outside.h); the other bytes; the first byte.
 *      out:  the first byte becomes int3; the other bytes; the first byte. A jump is one instruction: no thread is inside. Pads
 *            are restored once each thread was outside of them.
 *
 * If a thread's position cannot be determined, the hooks stay out until the next turn. In adaptive bursts they
 * also stay out if the first thread that hits an int3 is in a context in which an earlier burst began, except
 * once in `once_in` times: that burst then counts for as many (first_context.c). All stacks are unwound after
 * each change (resync.c).
 *
 * The thread blocks all signals, makes system calls only, and has the TLS of the thread that created it, which it
 * never uses.
 */
#include "pathmap/probe/bursts.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#include "base/hash.h"
#include "pathmap/probe/core.h"
#include "pathmap/probe/images.h"
#include "pathmap/probe/leave.h"
#include "pathmap/probe/mail_client.h"
#include "pathmap/probe/notes.h"
#include "pathmap/probe/outside.h"
#include "base/raw.h"

#define STACK_SIZE   65536u
#define LOOK_NS      100000000u /* how often to check whether the session has ended */
#define RETRY_NS     1000000u   /* at first; doubles with each failure, up to LOOK_NS */
#define LISTEN_NS    20000000u /* limit for the first call: whoever opens or closes a library waits meanwhile */
#define THREAD_FLAGS (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM)

static struct {
    struct mail *mail; /* NULL: no bursts */
    uint8_t *stack;
    bool in; /* hooks are in */
    uint64_t random;
} state;

static void step_images(enum patch_step step)
{
    images_step(step);
    raw_call(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0, 0, 0, 0);
}

/* How much each call of a burst counts; 0: there is no burst. */
static uint32_t choose_weight(const struct recording *recording)
{
    if (!recording->once_in)
        return 1;
    switch (core_first_context(recording->burst_ns < LISTEN_NS ? recording->burst_ns : LISTEN_NS)) {
    case CORE_NEW:
        return 1;
    case CORE_KNOWN:
        return recording->once_in == UINT32_MAX || hash_u64(++state.random) % recording->once_in
                   ? 0
                   : recording->once_in;
    default:
        return 0; /* no thread calls anything */
    }
}

static void omit_burst(void)
{
    core_resync();
    step_images(PATCH_HEADS_OUT);
    images_end(true);
    core_decide(0); /* the code is unchanged: threads that waited for this hit no breakpoint */
    core_burst_omitted();
}

/* Puts the hooks in. If an image is just being opened or closed, that is left to the next turn. */
static void put_in(const struct recording *recording)
{
    if (!images_begin())
        return;
    if (recording->once_in)
        core_listen();
    core_resync();
    step_images(PATCH_TRAPS);
    uint32_t weight = choose_weight(recording);
    if (!weight) {
        omit_burst();
        return;
    }
    if (recording->once_in)
        core_decide(weight);
    bool outside = outside_all(images_inside);
    if (outside)
        step_images(PATCH_TAILS_IN);
    step_images(outside ? PATCH_HEADS_IN : PATCH_HEADS_OUT);
    images_end(!outside);
    state.in = outside;
}

static void take_out(void)
{
    if (!images_begin())
        return;
    step_images(PATCH_TRAPS);
    step_images(PATCH_TAILS_OUT);
    step_images(PATCH_HEADS_OUT);
    if (outside_all(images_inside))
        step_images(PATCH_PADS_OUT);
    core_resync();
    images_end(true);
    state.in = false;
}

static void pause_ns(uint64_t ns)
{
    struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    raw_call(SYS_nanosleep, (long)&t, 0, 0, 0, 0, 0);
}

static void turns_by_time(const struct recording *recording)
{
    uint64_t from = raw_now_ns(), pause = recording->interval_ns - recording->burst_ns;
    while (probe_works() && !mail_is_over(state.mail)) {
        pause_ns(state.in ? recording->burst_ns : pause);
        if (state.in) {
            uint64_t end = raw_now_ns();
            take_out();
            if (!state.in)
                core_burst(end - from);
        } else {
            put_in(recording);
            from = raw_now_ns();
        }
    }
}

/* Doubles the time until the next try. */
static void wait_longer(uint64_t *retry)
{
    pause_ns(*retry);
    *retry = 2 * *retry < LOOK_NS ? 2 * *retry : LOOK_NS;
}

/* Waits until the trainer's request changes, or LOOK_NS have passed. */
static void await_request(uint32_t turns)
{
    struct timespec t = {0, LOOK_NS};
    raw_call(SYS_futex, (long)&state.mail->turns, FUTEX_WAIT, (long)turns, (long)&t, 0, 0);
}

static void turns_on_request(const struct recording *recording)
{
    uint64_t from = raw_now_ns(), retry = RETRY_NS;
    while (probe_works() && !mail_is_over(state.mail)) {
        const uint32_t turns = __atomic_load_n(&state.mail->turns, __ATOMIC_ACQUIRE);
        const bool burst = state.in;
        if ((turns & 1) == burst) {
            await_request(turns);
            continue;
        }
        const uint64_t end = raw_now_ns();
        if (burst)
            take_out();
        else
            put_in(recording);
        if (state.in == burst) {
            wait_longer(&retry);
            continue;
        }
        if (burst)
            core_burst(end - from);
        retry = RETRY_NS;
        from = raw_now_ns();
    }
}

static int run_turns(void *unused)
{
    const struct recording *recording = &state.mail->recording;
    (void)unused;
    if (recording->on_request)
        turns_on_request(recording);
    else
        turns_by_time(recording);
    if (state.in)
        take_out();
    return 0;
}

static long may_synchronise(void)
{
    return raw_call(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0, 0, 0, 0);
}

static void start_thread(void)
{
    const uint64_t mask = raw_signal_mask(SIG_BLOCK, ~0ull);
    int tid = clone(run_turns, state.stack + STACK_SIZE, THREAD_FLAGS, NULL);
    raw_signal_mask(SIG_SETMASK, mask);
    if (tid < 0)
        note(NOTE_BURSTS, EAGAIN, NULL);
}

void bursts_start(struct mail *mail)
{
    if (!recording_has_bursts(&mail->recording))
        return;
    long r = may_synchronise();
    state.stack = r < 0 ? NULL : raw_memory(STACK_SIZE);
    if (!state.stack) {
        note(NOTE_BURSTS, r < 0 ? (int)-r : ENOMEM, NULL);
        return;
    }
    state.mail = mail;
    state.in = true;
    state.random = raw_ticks();
    start_thread();
}

void bursts_fork_child(void)
{
    if (!state.mail)
        return;
    images_fork_child();
    outside_fork_child();
    core_resync();
    core_decide(1);
    state.in = false;
    state.random = raw_ticks();
    if (may_synchronise() == 0)
        start_thread();
    else
        note(NOTE_BURSTS, EPERM, NULL);
}
