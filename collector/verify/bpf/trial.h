/* trial.h - tries the known stacks of a key (part of verify.bpf.c). */

/* Whether the innermost word of a known stack, its function's return address, is still in use: then so are
 * those above it. */
static __always_inline bool goes_on(const struct trial *t, __u32 index)
{
    const struct rule_words *w = bpf_map_lookup_elem(&words, &index);
    __u32 above = t->late_sp - t->sp;
    if (t->late_sp <= t->sp)
        return true;
    return w && w->count && t->late_sp - t->sp < RULE_STACK_MAX &&
           (__u32)t->depth - (w->height[0] & ~7u) >= above;
}

/* Reads the words that are compared with the key's stacks. false: they cannot be read. */
static __always_inline bool read_trial(struct buffer *buffer, const struct rule_known *k, __u32 cpu)
{
    const struct trial *t = &buffer->trial;
    const __u32 extent = t->extent;
    if (config.compared == 0)
        return true;
    if (t->callers)
        __builtin_memset(buffer->below, STACK_RECORD_HOLE, STACK_RECORD_BELOW);
    else if (k->below)
        take_below(buffer, t->sp);
    if (extent < 8 || extent > RULE_STACK_MAX || (k->outer && !take_outer(t->base, buffer->outer)))
        return false;
    bool readable = false;
    if (t->split && extent > t->split)
        readable =
            read_first(buffer, cpu, t->sp, t->split) && read_other(buffer, t->split, extent - t->split - 8);
    else
        readable = bpf_probe_read_user(buffer->stack, bounded(extent), (void *)t->sp) == 0 ||
                   verify_read_pages(cpu, t->sp, extent) == (int)extent;
    if (readable)
        verify_unhook(cpu, t->sp, extent);
    return readable;
}

enum trial_end {
    TRIAL_NONE,     /* none fits */
    TRIAL_FITS,     /* a stack fits, and was found */
    TRIAL_RETURNED, /* the stack that would fit has returned since */
    TRIAL_SWITCHED, /* stacks that continue on another one have a further key */
    TRIAL_OUTER,    /* the caller's stack is known, but not with the sample's frame inside */
};

/* Finds which of the trial's known stacks fits. Returns enum trial_end. */
__noinline int verify_known(__u32 cpu)
{
    struct buffer *buffer = bpf_map_lookup_elem(&buffers, &cpu);
    if (!buffer)
        return TRIAL_NONE;
    struct trial *t = &buffer->trial;
    const struct rule_known *k = bpf_map_lookup_elem(&known, &t->key);
    if (!k)
        return TRIAL_NONE;
    if (k->switched && !t->split && !t->asked)
        return TRIAL_SWITCHED;
    const __u32 extent = k->extent;
    t->extent = extent;
    t->read += extent;
    if (!read_trial(buffer, k, cpu))
        return TRIAL_NONE;
    const __u32 place = t->ip & ((1u << config.page_bits) - 1);
    for (__u32 i = 0; i < RULE_STACKS; i++) {
        if (i >= k->count)
            break;
        const __u32 inner = k->stacks[i].inner, index = k->stacks[i].words;
        const bool outer = t->callers && !inner;
        if (place < k->stacks[i].first || place > k->stacks[i].last ||
            (outer && (!config.joins || t->around)))
            continue;
        t->found = (struct found){.number = t->callers ? inner : k->stacks[i].number,
                                  .alias = t->callers ? inner : k->stacks[i].alias,
                                  .version = k->stacks[i].version};
        if (config.compared != 0 &&
            !verify_fits(index, cpu, t->base, t->bp, (__u32)t->depth | (__u64)(extent - 8) << 32))
            continue;
        if (t->callers)
            t->around = index;
        if (outer) /* one with the sample's own frame inside may follow */
            continue;
        return goes_on(t, index) ? TRIAL_FITS : TRIAL_RETURNED;
    }
    return t->around ? TRIAL_OUTER : TRIAL_NONE;
}

/* The key of a stack without a base, from its innermost return addresses. false: where they are is
 * unknown. */
static __always_inline bool find_way(const struct moment *m, struct rule_key *key)
{
    __u64 at = m->sp, hash = key->page, word;
    __u32 distance = verify_number(m->ip, RULE_ROWS, key->space);
    if (!distance)
        return false;
    distance--;
    for (__u32 i = 0; i < RULE_STEPS; i++) {
        at += distance;
        if (bpf_probe_read_user(&word, sizeof word, (void *)at) != 0)
            return false;
        hash = rule_hash(hash, word);
        key->page = hash;
        key->depth = RULE_STEP;
        const struct rule_known *k = i + 1 < RULE_STEPS ? bpf_map_lookup_elem(&known, key) : NULL;
        if (!k)
            break;
        distance = k->extent;
    }
    key->depth = RULE_CHAIN;
    return true;
}

/* The key of a stack that continues on another one: from the key of the system stack, and the innermost
 * return addresses of the other one. */
static __always_inline bool find_other_way(struct moment *m, struct rule_key *key)
{
    const __u64 start = buffer_of(m)->other.sp - 8; /* assumed address of the saved PC */
    __u64 at = start, hash = rule_hash(key->page, key->depth), word;
    for (__u32 i = 0; i < RULE_STEPS; i++) {
        key->page = hash;
        key->depth = RULE_STEP;
        const struct rule_known *k = bpf_map_lookup_elem(&known, key);
        if (!k)
            break;
        at += k->extent;
        word = buffer_of(m)->other.pc;
        if (at != start && !user_word(at, &word))
            return false;
        hash = rule_hash(hash, word);
    }
    key->page = hash;
    key->depth = RULE_CHAIN;
    return true;
}

/* Compares the known stacks of the trial's key with the sample's stack. */
static __always_inline int try_key(struct moment *m, __u32 cpu)
{
    struct trial *t = &buffer_of(m)->trial;
    t->ip = m->ip;
    t->sp = m->sp;
    t->bp = m->bp;
    t->base = m->base;
    t->depth = m->depth;
    t->late_sp = m->late_sp;
    t->split = m->split;
    t->around = 0;
    t->asked = t->callers = false;
    return verify_known(cpu);
}

/* Tries the stacks of the process's space. */
static __always_inline int try_space(struct moment *m, __u32 cpu)
{
    struct rule_key *key = &buffer_of(m)->trial.key;
    *key = (struct rule_key){.page = m->ip >> config.page_bits, .depth = m->depth, .space = m->space};
    if (!m->space || (m->apart && !find_way(m, key)))
        return TRIAL_NONE;
    const int end = try_key(m, cpu);
    if (end != TRIAL_SWITCHED)
        return end;
    m->split = verify_switch(cpu, m->sp, m->space);
    if (m->split)
        return find_other_way(m, key) ? try_key(m, cpu) : TRIAL_NONE;
    buffer_of(m)->trial.asked = true;
    return verify_known(cpu);
}

/* Tries the stacks that are known wherever their files are mapped. */
static __always_inline int try_file(struct moment *m, __u32 cpu)
{
    struct buffer *buffer = buffer_of(m);
    buffer->trial.key = (struct rule_key){
        .page = (m->ip - buffer->lying.code.at) >> config.page_bits, .depth = m->depth, .file = m->file};
    m->compared_depth = m->depth;
    return m->file && !m->apart ? try_key(m, cpu) : TRIAL_NONE;
}
