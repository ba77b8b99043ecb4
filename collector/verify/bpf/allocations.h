/*
 * allocations.h - chooses which allocations of a process are sampled, where its allocator's functions are
 * entered (part of verify.bpf.c): the rule of base/sampling.h, applied to the bytes allocated on each CPU.
 */

#include "collector/verify/poisson.h"

struct drawn {
    __s64 left; /* bytes to the next sample */
    __u64 any;  /* whether `left` was drawn yet */
};
MAP(drawn, PERCPU_ARRAY, 0, 1, __u32, struct drawn);

/* By thread: the allocator's function that it entered last, from outside of the allocator. */
struct entered {
    __u64 sp, caller; /* SP at the entry; return address */
    __u64 ip;
};
MAP(entered, LRU_HASH, 0, VERIFY_THREADS, __u32, struct entered);

#define WITHIN_STACK 2048u      /* maximum stack bytes of allocator functions that call one another, */
#define WITHIN_CODE  (1u << 18) /* and maximum distance of their code */

/* Whether the function is called by another one that was already reported, such as realloc(), which calls
 * malloc() if there is nothing to enlarge. The outer one has not returned if its return address is still in
 * place, as its caller's next call would overwrite it; and it has called this function if the return address
 * here is in code near it, or has jumped to it. */
static __always_inline bool is_within(const struct pt_regs *regs)
{
    const __u32 tid = (__u32)bpf_get_current_pid_tgid();
    struct entered now = {.sp = regs->rsp, .ip = regs->rip};
    __u64 there = 0;
    bpf_probe_read_user(&now.caller, sizeof now.caller, (void *)now.sp);
    const struct entered *last = bpf_map_lookup_elem(&entered, &tid);
    if (last && last->sp == now.sp && last->caller == now.caller && last->ip != now.ip)
        return true;
    if (last && last->sp - now.sp - 1 < WITHIN_STACK &&
        now.caller - last->ip + WITHIN_CODE < 2 * WITHIN_CODE &&
        bpf_probe_read_user(&there, sizeof there, (void *)last->sp) == 0 && there == last->caller)
        return true;
    bpf_map_update_elem(&entered, &tid, &now, BPF_ANY);
    return false;
}

static __always_inline __u64 bytes_asked(const struct pt_regs *regs, __u64 function)
{
    switch (function) {
    case VERIFY_SIZE_FIRST:
        return regs->rdi;
    case VERIFY_SIZE_SECOND:
        return regs->rsi;
    case VERIFY_SIZE_THIRD:
        return regs->rdx;
    case VERIFY_SIZE_FIRST_SECOND:
        return regs->rdi * regs->rsi;
    default:
        return regs->rsi * regs->rdx;
    }
}

/* function: enum verify_allocator. */
static __noinline bool is_drawn(const struct pt_regs *regs, __u64 function)
{
    const __u32 first = 0;
    struct drawn *d = bpf_map_lookup_elem(&drawn, &first);
    const __u64 size = bytes_asked(regs, function);
    if (!d || is_within(regs))
        return false;
    if (!d->any) {
        d->any = 1;
        d->left = (__s64)poisson_next(bpf_get_prandom_u32(), config.allocation_bytes);
    }
    d->left -= size < (1ull << 62) ? (__s64)size : 1ll << 62;
    if (d->left > 0)
        return false;
    d->left = (__s64)poisson_next(bpf_get_prandom_u32(), config.allocation_bytes);
    return true;
}
