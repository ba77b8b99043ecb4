/* copy.h - reads a stack that is not known, within the budget: whole, folded, or up to a known one (part of
 * verify.bpf.c). */

/* Whether the process leaves enough of the budget to others, when all programs of a CPU are recorded. */
static __always_inline bool within_share(struct moment *m, __u64 left)
{
    if (config.follow < VERIFY_EVERYONE)
        return true;
    const __u32 pid = m->pid;
    struct rule_share *now = &buffer_of(m)->share;
    now->second = m->now >> 30;
    const struct rule_share *before = bpf_map_lookup_elem(&shares, &pid);
    if (before && !rule_may_take(before, now->second, left))
        return false;
    now->taken = 1 + (before && before->second == now->second ? before->taken : 0);
    bpf_map_update_elem(&shares, &pid, now, BPF_ANY);
    return true;
}

static __always_inline bool within_budget(struct moment *m)
{
    m->now = bpf_ktime_get_ns();
    __u64 allowed = config.burst + (m->now - config.started) / 1024 * config.rate / 976562;
    if (counts.copies >= allowed || !within_share(m, allowed - counts.copies))
        return false;
    __sync_fetch_and_add(&counts.copies, 1);
    return true;
}

/* Number of bytes of the stack to read: up to its base. */
static __always_inline __u64 bytes_to_read(const struct moment *m)
{
    __u64 size = m->base - m->sp;
    if (m->apart)
        size = verify_goroutine(m->sp, m->space);
    else if (!m->base)
        size = 0;
    size = size ? size : STACK_RECORD_NO_BASE;
    return size < RULE_STACK_MAX ? size : RULE_STACK_MAX;
}

/* Whether so many bytes of a stack may be written to this CPU's ring. */
static __always_inline bool has_room(__u32 cpu, __u64 size)
{
    const __s64 *room = bpf_map_lookup_elem(&rooms, &cpu);
    return room && *room >= (__s64)size;
}

static __always_inline void take_capacity(__u32 cpu, __u64 size)
{
    __s64 *room = bpf_map_lookup_elem(&rooms, &cpu);
    if (room)
        __sync_fetch_and_add(room, -(__s64)size);
}

/* Reads `size` bytes of the stack from an address, or what is mapped of them. Returns how many. */
static __always_inline __u32 read_stack(struct moment *m, __u32 cpu, __u64 from, __u64 size)
{
    if (size > RULE_STACK_MAX || size < 8)
        return 0;
    __u64 got = size;
    if (bpf_probe_read_user(buffer_of(m)->stack, bounded(size), (void *)from) != 0)
        got = bounded(verify_read_pages(cpu, from, size));
    verify_unhook(cpu, from, got);
    return got;
}

/* Stores the registers in a stack's record. */
static __always_inline void put_registers(const struct moment *m, struct stack_record_read *r)
{
    r->registers_part = (struct stack_part){STACK_PART_REGISTERS, 0, sizeof r->mask + sizeof r->registers};
    r->mask = STACK_RECORD_REGISTERS;
    __builtin_memcpy(r->registers, m->registers, sizeof r->registers);
}

/* How many bytes below SP a new stack includes: the red zone, if the word directly below SP is an
 * address in this stack. It is in code that saves its CFA there; in most other code the word is an old
 * return address. */
static __always_inline __u32 bytes_below(const struct moment *m)
{
    __u64 word = 0;
    if (bpf_probe_read_user(&word, sizeof word, (void *)(m->sp - sizeof word)) != 0 ||
        word - m->sp >= RULE_STACK_MAX)
        return 0;
    return STACK_RECORD_BELOW;
}

/* Reads a stack that is larger than a record, as far as it is mapped. Returns the record's bytes. */
static __always_inline __u32 read_deep(struct moment *m, __u32 cpu, __u64 from)
{
    struct outer_part *outer = (void *)(buffer_of(m)->stack + INNER_BYTES);
    if (read_stack(m, cpu, from, INNER_BYTES) == 0 || !take_outer(m->base, outer->bytes))
        return 0;
    outer->part = (struct stack_part){STACK_PART_BYTES, 0, sizeof outer->offset + sizeof outer->bytes};
    outer->offset = m->base - STACK_RECORD_OUTER - m->sp;
    m->deep = true;
    return RULE_STACK_MAX;
}

/* Bytes of a stack larger than a record to be written before the record; 0: the stack repeats, or is too
 * large to be written whole. */
static __always_inline __u64 bytes_of_more(const struct moment *m, __u32 below)
{
    const __u64 size = m->base - STACK_RECORD_OUTER - m->sp - (INNER_BYTES - below);
    return size <= STACK_RECORD_MORES * RULE_STACK_MAX && !verify_number(m->ip, RULE_RUNS, m->space) ? size
                                                                                                     : 0;
}

