/* return_probes.h - restores return addresses that the kernel replaced for return probes (part of
 * verify.bpf.c). */

#define HOOKS_MOST 64 /* of one thread at a time: MAX_URETPROBE_DEPTH */

static __always_inline __u64 kernel_word(__u64 address)
{
    __u64 word = 0;
    return bpf_probe_read_kernel(&word, sizeof word, (const void *)address) == 0 ? word : 0;
}

/* Restores one. */
__noinline int verify_put_back(__u32 cpu, __u64 sp, __u32 size, __u64 instance, __u64 trampoline)
{
    struct buffer *buffer = bpf_map_lookup_elem(&buffers, &cpu);
    __u64 at = kernel_word(instance + config.hooks.stack) - sp;
    /* after a longjmp past the call the stack has other words */
    if (!buffer || at > size - 8 || word_at(buffer->stack + bounded(at)) != trampoline)
        return 0;
    __u64 original = kernel_word(instance + config.hooks.original);
    __builtin_memcpy(buffer->stack + bounded(at), &original, sizeof original);
    return 1;
}

/* Restores, in the CPU's buffer with `size` bytes from sp, the return addresses that the kernel replaced with
 * the address of its trampoline. */
__noinline int verify_unhook(__u32 cpu, __u64 sp, __u32 size)
{
    __u64 task = bpf_get_current_task();
    if (size < 8 || !config.hooks.next)
        return 0;
    __u64 probes = kernel_word(task + config.hooks.task_uprobes);
    __u64 instance = probes ? kernel_word(probes + config.hooks.instances) : 0;
    if (!instance)
        return 0;
    __u64 area = kernel_word(kernel_word(task + config.hooks.task_mm) + config.hooks.mm_area);
    __u64 trampoline = area ? kernel_word(area + config.hooks.area_address) : 0;
    for (__u32 i = 0; i < HOOKS_MOST && instance && trampoline; i++) {
        verify_put_back(cpu, sp, size, instance, trampoline);
        instance = kernel_word(instance + config.hooks.next);
    }
    return 0;
}
