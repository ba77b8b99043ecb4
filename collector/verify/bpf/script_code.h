/* script_code.h - checks what the code of a chain's functions is: other code may have had the same addresses
 * before (part of verify.bpf.c). */

/* Reads what identifies the code of one function of the chain. Returns whether it can be read. A function
 * that the kernel's verifier checks by itself. */
__noinline int verify_script_identity(__u32 cpu, __u32 pid, __u32 number)
{
    const struct rule_script *p = bpf_map_lookup_elem(&scripts, &pid);
    if (!p)
        return 0;
    switch (p->layout.language) {
    case SCRIPT_PHP:
        return verify_php_identity(cpu, pid, number);
    case SCRIPT_RUBY:
        return verify_ruby_identity(cpu, pid, number);
    case SCRIPT_JAVASCRIPT:
        return verify_v8_identity(cpu, number);
    default:
        return verify_python_identity(cpu, pid, number);
    }
}

/* Adds further frames to the chain. Returns whether there are more. */
__noinline int verify_script_further(__u32 cpu, __u32 pid)
{
    const struct rule_script *p = bpf_map_lookup_elem(&scripts, &pid);
    if (!p)
        return 0;
    switch (p->layout.language) {
    case SCRIPT_PHP:
        return verify_php_frames(cpu, pid);
    case SCRIPT_RUBY:
        return verify_ruby_frames(cpu, pid);
    case SCRIPT_JAVASCRIPT:
        return verify_v8_frames(cpu);
    default:
        return verify_python_frames(cpu, pid);
    }
}

/* The same, so many times (SCRIPT_STEPS). Returns 0 if there are no more. */
__noinline int verify_script_frames(__u32 cpu, __u32 pid)
{
    for (__u32 i = 0; i < SCRIPT_STEPS; i++)
        if (!verify_script_further(cpu, pid))
            return 0;
    return 1;
}

/* Adds all frames that are announced. */
static __always_inline void add_frames(__u32 cpu, __u32 pid)
{
    for (__u32 i = 0; i < SCRIPT_FRAMES_MOST / SCRIPT_FRAMES / SCRIPT_STEPS; i++)
        if (!verify_script_frames(cpu, pid))
            return;
}

/* Replaces instructions with the places that records have, in the chain's functions from number `from` on.
 * Returns whether there are more to do. */
__noinline int verify_script_places(__u32 cpu, __u32 pid, __u32 from)
{
    const struct rule_script *p = bpf_map_lookup_elem(&scripts, &pid);
    const __u32 language = p ? p->layout.language : SCRIPT_PYTHON;
    for (__u32 i = 0; i < SCRIPT_FUNCTIONS; i++) {
        const int put = language == SCRIPT_PHP    ? verify_php_line(cpu, pid, from + i)
                        : language == SCRIPT_RUBY ? verify_ruby_place(cpu, pid, from + i)
                                                  : 0;
        if (!put)
            return 0;
    }
    return 1;
}

/* Hashes what the code of the chain's functions is, from number `from` on. Returns whether there are more. */
__noinline int verify_script_names(__u32 cpu, __u32 pid, __u32 from)
{
    struct script_buffer *b = bpf_map_lookup_elem(&script_buffers, &cpu);
    if (!b)
        return 0;
    for (__u32 i = 0; i < SCRIPT_FUNCTIONS; i++) {
        if (from + i >= b->chain_record.head.count)
            return 0;
        if (!verify_script_identity(cpu, pid, from + i))
            continue;
        const struct rule_code *c = &b->identity;
        b->named = rule_hash(b->named, c->name + c->line + (c->texts[0] ^ c->texts[3]));
    }
    return 1;
}

/* Code can be freed and its address reused. So all code of a chain is compared with what it was when the
 * chain got its number: in each of so many samples after this was seen to happen, */
#define SCRIPT_CAREFUL 256u
/* and otherwise in one of so many samples of a thread. */
#define SCRIPT_CHECKED 8u

static __always_inline void read_code(__u32 language, __u32 cpu, __u32 pid)
{
    switch (language) {
    case SCRIPT_PHP:
        verify_php_code(cpu, pid);
        break;
    case SCRIPT_RUBY:
        verify_ruby_code(cpu, pid);
        break;
    case SCRIPT_JAVASCRIPT:
        verify_v8_code(cpu);
        break;
    default:
        verify_python_code(cpu, pid);
    }
}

/* Completes a record of code, and sets its size. */
static __always_inline void finish_code(struct script_buffer *b, __u32 cpu)
{
    const __u32 table = b->code.head.count & (SCRIPT_TABLE_MAX - 1);
    const __u32 size = sizeof b->code.head + sizeof b->code.told + table;
    fill_script(b, &b->code.head, SCRIPT_CODE, b->key.code);
    b->code_size = has_room(cpu, size) ? size : 0;
}

/* Reads the code object of one function of the chain, from number `from` on, that was not announced yet, and
 * sets b->code_size: the bytes of its record; 0: there is no room for it. Returns the number to continue from,
 * 0: there are no more functions; b->key.code 0: all up to there were announced. The kernel's verifier follows
 * each step, so one call handles few functions. */
__noinline int verify_script_code(__u32 cpu, __u32 pid, __u32 from)
{
    struct script_buffer *b = bpf_map_lookup_elem(&script_buffers, &cpu);
    struct rule_script *p = bpf_map_lookup_elem(&scripts, &pid);
    if (!b || !p)
        return 0;
    for (__u32 k = 0; k < SCRIPT_FUNCTIONS; k++) {
        const __u32 i = from + k;
        if (i >= b->chain_record.head.count)
            return 0;
        const __u64 code = b->chain_record.called[i & (SCRIPT_CALLED_MAX - 1)].code;
        b->key = (struct rule_code_key){code, pid, 0};
        if (!verify_script_identity(cpu, pid, i))
            continue;
        const struct rule_code *before = bpf_map_lookup_elem(&codes, &b->key);
        if (before && before->texts[0] == b->identity.texts[0] && before->texts[2] == b->identity.texts[2] &&
            before->texts[3] == b->identity.texts[3] && before->line == b->identity.line &&
            before->name == b->identity.name)
            continue;
        if (before)
            p->careful = SCRIPT_CAREFUL;
        read_code(p->layout.language, cpu, pid);
        finish_code(b, cpu);
        return i + 1;
    }
    b->key.code = 0;
    from += SCRIPT_FUNCTIONS;
    return from < b->chain_record.head.count ? from : 0;
}

/* Notes that this code was announced. */
__noinline int verify_code_announced(__u32 cpu)
{
    const struct script_buffer *b = bpf_map_lookup_elem(&script_buffers, &cpu);
    if (!b)
        return 0;
    take_capacity(cpu, b->code_size);
    return bpf_map_update_elem(&codes, &b->key, &b->identity, BPF_ANY) == 0;
}
