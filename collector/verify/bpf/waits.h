/*
 * waits.h - measures how long threads are off CPU (part of verify.bpf.c): reported in pairs of records
 * (verify_wire.h), one when a thread loses its CPU, after its stack was compared, and one when it gets a CPU.
 *
 * If a thread waits often in one place, only some of its waits there are reported, each with the probability
 * usual time between them / VERIFY_WAIT_EVERY, so that the reported ones, multiplied by the scale in their
 * record, add up to all on average. The probability is fixed before the wait, so the wait's own length does
 * not bias it. For a long wait that was not chosen the length is still reported, without its stack: otherwise
 * one chosen long wait would now and then stand for a hundred like it.
 */

#define WAIT_USUAL_OF 8u /* the usual time changes by this fraction of the difference */
#define WAIT_RAREST   256u

/* Records of the tracepoints sched:sched_switch and sched:sched_wakeup. verify.c checks the layouts. */
struct task_switch {
    __u64 common;
    char prev_comm[16];
    __s32 prev_tid, prev_priority;
    __s64 prev_state;
    char next_comm[16];
    __s32 next_tid;
};
struct task_wakeup {
    __u64 common;
    char comm[16];
    __s32 tid;
};
_Static_assert(offsetof(struct task_switch, prev_state) == VERIFY_SWITCH_STATE_AT &&
                   offsetof(struct task_switch, next_tid) == VERIFY_SWITCH_NEXT_AT &&
                   offsetof(struct task_wakeup, tid) == VERIFY_WAKEUP_TID_AT,
               "as verify_wire.h says");

#define TASK_ENDS 0x30 /* of prev_state (include/trace/events/sched.h) */

static struct rule_wait no_wait SEC(".data") = {0}; /* a program's stack is small */

/* The usual time between the beginnings of two waits, after another one begins. */
static __always_inline __u64 usual_after(__u64 usual, __u64 began, __u64 now, __u64 *since)
{
    const __u64 passed = now - began;
    *since = passed < VERIFY_WAIT_EVERY ? passed : VERIFY_WAIT_EVERY;
    return began ? usual - usual / WAIT_USUAL_OF + *since / WAIT_USUAL_OF : VERIFY_WAIT_EVERY;
}

/* Notes a wait in one of the stored places. Returns the usual time there; 0: no wait was noted there
 * before. */
static __always_inline __u64 usual_at(struct rule_wait_site sites[RULE_WAIT_SITES], __u64 place, __u64 now)
{
    const __u64 mixed = place * 0x9e3779b97f4a7c15ull;
    const __u32 tag = (__u32)(mixed >> 32);
    struct rule_wait_site *site = &sites[mixed >> 30 & (RULE_WAIT_SITES - 1)];
    __u64 since;
    const __u64 usual = site->tag == tag ? usual_after(site->usual, site->began, now, &since) : 0;
    site->usual = usual ? (__u32)usual : VERIFY_WAIT_EVERY;
    site->tag = tag;
    site->began = now;
    /* After a long pause a place counts as rare again. */
    return usual && since == VERIFY_WAIT_EVERY ? VERIFY_WAIT_EVERY : usual;
}

/* At the beginning of a wait: how many waits it stands for if reported, in units of 1 / WAIT_SCALE_ONE; 0: it
 * is not reported. The waits for one lock and those at one instruction and stack depth each have their own
 * probability, and the larger one is used: a thread's long waits are reported however many short ones it has
 * elsewhere. If it waits in more places than are stored, or is preempted, the probability over all of its
 * waits is used. */
