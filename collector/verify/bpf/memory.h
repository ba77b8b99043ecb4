/* memory.h - reads memory of the sampled program into the CPU's buffer, within bounds that the kernel's
 * verifier can follow (part of verify.bpf.c). */

/* Returns the number unchanged, in a way that shows the kernel's verifier that it is below RULE_BUFFER. */
static __always_inline __u64 bounded(__u64 number)
{
    __asm__ volatile("" : "+r"(number));
    return number & (RULE_BUFFER - 1);
}

/* The same, within the red zone. */
static __always_inline __u64 bounded_below(__u64 number)
{
    __asm__ volatile("" : "+r"(number));
    return number & (STACK_RECORD_BELOW - 1);
}

/* The same, within the outermost bytes. */
static __always_inline __u64 bounded_outer(__u64 number)
{
    __asm__ volatile("" : "+r"(number));
    return number & (STACK_RECORD_OUTER - 1);
}

/* A number that is kept in memory, as the kernel's verifier does not follow what is there. For one in a register
 * or on the stack that is used for an address, it looks up all that it came from, and then compares all numbers
 * of each path with all others (mark_chain_precision() of kernel/bpf/verifier.c). */
static __always_inline __u64 unfollowed(const volatile __u64 *number)
{
    return *number;
}

/* Sets it. */
static __always_inline void unfollowed_set(volatile __u64 *number, __u64 value)
{
    *number = value;
}

#define PAGE 4096u
/* Fills in for unmapped pages. */
static __u8 hole[PAGE] SEC(".data") = {[0 ... PAGE - 1] = STACK_RECORD_HOLE};

/* Reads `size` bytes of the stack into the CPU's buffer page by page, after reading it at once failed, which
 * is all or nothing. A page is missing if the program never touched it, for example within a large array. It
 * is filled with STACK_RECORD_HOLE, so that no stack walk continues from bytes that were not read. Returns
 * the bytes up to the end of the last page present. */
__noinline int verify_read_pages(__u32 cpu, __u64 sp, __u32 size)
{
    struct buffer *buffer = bpf_map_lookup_elem(&buffers, &cpu);
    __u64 first = PAGE - (sp & (PAGE - 1)), end = 0;
    if (!buffer)
        return 0;
    if (bpf_probe_read_user(buffer->stack, first, (void *)sp) == 0)
        end = first;
    else if (bpf_probe_read_kernel(buffer->stack, first, hole) != 0)
        return 0;
    for (__u32 i = 0; i < RULE_STACK_MAX / PAGE; i++) {
        __u64 at = bounded(first + i * PAGE);
        if (at >= size || at > RULE_STACK_MAX)
            break;
        if (bpf_probe_read_user(buffer->stack + at, PAGE, (void *)(sp + at)) == 0)
            end = at + PAGE;
        else if (bpf_probe_read_kernel(buffer->stack + at, PAGE, hole) != 0)
            break;
    }
    return end < size ? end : size;
}

/* Reads at any alignment, as a program can have any SP. (For BPF, memcpy() would copy byte by byte.) */
static __always_inline __u64 word_at(const __u8 *at)
{
#ifdef __bpf__
    return *(const __u64 *)at;
#else
    __u64 word;
    __builtin_memcpy(&word, at, sizeof word);
    return word;
#endif
}

static __always_inline bool user_word(__u64 address, __u64 *word)
{
    return bpf_probe_read_user(word, sizeof *word, (const void *)address) == 0;
}

/* Reads the red zone, for words in it. */
static __always_inline void take_below(struct buffer *buffer, __u64 sp)
{
    if (bpf_probe_read_user(buffer->below, STACK_RECORD_BELOW, (void *)(sp - STACK_RECORD_BELOW)) != 0)
        __builtin_memset(buffer->below, STACK_RECORD_HOLE, STACK_RECORD_BELOW);
}

/* Reads the bytes before the stack's base, for comparison or writing. They may be in two pages, of which the
 * inner one is missing if it is the untouched middle of a large array. false: they cannot be read. `to` is in
 * the CPU's buffer, with as much space behind it. */
static __always_inline bool take_outer(__u64 base, __u8 *to)
{
    _Static_assert(STACK_RECORD_OUTER == PAGE, "two pages");
    if (bpf_probe_read_user(to, STACK_RECORD_OUTER, (void *)(base - STACK_RECORD_OUTER)) == 0)
        return true;
    const __u64 last = bounded_outer(base), before = bounded_outer(STACK_RECORD_OUTER - last);
    return last && bpf_probe_read_kernel(to, STACK_RECORD_OUTER, hole) == 0 &&
           bpf_probe_read_user(to + before, last, (void *)(base - last)) == 0;
}
