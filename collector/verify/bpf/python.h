/* python.h - reads what CPython runs in the sampled thread (part of verify.bpf.c): image/script_layout.h. */

/* A word of the thread's state in the buffer. */
static __always_inline __u64 state_word(const struct script_buffer *b, __u32 offset)
{
    return b->state[offset / 8 & (PYTHON_THREAD_BYTES / 8 - 1)];
}

/* Reads a thread's state. Returns whether it belongs to the thread with this FS base, which is the value of
 * pthread_self(). */
__noinline int verify_python_is(__u32 cpu, __u32 pid, __u64 state, __u64 self)
{
    struct script_buffer *b = bpf_map_lookup_elem(&script_buffers, &cpu);
    const struct rule_script *p = bpf_map_lookup_elem(&scripts, &pid);
    return b && p && state && bpf_probe_read_user(b->state, sizeof b->state, (const void *)state) == 0 &&
           state_word(b, p->layout.python.thread_id) == self;
}

#define PYTHON_INTERPRETERS 4u
#define PYTHON_THREADS      256u /* maximum threads of an interpreter to look at, */
#define PYTHON_THREADS_PART 16u  /* and in one function call */

/* Finds and reads the state of the thread with this FS base in a part of an interpreter's list, which starts
 * at `state`. Returns its address; 0: it is not there, and the list continues at b->next. */
__noinline __u64 verify_python_listed(__u32 cpu, __u32 pid, __u64 state, __u64 self)
{
    struct script_buffer *b = bpf_map_lookup_elem(&script_buffers, &cpu);
    const struct rule_script *p = bpf_map_lookup_elem(&scripts, &pid);
    if (!b || !p)
        return 0;
    for (__u32 i = 0; i < PYTHON_THREADS_PART && state; i++) {
        if (verify_python_is(cpu, pid, state, self))
            return state;
        state = state_word(b, p->layout.python.thread_next);
    }
    b->next = state;
    return 0;
}

/* The same in the whole list. */
static __always_inline __u64 search_python(struct script_buffer *b, __u32 cpu, __u32 pid, __u64 state,
                                           __u64 self)
{
    __u64 found = 0;
    b->next = state;
    for (__u32 i = 0; i < PYTHON_THREADS / PYTHON_THREADS_PART && b->next && !found; i++)
        found = verify_python_listed(cpu, pid, b->next, self);
    return found;
}

/* Finds and reads the state of the sampled thread: that of the thread that holds the GIL, the one found
 * before, or, if `search` is set, one in the list of all. Returns its address; 0: it has none. */
__noinline __u64 verify_python_state(__u32 cpu, __u32 pid, __u64 before, __u32 search)
{
    struct script_buffer *b = bpf_map_lookup_elem(&script_buffers, &cpu);
    const struct rule_script *p = bpf_map_lookup_elem(&scripts, &pid);
    __u64 state, interpreter;
    if (!b || !p || !config.hooks.task_fs)
        return 0;
    const __u64 self = kernel_word(bpf_get_current_task() + config.hooks.task_fs);
    if (p->layout.python.runtime_current != PYTHON_NONE &&
        user_word(p->state + p->layout.python.runtime_current, &state) &&
        verify_python_is(cpu, pid, state, self))
        return state;
    if (verify_python_is(cpu, pid, before, self))
        return before;
    if (!search || !user_word(p->state + p->layout.python.runtime_interpreters, &interpreter))
        return 0;
    for (__u32 i = 0; i < PYTHON_INTERPRETERS; i++) {
        if (i && !user_word(interpreter + p->layout.python.interpreter_next, &interpreter))
            return 0;
        if (!interpreter || !user_word(interpreter + p->layout.python.interpreter_threads, &state))
            return 0;
        state = search_python(b, cpu, pid, state, self);
        if (state)
            return state;
    }
    return 0;
}

/* If the thread runs a subinterpreter that was called from the main one, in which it has another state: reads
 * that. Returns its address; 0: there is none. */
__noinline __u64 verify_python_outer(__u32 cpu, __u32 pid)
{
    struct script_buffer *b = bpf_map_lookup_elem(&script_buffers, &cpu);
    const struct rule_script *p = bpf_map_lookup_elem(&scripts, &pid);
    __u64 state, outer;
    if (!b || !p)
        return 0;
    const __u64 self = state_word(b, p->layout.python.thread_id);
    if (!user_word(p->state + p->layout.python.runtime_main, &outer) ||
        outer == state_word(b, p->layout.python.thread_interpreter) ||
        !user_word(outer + p->layout.python.interpreter_threads, &state))
        return 0;
    return search_python(b, cpu, pid, state, self);
}