static __always_inline __u32 choose_wait(struct rule_wait *w, __u64 now)
{
    __u64 since, usual = usual_after(w->usual, w->began, now, &since);
    w->usual = usual;
    w->began = now;
    usual = since == VERIFY_WAIT_EVERY ? VERIFY_WAIT_EVERY : usual;
    const __u64 at_lock = w->lock ? usual_at(w->locks, w->lock, now) : 0,
                at_depth = w->reason == WAIT_RUNNABLE ? 0 : usual_at(w->depths, w->ip + w->sp, now),
                there = at_lock > at_depth ? at_lock : at_depth;
    usual = there ? there : usual;
    if (usual > VERIFY_WAIT_EVERY / 2)
        return WAIT_SCALE_ONE;
    const __u64 likely = usual > VERIFY_WAIT_EVERY / WAIT_RAREST ? usual : VERIFY_WAIT_EVERY / WAIT_RAREST;
    return bpf_get_prandom_u32() % VERIFY_WAIT_EVERY < likely ? VERIFY_WAIT_EVERY * WAIT_SCALE_ONE / likely
                                                              : 0;
}

/* Returns whether the record was written. One that does not fit is counted as lost. */
static __always_inline bool put_wait(void *ctx, struct wait_record *r)
{
    const long rc = put_record(ctx, BPF_F_CURRENT_CPU, r, sizeof *r);
    if (rc != 0 && !is_off(rc))
        __sync_fetch_and_add(&counts.lost, 1);
    return rc == 0;
}

/* The thread gets a CPU. */
static __noinline void end_wait(void *ctx, struct wait_record *r, __u32 tid, __u64 now)
{
    struct rule_wait *w = bpf_map_lookup_elem(&waits, &tid);
    if (!w || !w->since)
        return;
    const __u64 length = now - w->since, ready = w->woken ? now - w->woken : 0;
    const bool is_long = length >= VERIFY_WAIT_LONG;
    *r = rule_wait_record(w, tid);
    __u64 *shorts = &w->shorts[(w->reason - WAIT_RUNNABLE) & (WAIT_REASONS - 1)];
    r->kind = w->told ? WAIT_ENDS : WAIT_UNREAD;
    r->length = length;
    r->ready = ready < length ? ready : length;
    if (!is_long) {
        *shorts += length - r->ready;
        w->shorts[0] += r->ready;
    }
    r->shorts = *shorts;
    r->ready_shorts = w->shorts[0];
    w->since = 0;
    if (w->told || is_long)
        put_wait(ctx, r);
    w->told = 0;
}

/* A recorded thread loses its CPU. Returns the time: later than `now` if its stack was compared. */
static __always_inline __u64 begin_wait(void *ctx, const struct pt_regs *regs, struct moment *m, __s64 state,
                                        __u64 now)
{
    struct wait_record *r = &buffer_of(m)->told.wait;
    if (!is_theirs() || !is_followed(m) || !m->told_key.tid)
        return now;
    const __u32 tid = m->told_key.tid;
    struct rule_wait *w = bpf_map_lookup_elem(&waits, &tid);
    if (!w) {
        bpf_map_update_elem(&waits, &tid, &no_wait, BPF_ANY);
        w = bpf_map_lookup_elem(&waits, &tid);
    }
    if (!w)
        return now;
    /* The kernel does not run the program on a CPU where it preempted someone in a map operation
     * (bpf_disable_instrumentation()): then the end of the previous wait was missed, and is taken to be
     * now. */
    if (w->since)
        end_wait(ctx, r, tid, now);
    w->told = 0;
    w->pid = m->pid;
    w->ip = m->ip;
    w->sp = m->sp;
    w->bp = m->bp;
    w->since = state & TASK_ENDS ? 0 : now;
    w->reason = wait_reason(state, regs->orig_rax);
    w->lock = wait_lock(w->reason, regs->orig_rax, regs->rdi);
    w->woken = w->reason == WAIT_RUNNABLE ? now : 0;
    const __u32 scale = w->since ? choose_wait(w, now) : 0;
    if (!scale)
        return now;
    w->number++;
    w->told = true; /* set early: it may be woken while its stack is compared (wakers.h) */
    if (!verify(ctx, regs, m)) {
        w->told = false;
        return now;
    }
    *r = rule_wait_record(w, tid);
    r->kind = WAIT_BEGINS;
    r->scale = scale;
    w->told = put_wait(ctx, r);
    w->since = bpf_ktime_get_ns(); /* otherwise reported waits would be longer than others */
    return w->since;
}
