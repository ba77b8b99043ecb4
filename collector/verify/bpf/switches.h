/* switches.h - stacks that continue on another stack: the system stacks of Go's threads (part of
 * verify.bpf.c). */

/* Finds what runs on this thread, and its system stack. */
static __always_inline bool find_running(const struct rule_switch *s, __u64 *running, __u64 *machine,
                                         __u64 *system)
{
    return config.hooks.task_fs &&
           user_word(kernel_word(bpf_get_current_task() + config.hooks.task_fs) + (__s64)s->thread,
                     running) &&
           user_word(*running + s->machine, machine) && user_word(*machine + s->system, system);
}

/* Bytes of the stack that it continues on, so that both fit into the buffer: the kernel's verifier knows only
 * the power of two that a size is below, and so that of the position behind the system stack. */
#define SWITCH_NEAR       4096u
#define SWITCH_BYTES_NEAR 57000u
#define SWITCH_BYTES      28000u

/* Finds where the stack continues, if a thread is on its runtime's system stack: sets `other` in the CPU's
 * buffer. Returns the bytes of the system stack; 0: the thread is not on one. */
__noinline int verify_switch(__u32 cpu, __u64 sp, __u32 space)
{
    struct buffer *buffer = bpf_map_lookup_elem(&buffers, &cpu);
    const struct rule_switch *s = bpf_map_lookup_elem(&switches, &space);
    __u64 running, machine, system, current, top, high, last;
    if (!buffer || !s || !find_running(s, &running, &machine, &system) || running != system ||
        !user_word(machine + s->current, &current) || !current || !user_word(system + s->saved, &top) ||
        !user_word(current + RULE_SWITCH_HIGH, &high) ||
        bpf_probe_read_user(&buffer->other, 2 * sizeof(__u64), (const void *)(current + s->saved)) != 0)
        return 0;
    /* Else the scheduler is about to run the goroutine. */
    if (buffer->other.pc - s->call >= s->call_size &&
        (!user_word(top - sizeof last, &last) || last - s->grow >= s->grow_size))
        return 0;
    const __u64 at = top - sp, size = high - buffer->other.sp;
    const __u64 most = at + STACK_RECORD_BELOW < SWITCH_NEAR ? SWITCH_BYTES_NEAR : SWITCH_BYTES;
    buffer->other.size = size < most ? size & ~7ull : most;
    return at < RULE_SWITCH_AT && at % 8 == 0 ? at : 0;
}

/* Bytes from SP to the base of the running goroutine's stack; 0: unknown, as for a system stack, whose own
 * entry is a guess. */
__noinline int verify_goroutine(__u64 sp, __u32 space)
{
    const struct rule_switch *s = bpf_map_lookup_elem(&switches, &space);
    __u64 running, machine, system, high;
    if (!s || !find_running(s, &running, &machine, &system) || running == system ||
        !user_word(running + RULE_SWITCH_HIGH, &high) || high - sp >= VERIFY_OWN_STACK_MAX)
        return 0;
    return high - sp;
}

/* Reads the bytes of the system stack. */
static __always_inline bool read_first(struct buffer *buffer, __u32 cpu, __u64 from, __u32 size)
{
    return bpf_probe_read_user(buffer->stack, bounded(size) & (RULE_SWITCH_AT - 1), (void *)from) == 0 ||
           verify_read_pages(cpu, from, size) == (int)size;
}

/* Reads `size` bytes of the stack that it continues on into the CPU's buffer at `at`, behind the system stack
 * and the saved PC. */
static __always_inline bool read_other(struct buffer *buffer, __u32 at, __u64 size)
{
    const void *from = (const void *)buffer->other.sp;
    const __u64 pc = buffer->other.pc;
    if (size > (at < SWITCH_NEAR ? SWITCH_BYTES_NEAR : SWITCH_BYTES))
        return false;
    if (at < SWITCH_NEAR) {
        __u8 *to = buffer->stack + (bounded(at) & (SWITCH_NEAR - 1));
        __builtin_memcpy(to, &pc, sizeof pc);
        return bpf_probe_read_user(to + sizeof pc, bounded(size), from) == 0;
    }
    __u8 *to = buffer->stack + (bounded(at) & (RULE_SWITCH_AT - 1));
    __builtin_memcpy(to, &pc, sizeof pc);
    return bpf_probe_read_user(to + sizeof pc, bounded(size) & (RULE_SWITCH_AT - 1), from) == 0;
}
