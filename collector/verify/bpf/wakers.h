/*
 * wakers.h - who ends waits (part of verify.bpf.c): told where a thread is woken, by the stack of the thread that does it. An interrupt wakes whom a device or a timer woke,
 * whatever thread it met: the kernel's own stack tells, by the return addresses into its entries (arch/x86/include/asm/idtentry.h), also of what it does as it ends (softirqs).
 */
#ifndef FATHOM_COLLECTOR_VERIFY_BPF_WAKERS_H
#define FATHOM_COLLECTOR_VERIFY_BPF_WAKERS_H

#define WAKER_DEPTH 64u /* functions of the kernel, between the wake and the entry */

/* WAKER_INTERRUPT, WAKER_TIMER; 0: the thread itself came here. */
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

/* Whose doing it is; of WAKER_THREAD, its stack was told. 0: that could not be written. */
static __always_inline __u8 waker_of(void *ctx, const struct pt_regs *regs, struct moment *m,
                                     struct waker_record *r)
{
    const __u8 interrupt = interrupt_of(ctx, buffer_of(m));
    if (interrupt)
        return interrupt;
    if (!m->sp) /* threads of the kernel have no stack in user mode */
        return WAKER_KERNEL;
    if (!is_theirs() || !is_followed(m))
        return WAKER_OTHER;
    r->pid = m->pid;
    r->tid = m->told_key.tid;
    return verify(ctx, regs, m) ? WAKER_THREAD : 0;
}

/* A thread is woken, by this one, or by an interrupt in it. */
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

#endif