/* Adds further frames to the chain. Returns whether there are more. */
__noinline int verify_python_frames(__u32 cpu, __u32 pid)
{
    struct script_buffer *b = bpf_map_lookup_elem(&script_buffers, &cpu);
    const struct rule_script *p = bpf_map_lookup_elem(&scripts, &pid);
    if (!b || !p)
        return 0;
    for (__u32 i = 0; i < SCRIPT_FRAMES; i++) {
        const __u32 count = b->chain_record.head.count;
        __u64 at;
        if (!next_frame(b, &at))
            return 0;
        const __u64 code = window_word(b, at + p->layout.python.frame_code);
        const __u64 instruction = window_word(b, at + p->layout.python.frame_instruction);
        const __u8 mark = window_word(b, at + p->layout.python.frame_mark);
        b->next = window_word(b, at + p->layout.python.frame_previous);
        if (p->layout.python.frame_shim && mark == p->layout.python.frame_shim) {
            if (count) { /* the interpreter's loop was entered with the previous frame */
                b->chain_record.called[(count - 1) & (SCRIPT_CALLED_MAX - 1)].marks |= SCRIPT_ENTERED;
                b->chain = rule_hash(b->chain, SCRIPT_ENTERED);
            }
            continue;
        }
        const bool entered = !p->layout.python.frame_shim && mark;
        add_called(b, code, instruction - code - p->layout.python.code_instructions,
                   entered ? SCRIPT_ENTERED : 0);
    }
    return 1;
}

/* Reads a string's content, at most `most` bytes (a power of two); last: the end of it. */
static __always_inline void read_text(const struct python_layout *at, __u64 from, struct script_text *text,
                                      __u8 *to, __u32 most, bool last)
{
    struct python_string head;
    *text = (struct script_text){0};
    if (bpf_probe_read_user(&head, sizeof head, (const void *)from) != 0 ||
        !PYTHON_STRING_COMPACT(head.state))
        return;
    const __u32 width = PYTHON_STRING_WIDTH(head.state);
    const bool ascii = PYTHON_STRING_ASCII(head.state);
    if ((width != 1 && width != 2 && width != 4) || head.length >> 32)
        return;
    const __u64 bytes = head.length * width;
    __u64 size = bytes < most ? bytes : most - 4;
    from += (ascii ? at->text_ascii : at->text_compact) + (last ? bytes - size : 0);
    __asm__ volatile("" : "+r"(size));
    size &= most - 1;
    if (size && bpf_probe_read_user(to, size, (const void *)from) == 0)
        *text = (struct script_text){.bytes = size, .width = width, .ascii = ascii, .cut = size < bytes};
}

#define PYTHON_LENGTH_AT 16u /* offset of a string's length, followed by its hash; -1: not computed yet */

/* A hash of a string: of its first bytes, its length, and its own hash if it has one. */
static __always_inline __u64 hash_python_text(const struct python_layout *at, struct script_buffer *b,
                                              __u64 from)
{
    struct {
        __u64 length, hash, state;
    } head;
    if (bpf_probe_read_user(&head, sizeof head, (const void *)(from + PYTHON_LENGTH_AT)) != 0)
        return 0;
    const __u32 state = head.state, width = PYTHON_STRING_WIDTH(state);
    from += PYTHON_STRING_ASCII(state) ? at->text_ascii : at->text_compact;
    return hash_text(b, rule_hash(head.length, head.hash + width), from, head.length * width);
}

/* Reads what identifies the code object of one function of the chain, besides its address. Returns whether it
 * can be read. */
__noinline int verify_python_identity(__u32 cpu, __u32 pid, __u32 number)
{
    struct script_buffer *b = bpf_map_lookup_elem(&script_buffers, &cpu);
    const struct rule_script *p = bpf_map_lookup_elem(&scripts, &pid);
    if (!b || !p)
        return 0;
    const __u64 code = b->chain_record.called[number & (SCRIPT_CALLED_MAX - 1)].code;
    if (bpf_probe_read_user(b->object, PYTHON_CODE_BYTES, (const void *)code) != 0)
        return 0;
    const __u32 texts = p->layout.python.code_texts / 8;
    for (__u32 k = 0; k < 4; k++)
        b->identity.texts[k] = b->object[(texts + k) & (PYTHON_CODE_BYTES / 8 - 1)];
    b->identity.line = *(const __u32 *)((const __u8 *)b->object + (p->layout.python.code_line & 127));
    b->identity.name = hash_python_text(&p->layout.python, b, b->identity.texts[2]);
    return 1;
}

/* Fills in the record of a code object. Returns whether there is a buffer. */
__noinline int verify_python_code(__u32 cpu, __u32 pid)
{
    struct script_buffer *b = bpf_map_lookup_elem(&script_buffers, &cpu);
    const struct rule_script *rule = bpf_map_lookup_elem(&scripts, &pid);
    if (!b || !rule)
        return 0;
    const struct python_layout *at = &rule->layout.python;
    struct script_code_told *text = &b->code.told;
    __u64 length = 0, table = b->identity.texts[3];
    text->line = b->identity.line;
    text->zero = 0;
    read_text(at, b->identity.texts[0], &text->file, text->file_bytes, SCRIPT_FILE_MAX, true);
    read_text(at, b->identity.texts[2], &text->name, text->name_bytes, SCRIPT_NAME_MAX, false);
    b->code.head.count = 0;
    if (!user_word(table + PYTHON_BYTES_LENGTH, &length) || length >= SCRIPT_TABLE_MAX)
        return 1;
    __asm__ volatile("" : "+r"(length));
    length &= SCRIPT_TABLE_MAX - 1;
    if (length && bpf_probe_read_user(b->code.table, length, (const void *)(table + PYTHON_BYTES_AT)) == 0)
        b->code.head.count = length;
    return 1;
}