/* Writes these bytes. Unmapped parts are STACK_RECORD_HOLE, as readers expect no gap. If one record cannot be
 * written, the following ones are not either. */
static __always_inline void tell_more(void *ctx, struct moment *m, __u32 cpu, __u32 below, __u32 number,
                                      __u64 left)
{
    __u32 at = INNER_BYTES - below;
    for (__u32 i = 0; i < STACK_RECORD_MORES && left >= 8; i++) {
        const __u32 size = left < RULE_STACK_MAX ? left : RULE_STACK_MAX;
        read_stack(m, cpu, m->sp + at, size);
        if (put_more(ctx, m, number, at, size) != 0)
            return;
        take_capacity(cpu, size);
        at += size;
        left -= size;
    }
}

/* Follows a stack that continues on another one. */
struct switch_part {
    struct stack_part part;
    struct stack_switch at;
};

/* Reads both stacks. Returns the record's bytes; 0: they cannot be read. */
static __always_inline __u32 read_both(struct moment *m, __u32 cpu, __u32 below)
{
    const __u32 at = m->split + below, size = buffer_of(m)->other.size;
    const __u32 end = at + 8 + size;
    if (at >= RULE_SWITCH_AT || !read_first(buffer_of(m), cpu, m->sp - below, at) ||
        !read_other(buffer_of(m), at, size))
        return 0;
    verify_unhook(cpu, m->sp - below, at);
    struct switch_part *last = (void *)(buffer_of(m)->stack + bounded(end));
    last->part = (struct stack_part){STACK_PART_SWITCH, 0, sizeof last->at};
    last->at = (struct stack_switch){m->split, 0};
    m->inner = end;
    return end + sizeof *last;
}

/* Replaces the middle of a stack if that repeats. The rest of the stack follows. */
struct folded {
    struct stack_part run_part;
    struct stack_run run;
    struct stack_part rest_part;
    __s64 offset;
};
_Static_assert(sizeof((struct folded *)0)->run.at == sizeof((struct rule_words *)0)->height &&
                   STACK_RUN_RELATIVE == RULE_RELATIVE,
               "a run part has a block's words");
#define JOINT_MAX  32768u /* maximum bytes of a stack up to a known one: else it is read whole */
#define FOLD_LEAST 8192u  /* bytes: smaller stacks are written whole */
#define FOLD_INNER 4096u  /* maximum bytes up to the end of the run's second period */
#define FOLD_REST  32768u /* maximum bytes after the run */

static __always_inline void put_folded(struct folded *to, const struct rule_words *w, __u32 times, __u32 left,
                                       __s64 offset)
{
    to->run_part = (struct stack_part){STACK_PART_RUN, 0, sizeof to->run};
    to->run.period = w->period;
    to->run.times = times;
    to->run.count = w->count;
    to->run.zero = 0;
    for (__u32 i = 0; i < RULE_WORDS; i++)
        to->run.at[i] = (0 - (w->height[i] & ~7u)) | (w->height[i] & RULE_RELATIVE);
    to->rest_part = (struct stack_part){STACK_PART_BYTES, 0, sizeof to->offset + left};
    to->offset = offset;
}

/* Cuts the repeated middle out of a stack that was read. Returns the bytes left to write; 0: nothing
 * repeats. */
static __always_inline __u32 fold(struct moment *m, __u32 cpu, __u32 below, __u32 size)
{
    const __u32 found = m->inner < FOLD_LEAST ? 0 : verify_number(m->ip, RULE_RUNS, m->space);
    const __u32 index = found - 1;
    buffer_of(m)->trial.callers = false; /* compare the sample's own stack */
    const struct rule_words *w = bpf_map_lookup_elem(&words, &index);
    if (!found || !w)
        return size;
    const __u32 first = below - (w->height[0] & ~7u), period = w->period, inner = first + 2 * period;
    const __u32 times = verify_times(index, cpu, m->sp, 0, below | (__u64)(m->inner - 8) << 32);
    const __u32 from = first + (times - 1) * period, left = m->inner - from;
    if (times < 4 || inner > FOLD_INNER || inner % 8 || from < inner + sizeof(struct folded) ||
        left >= FOLD_REST)
        return size;
    __u8 *to = buffer_of(m)->stack + (bounded(inner) & (2 * FOLD_INNER - 1));
    put_folded((struct folded *)to, w, times, left, (__s64)from - below);
    __u32 end = inner + sizeof(struct folded) + left;
    if (bpf_probe_read_kernel(to + sizeof(struct folded), bounded(left) & (FOLD_REST - 1),
                              buffer_of(m)->stack + bounded(from)) != 0)
        return 0;
    if (m->deep) {
        if (bpf_probe_read_kernel(buffer_of(m)->stack + bounded(end), sizeof(struct outer_part),
                                  buffer_of(m)->stack + INNER_BYTES) != 0)
            return 0;
        end += sizeof(struct outer_part);
    }
    m->inner = inner;
    return end;
}

