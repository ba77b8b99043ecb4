/*
 * wakers.h - reports who ends waits (part of verify.bpf.c): when a thread is woken, with the stack of the
 * thread that wakes it. Threads woken in an interrupt were woken by a device or timer, whatever thread was
 * interrupted. This is detected on the kernel's own stack by return addresses into its interrupt entries
 * (arch/x86/include/asm/idtentry.h), which also covers work at the end of an interrupt (softirqs).
 */

#define WAKER_DEPTH 64u /* maximum kernel functions between the wakeup and the entry */

/* WAKER_INTERRUPT, WAKER_TIMER; 0: the thread itself entered the kernel. */
static __always_inline __u8 interrupt_of(void *ctx, struct buffer *buffer)
{
    const volatile struct verify_interrupts *i = &config.interrupts;
    __u64 *stack = (__u64 *)buffer->outer;
    const long size = bpf_get_stack(ctx, stack, WAKER_DEPTH * sizeof *stack, 0);
    for (__u32 n = 0; n < WAKER_DEPTH && (long)(n * sizeof *stack) < size; n++) {
        const __u64 at = stack[n];
        if (at - i->timer < i->timer_end - i->timer)
            return WAKER_TIMER;
        if (at - i->first < i->end - i->first)
            return WAKER_INTERRUPT;
    }
    return 0;
}

/* Who wakes the thread (enum waker_kind); of WAKER_THREAD, its stack was written. 0: that failed. */
static __always_inline __u8 waker_of(void *ctx, const struct pt_regs *regs, struct moment *m,
                                     struct waker_record *r)
{
    const __u8 interrupt = interrupt_of(ctx, buffer_of(m));
    if (interrupt)
        return interrupt;
    if (!m->sp) /* kernel threads have no user stack */
        return WAKER_KERNEL;
    if (!is_theirs() || !is_followed(m))
        return WAKER_OTHER;
    r->pid = m->pid;
    r->tid = m->told_key.tid;
    return verify(ctx, regs, m) ? WAKER_THREAD : 0;
}

/* A thread is woken by the current one, or by an interrupt in it. */
static __always_inline void tell_waker(void *ctx, __u32 tid)
{
    const struct rule_wait *w = bpf_map_lookup_elem(&waits, &tid);
    if (!w || !w->since || w->woken || !w->told)
        return;
    const struct pt_regs *regs = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
    struct moment *m = begin_sample(regs);
    if (!m)
        return;
    struct waker_record *r = &buffer_of(m)->told.waker;
    *r = (struct waker_record){
        .magic = WAKER_RECORD_MAGIC, .pid = w->pid, .tid = tid, .woken = tid, .wait = w->number};
    r->kind = waker_of(ctx, regs, m, r);
    r->ip = m->ip;
    r->sp = m->sp;
    r->bp = m->bp;
    bpf_get_current_comm(r->comm, sizeof r->comm);
    if (r->kind)
        put_record(ctx, BPF_F_CURRENT_CPU, r, sizeof *r);
}
