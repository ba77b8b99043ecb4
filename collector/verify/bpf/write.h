/* write.h - writes stack records, and notes what was announced (part of verify.bpf.c). */

/* The event to write a record to. Only new stacks wake the recorder. */
static __always_inline __u64 output_for(const struct moment *m, __u8 kind)
{
    if (kind != STACK_RECORD_NEW || m->now - counts.woken < config.wake)
        return BPF_F_CURRENT_CPU;
    counts.woken = m->now;
    return config.cpus + bpf_get_smp_processor_id();
}

/* Writes a record to the event `output`, and counts one that does not fit. */
static __always_inline long put_record(void *ctx, __u64 output, void *record, __u64 size)
{
    const long rc = bpf_perf_event_output(ctx, &outputs, output, record, size);
    if (rc == -ENOSPC)
        __sync_fetch_and_add(&counts.unwritten, 1);
    return rc;
}

/* Whether nothing was written because events are off, or not open yet: programs at tracepoints run all the
 * same (__bpf_perf_event_output()). */
static __always_inline bool is_off(long rc)
{
    return rc == -EOPNOTSUPP || rc == -ENOENT;
}

/* For a stack larger than a record: the bytes from SP on, followed by a part with the outermost ones. */
struct outer_part {
    struct stack_part part;
    __s64 offset;
    __u8 bytes[STACK_RECORD_OUTER];
};
#define INNER_BYTES (RULE_STACK_MAX - (__u32)sizeof(struct outer_part))

static __always_inline void fill_head(const struct moment *m, __u8 kind, __u32 number, __u32 follows,
                                      struct stack_record *r)
{
    r->magic = STACK_RECORD_MAGIC;
    r->version = STACK_RECORD_VERSION;
    r->kind = kind;
    r->page_bits = config.page_bits;
    r->compared = config.compared;
    r->number = number;
    r->size = follows;
    r->ip = m->ip;
    r->sp = m->sp;
}

/* The beginning of a new stack's record, in the same buffer. */
struct more_record {
    struct stack_record head;
    struct stack_part part;
    __s64 offset;
};

/* Writes `size` bytes in the CPU's buffer, from an offset of a stack on, before the stack's record. */
static __always_inline long put_more(void *ctx, struct moment *m, __u32 number, __u32 offset, __u32 size)
{
    struct more_record *r = (void *)((__u8 *)buffer_of(m) + offsetof(struct buffer, stack) - sizeof *r);
    const __u32 follows = sizeof *r - sizeof r->head + bounded(size);
    if (size > RULE_STACK_MAX)
        return -1;
    fill_head(m, STACK_RECORD_MORE, number, follows, &r->head);
    r->part = (struct stack_part){STACK_PART_BYTES, 0, sizeof r->offset + size};
    r->offset = offset;
    return put_record(ctx, BPF_F_CURRENT_CPU, r, sizeof r->head + follows);
}

static __always_inline long put_out(void *ctx, struct moment *m, __u8 kind, __u32 number, __u32 size)
{
    struct stack_record *r = &buffer_of(m)->record.head;
    __u32 follows = size ? sizeof buffer_of(m)->record - sizeof *r + bounded(size) : 0;
    fill_head(m, kind, number, follows, r);
    if (size > RULE_STACK_MAX)
        return -1;
    buffer_of(m)->record.bytes_part = (struct stack_part){STACK_PART_BYTES, 0, sizeof(__u64) + m->inner};
    return put_record(ctx, output_for(m, kind), r, sizeof *r + follows);
}

/* Adds a place to a record, if there is space. The count is in memory, where the kernel's verifier does not
 * follow it: it would check each count for each file. */
static __always_inline void add_record_place(struct placed_record *r, __u64 at)
{
    volatile __u64 *count = &r->placed.count;
    const __u64 last = *count;
    if (last >= STACK_PLACED_MAX)
        return;
    r->at[last & (STACK_PLACED_MAX - 1)] = at;
    *count = last + 1;
}

/* Fills in where the files of the matching known stack are mapped. 1; 0: that failed. */
__noinline int verify_fill_places(__u32 cpu)
{
    struct buffer *buffer = bpf_map_lookup_elem(&buffers, &cpu);
    if (!buffer)
        return 0;
    const struct lying *l = &buffer->lying;
    buffer->placed.placed.count = 0;
    add_record_place(&buffer->placed, l->code.at);
    for (__u32 i = 0; i < STACK_PLACED_MAX && i < l->count; i++)
        if (l->used >> i & 1 && l->files[i].at != l->code.at)
            add_record_place(&buffer->placed, l->files[i].at);
    if (l->caller_at)
        add_record_place(&buffer->placed, l->caller_at);
    return 1;
}

/* Writes a record that a known stack which was read elsewhere fits, with the addresses of its files here. */
static __always_inline long put_placed(void *ctx, struct moment *m, __u32 number)
{
    struct placed_record *r = &buffer_of(m)->placed;
    if (!verify_fill_places(bpf_get_smp_processor_id()))
        return -1;
    const __u32 follows =
        sizeof r->part + sizeof r->placed + (r->placed.count & (2 * STACK_PLACED_MAX - 1)) * 8;
    if (follows > sizeof *r - sizeof r->head)
        return -1;
    fill_head(m, STACK_RECORD_SAME, number, follows, &r->head);
    r->part = (struct stack_part){STACK_PART_PLACED, 0, follows - sizeof r->part};
    r->placed.base = m->base;
    r->placed.depth = m->compared_depth;
    return put_record(ctx, BPF_F_CURRENT_CPU, r, sizeof r->head + follows);
}

/* Writes a record and notes the announcement; an outdated one never remains. version: not 0: the record has
 * places (rule_told). Returns the program's return value: 0 drops the sample, which would be taken for one of
 * an earlier announcement. */
static __always_inline int write_record_at(void *ctx, struct moment *m, __u8 kind, __u32 number, __u32 size,
                                           __u32 version)
{
    struct rule_told *now = &buffer_of(m)->announced;
    *now = (struct rule_told){.number = number, .version = version, .count = m->count, .birth = m->birth};
    const long rc = version ? put_placed(ctx, m, number) : put_out(ctx, m, kind, number, size);
    if (rc == 0) {
        if (bpf_map_update_elem(&told, &m->told_key, now, BPF_ANY) != 0)
            bpf_map_delete_elem(&told, &m->told_key);
        return 1;
    }
    bpf_map_delete_elem(&told, &m->told_key);
    if (is_off(rc))
        return 0;
    if (size && put_out(ctx, m, STACK_RECORD_NONE, 0, 0) == 0)
        return 1;
    __sync_fetch_and_add(&counts.lost, 1);
    return 0;
}

static __always_inline int write_record(void *ctx, struct moment *m, __u8 kind, __u32 number, __u32 size)
{
    return write_record_at(ctx, m, kind, number, size, 0);
}

/* The last announcement for this thread; NULL: none. */
static __always_inline struct rule_told *announced(const struct moment *m)
{
    struct rule_told *last = bpf_map_lookup_elem(&told, &m->told_key);
    return last && last->birth == m->birth ? last : NULL;
}

/* Writes a record of a kind without a stack, unless it was the last one. */
static __always_inline int tell_no_stack(void *ctx, struct moment *m, __u8 kind, __u32 number)
{
    const struct rule_told *before = announced(m);
    if (before && before->number == number)
        return 1;
    return write_record(ctx, m, kind, number, 0);
}

static __always_inline int tell_none(void *ctx, struct moment *m)
{
    return tell_no_stack(ctx, m, STACK_RECORD_NONE, 0);
}