/* Reads a stack up to a known one. Returns the record's bytes; 0: it cannot be read. */
static __always_inline __u32 read_joined(struct moment *m, __u32 cpu, __u32 below)
{
    struct words_part *joint = &buffer_of(m)->joint;
    const __u32 size = sizeof joint->known + joint->known.count * sizeof *joint->words;
    const __u64 at = bounded(m->joint + below) & (JOINT_MAX - 1);
    if (at < m->joint || read_stack(m, cpu, m->sp - below, at) != at)
        return 0;
    joint->part = (struct stack_part){STACK_PART_WORDS, 0, size};
    if (bpf_probe_read_kernel(buffer_of(m)->stack + at,
                              (sizeof joint->part + size) & (2 * sizeof joint->words - 1), joint) != 0)
        return 0;
    m->inner = at;
    return at + sizeof joint->part + size;
}

static __noinline int tell_read(void *ctx, struct moment *m, __u8 kind)
{
    __u32 zero = 0, *number = bpf_map_lookup_elem(&numbers, &zero), cpu = bpf_get_smp_processor_id();
    __u32 below = bytes_below(m);
    __u64 wanted = bytes_to_read(m) + below;
    const bool deep = m->base && !m->apart && m->base - m->sp + below > RULE_STACK_MAX;
    if (wanted > RULE_STACK_MAX)
        wanted = RULE_STACK_MAX;
    if (!number)
        return 1;
    if (!m->split && config.compared == STACK_RECORD_ALL)
        m->split = verify_switch(cpu, m->sp, m->space);
    if (m->split)
        wanted = below + m->split + 8 + buffer_of(m)->other.size + sizeof(struct switch_part);
    else if (m->joint)
        wanted = below + m->joint + sizeof buffer_of(m)->joint;
    __u64 more = deep && !m->split && !m->joint ? bytes_of_more(m, below) : 0;
    if (!has_room(cpu, wanted + more))
        more = 0;
    if (!has_room(cpu, wanted)) {
        if (kind == STACK_RECORD_AGAIN)
            return 1;
        __sync_fetch_and_add(&counts.crowded, 1);
        return tell_none(ctx, m);
    }
    if (*number + 1 >= STACK_NUMBER_KEPT >> config.cpu_bits ||
        !within_budget(m)) /* no number is used for two stacks */
        return kind == STACK_RECORD_AGAIN ? 1 : tell_none(ctx, m);
    if (more &&
        take_outer(m->base, buffer_of(m)->outer)) /* without them the record has no second part either */
        tell_more(ctx, m, cpu, below, (*number + 1) << config.cpu_bits | cpu, more);
    __u32 size = m->split   ? read_both(m, cpu, below)
                 : m->joint ? read_joined(m, cpu, below)
                 : deep     ? read_deep(m, cpu, m->sp - below)
                            : 0;
    if (m->split && !size) { /* then only the system stack */
        wanted = m->split + below;
        m->split = 0;
    }
    if (!m->split && !m->joint) {
        if (!size)
            size = read_stack(m, cpu, m->sp - below, wanted);
        m->inner = m->deep ? INNER_BYTES : size;
        size = fold(m, cpu, below, size);
    }
    if (!size) /* a known stack stays known */
        return kind == STACK_RECORD_AGAIN ? 1
                                          : tell_no_stack(ctx, m, STACK_RECORD_GONE, STACK_RECORD_NOWHERE);
    put_registers(m, &buffer_of(m)->record);
    buffer_of(m)->record.code_part =
        (struct stack_part){STACK_PART_CODE, 0, sizeof buffer_of(m)->record.code};
    buffer_of(m)->record.code = buffer_of(m)->lying.code;
    buffer_of(m)->record.code.base = m->apart ? 0 : m->base;
    buffer_of(m)->record.offset = -(__s64)below;
    take_capacity(cpu, size);
    *number += 1;
    return write_record(ctx, m, kind, *number << config.cpu_bits | cpu, size);
}

/* Precise samples: the record's function has probably returned by the time the stack is read. Words below the
 * later SP may belong to another call. */
static __always_inline int tell_returned(void *ctx, struct moment *m)
{
    __sync_fetch_and_add(&counts.returned, 1);
    return tell_no_stack(ctx, m, STACK_RECORD_RETURNED, STACK_RECORD_LATE);
}
