/* climb.h - climbs from caller to caller to the nearest known stack (part of verify.bpf.c). */

/* Moves the trial to its caller's stack, as it is after the return. A row says where the return address is.
 * 0: unknown. */
__noinline int verify_climb(__u32 cpu)
{
    struct buffer *buffer = bpf_map_lookup_elem(&buffers, &cpu);
    if (!buffer)
        return 0;
    struct trial *t = &buffer->trial;
    /* A return address belongs to the call before it. */
    const __u32 rule = verify_row(t->file, t->ip - t->at - t->callers);
    if (rule == CODE_ROW_NONE)
        return 0;
    const __u32 bp_at = rule >> CODE_ROW_BP_AT & CODE_ROW_BP;
    const __u64 from = rule & CODE_ROW_FROM_BP ? t->bp : t->sp, at = from + (rule & CODE_ROW_RETURN);
    __u64 ip, bp = t->bp;
    if (at - t->sp >= RULE_STACK_MAX || !user_word(at, &ip) || (bp_at && !user_word(from + bp_at - 1, &bp)))
        return 0;
    t->file = verify_caller(cpu, ip);
    t->at = buffer->lying.caller_at;
    t->ip = ip;
    t->bp = bp;
    t->sp = t->late_sp = at + sizeof ip;
    t->depth = t->base - t->sp;
    t->split = t->around = 0;
    t->asked = t->callers = true;
    t->key = (struct rule_key){.page = (ip - t->at) >> config.page_bits, .depth = t->depth, .file = t->file};
    return t->file != 0;
}

/* The same for the caller's stack: if it is known, only the sample's own frame, that of its PC, is not. */
static __always_inline int try_caller(struct moment *m, __u32 cpu)
{
    struct trial *t = &buffer_of(m)->trial;
    if (!m->file || m->apart || m->late_sp != m->sp || m->split)
        return TRIAL_NONE;
    t->ip = m->ip;
    t->bp = m->bp;
    t->sp = m->sp;
    t->base = m->base;
    t->at = buffer_of(m)->lying.code.at;
    t->file = m->file;
    if (!verify_climb(cpu))
        return TRIAL_NONE;
    m->compared_depth = t->depth;
    return verify_known(cpu);
}

/* Adds the words of one block of the known stack that fits the trial; those within `extent` are in the CPU's
 * buffer. Returns 1 + index of the next block; 0: they cannot be written like that. */
__noinline int verify_add_words(__u32 index, __u32 cpu, __u32 extent, __u32 further)
{
    struct buffer *buffer = bpf_map_lookup_elem(&buffers, &cpu);
    const struct rule_words *w = bpf_map_lookup_elem(&words, &index);
    if (!buffer || !w || w->times > 1)
        return 0;
    const __u32 depth = buffer->trial.depth;
    for (__u32 i = 0; i < RULE_WORDS && i < w->count; i++) {
        const __u32 height = w->height[i] & ~7u, at = depth - height;
        const __u32 number = buffer->joint.known.count & (WORDS_MAX - 1);
        __u64 word = word_at(buffer->stack + bounded(at));
        if (at > extent - 8 && (at >= depth || further + at > STACK_WORDS_MAX - 8 ||
                                !user_word(buffer->trial.base - height, &word)))
            return 0;
        buffer->joint.words[number] = (struct stack_word_at){further + at, 0, word};
        buffer->joint.known.count = number + 1;
        if (buffer->joint.known.whole < further + at + 8)
            buffer->joint.known.whole = further + at + 8;
    }
    return 1 + w->next;
}

#define TRIALS_MAX  131072u /* maximum bytes read for this, plus one stack */
#define CLIMBS      128u    /* maximum frames to climb, */
#define CLIMBS_PART 16u     /* and in one function call */

/* Climbs from the sample's caller until a stack is known. Returns how the last trial ended (enum trial_end). */
__noinline int verify_climbs(__u32 cpu, __u64 sp)
{
    struct buffer *buffer = bpf_map_lookup_elem(&buffers, &cpu);
    if (!buffer)
        return TRIAL_RETURNED;
    struct trial *t = &buffer->trial;
    int end = TRIAL_NONE;
    for (__u32 i = 0; i < CLIMBS_PART && end == TRIAL_NONE; i++)
        end = t->sp - sp < JOINT_MAX && t->read < TRIALS_MAX && verify_climb(cpu) ? verify_known(cpu)
                                                                                  : TRIAL_RETURNED;
    return end;
}

/* Takes the words of the known stack of one of the sample's callers, which the last trial found. Returns the bytes from
 * the sample's SP to that stack; 0: it is too far. */
__noinline __u32 verify_joint(__u32 cpu, __u64 sp)
{
    struct buffer *buffer = bpf_map_lookup_elem(&buffers, &cpu);
    if (!buffer)
        return 0;
    struct trial *t = &buffer->trial;
    __u32 index = t->around;
    if ((t->sp - sp) % 8 != 0 || t->sp - sp >= JOINT_MAX - STACK_RECORD_BELOW)
        return 0;
    const __u32 joint = t->sp - sp;
    buffer->joint.known = (struct stack_words){.whole = joint};
    for (__u32 hop = 0; hop < RULE_BLOCKS_MAX; hop++) {
        const int next = verify_add_words(index, cpu, t->extent, joint);
        if (next <= 1)
            return next == 1 ? joint : 0;
        index = next - 1;
    }
    return 0;
}

/* Bytes from the sample's SP to a known stack of one of its callers; 0: none is known. */
static __always_inline __u32 find_joint(const struct moment *m, __u32 cpu, int end)
{
    for (__u32 i = 0; i < CLIMBS / CLIMBS_PART && end == TRIAL_NONE; i++)
        end = verify_climbs(cpu, m->sp);
    return end == TRIAL_OUTER || end == TRIAL_FITS ? verify_joint(cpu, m->sp) : 0;
}

/* Whether a known stack fits the sample, and which. *returned: one would fit, but its function has returned.
 * If none fits, m->joint is set if a caller's stack is known. */
static __always_inline bool find_known(struct moment *m, __u32 cpu, bool *returned)
{
    buffer_of(m)->trial.callers = false;
    buffer_of(m)->trial.read = 0;
    int end = try_file(m, cpu);
    if (end == TRIAL_NONE)
        end = try_space(m, cpu);
    if (end == TRIAL_NONE)
        end = try_caller(m, cpu);
    *returned = end == TRIAL_RETURNED;
    if (end == TRIAL_FITS)
        return true;
    m->joint = !*returned && config.joins && buffer_of(m)->trial.callers ? find_joint(m, cpu, end) : 0;
    return false;
}
