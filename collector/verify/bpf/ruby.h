/*
 * ruby.h - reads what Ruby runs in the sampled thread (part of verify.bpf.c): image/script_layout.h; for
 * strings and arrays include/ruby/internal/core/rstring.h, rarray.h, without USE_RVARGC. The frames of a
 * thread or fiber are contiguous, the innermost first. Those of functions implemented in C are left out:
 * their machine code is on the stack.
 */

#define RUBY_FINISH 0x20u /* VM_FRAME_FLAG_FINISH: C called the interpreter's loop */
#define RUBY_C      0x80u /* VM_FRAME_FLAG_CFRAME */
#define RUBY_WORD   8u    /* size of an instruction or operand */

#define RUBY_TYPE(flags)   ((flags)&31)
#define RUBY_STRING        5u
#define RUBY_ARRAY         7u
#define RUBY_MARK          (1u << 13)           /* string: its content is elsewhere; array: it is embedded */
#define RUBY_LENGTH(flags) ((flags) >> 14 & 31) /* length of an embedded string */
#define RUBY_TEXT          16u                  /* where it is, */
#define RUBY_OBJECT_WORDS  5u                   /* of each object */
#define RUBY_TABLE_BYTES   4096u                /* maximum bytes of lines' positions in a record, */
#define RUBY_LINES_BYTES   (SCRIPT_TABLE_MAX - 8 - RUBY_TABLE_BYTES) /* and of the lines */
#define RUBY_TYPE_TOP      0u /* type of code: enum iseq_type, next to its size */
#define RUBY_TYPE_MAIN     7u
#define RUBY_MAIN          "<main>"
#define RUBY_TOP           "<top (required)>"
#define RUBY_BODY_WORD(o)  ((o) / 8 & (SCRIPT_OBJECT_BYTES / 8 - 1))

/* The address of the thread's `ruby_current_ec`; 0: none, or it cannot be read. */
static __always_inline __u64 find_ruby(const struct rule_script *rule)
{
    struct {
        __u64 module, offset;
    } index;
    __u64 blocks, block;
    const __u64 self = kernel_word(bpf_get_current_task() + config.hooks.task_fs);
    if (rule->layout.ruby.current)
        return self + rule->layout.ruby.current;
    if (bpf_probe_read_user(&index, sizeof index, (const void *)rule->state) != 0 ||
        !user_word(self + 8, &blocks) || !user_word(blocks + index.module * 16, &block) || block == ~0ull)
        return 0;
    return block + index.offset;
}

/* Sets the thread's innermost frame and the end of its frames. Returns the address of the state of the thread
 * or fiber; 0: none that can be read. */
__noinline __u64 verify_ruby_state(__u32 cpu, __u32 pid)
{
    struct script_buffer *b = bpf_map_lookup_elem(&script_buffers, &cpu);
    const struct rule_script *rule = bpf_map_lookup_elem(&scripts, &pid);
    __u64 state = 0, size;
    if (!b || !rule || !config.hooks.task_fs)
        return 0;
    const struct ruby_layout *p = &rule->layout.ruby;
    const __u64 at = find_ruby(rule);
    if (!at || !user_word(at, &state) || !state || !user_word(state + p->ec_frame, &b->next) || !b->next ||
        !user_word(state + p->ec_stack, &b->end) || !user_word(state + p->ec_stack + 8, &size)) {
        b->next = 0;
        return 0;
    }
    b->end += size * 8 - p->frame_size; /* the outermost is not a real frame */
    return state;
}

/* Finds the next frame in the window, or reads it and what follows it. false: the chain ends here. */
static __always_inline bool next_ruby_frame(struct script_buffer *b, __u64 *at)
{
    const __u64 frame = b->next;
    *at = frame - b->window_at;
    if (frame >= b->end)
        return false;
    if (*at < SCRIPT_WINDOW && *at + RUBY_FRAME_BYTES <= b->window_size)
        return true;
    __u64 size = b->end - frame;
    size = size < SCRIPT_WINDOW ? size : SCRIPT_WINDOW - 8;
    b->window_at = frame;
    b->window_size = size;
    *at = 0;
    __asm__ volatile("" : "+r"(size));
    if (bpf_probe_read_user(b->window, size & (SCRIPT_WINDOW - 1), (const void *)frame) == 0)
        return true;
    b->failed = 1;
    return false;
}

/* Whether a frame belongs to a function in Ruby. A frame without an instruction does if YJIT compiled the
 * function, which stores none until it calls another; else it is a block in C. */
static __always_inline bool is_ruby_frame(__u64 code, __u64 instruction, __u64 environment)
{
    __u64 flags;
    return code && (instruction || (user_word(environment, &flags) && !(flags & RUBY_C)));
}

/* Adds further functions to the chain. Returns whether there are more. */
__noinline int verify_ruby_frames(__u32 cpu, __u32 pid)
{
    struct script_buffer *b = bpf_map_lookup_elem(&script_buffers, &cpu);
    const struct rule_script *rule = bpf_map_lookup_elem(&scripts, &pid);
    if (!b || !rule)
        return 0;
    const struct ruby_layout *p = &rule->layout.ruby;
    for (__u32 i = 0; i < SCRIPT_FRAMES; i++) {
        __u64 at;
        if (b->chain_record.head.count >= SCRIPT_CALLED_MAX || !next_ruby_frame(b, &at))
            return 0;
        const __u64 code = window_word(b, at + p->frame_code);
        const __u64 instruction = window_word(b, at + p->frame_instruction);
        const __u64 environment = window_word(b, at + p->frame_environment);
        b->next += p->frame_size;
        if (is_ruby_frame(code, instruction, environment))
            b->functions[add_called(b, code, instruction, 0)] = environment;
    }
    return 1;
}

/* Finds a function's instructions. */
static __always_inline bool ruby_instructions(const struct ruby_layout *p, __u64 code, __u64 *first)
{
    __u64 body;
    return user_word(code + p->code_body, &body) && user_word(body + p->body_instructions, first);
}

/* Index, from the first instruction on, of the word before `address`, which is behind the running or calling
 * instruction. */
static __always_inline __u32 ruby_place(__u32 address, __u64 first)
{
    const __u32 at = address - (__u32)first;
    return at ? at - RUBY_WORD : 0;
}

/* In one function of the chain: replaces an instruction's address with its place in the function. Returns
 * whether there is such a function. */
__noinline int verify_ruby_place(__u32 cpu, __u32 pid, __u32 number)
{
    struct script_buffer *b = bpf_map_lookup_elem(&script_buffers, &cpu);
    const struct rule_script *rule = bpf_map_lookup_elem(&scripts, &pid);
    __u64 first = 0, flags = 0;
    if (!b || !rule || number >= b->chain_record.head.count)
        return 0;
    struct script_called *called = &b->chain_record.called[number & (SCRIPT_CALLED_MAX - 1)];
    const bool found = ruby_instructions(&rule->layout.ruby, called->code, &first);
    called->at = found ? ruby_place(called->at, first) : 0;
    user_word(b->functions[number & (SCRIPT_CALLED_MAX - 1)], &flags);
    called->marks = flags & RUBY_FINISH ? SCRIPT_ENTERED : 0;
    return 1;
}

/* Finds a string's content and length. false: it is not a string, or cannot be read. */
static __always_inline bool find_ruby_text(struct script_buffer *b, __u64 from, __u64 *at, __u64 *length)
{
    if (!from || bpf_probe_read_user(b->text, RUBY_OBJECT_WORDS * 8, (const void *)from) != 0 ||
        RUBY_TYPE(b->text[0]) != RUBY_STRING)
        return false;
    const bool elsewhere = b->text[0] & RUBY_MARK;
    *at = elsewhere ? b->text[3] : from + RUBY_TEXT;
    *length = elsewhere ? b->text[2] : RUBY_LENGTH(b->text[0]);
    return !(*length >> 32);
}

/* A hash of a string: of its first bytes, and its length. */
static __always_inline __u64 hash_ruby_text(struct script_buffer *b, __u64 from)
{
    __u64 at, length;
    return find_ruby_text(b, from, &at, &length) ? hash_text(b, rule_hash(length, RUBY_STRING), at, length)
                                                 : 0;
}

/* Reads what identifies the code of one function of the chain. Returns whether it can be read. */
__noinline int verify_ruby_identity(__u32 cpu, __u32 pid, __u32 number)
{
    struct script_buffer *b = bpf_map_lookup_elem(&script_buffers, &cpu);
    const struct rule_script *rule = bpf_map_lookup_elem(&scripts, &pid);
    __u64 body;
    if (!b || !rule)
        return 0;
    const struct ruby_layout *p = &rule->layout.ruby;
    const __u64 code = b->chain_record.called[number & (SCRIPT_CALLED_MAX - 1)].code;
    if (!user_word(code + p->code_body, &body) ||
        bpf_probe_read_user(b->object, RUBY_BODY_BYTES, (const void *)body) != 0)
        return 0;
    for (__u32 k = 0; k < 3; k++)
        b->identity.texts[k] = b->object[RUBY_BODY_WORD(p->body_texts + k * 8)];
    b->identity.texts[3] = b->object[RUBY_BODY_WORD(p->body_instructions)];
    b->identity.line = b->object[RUBY_BODY_WORD(p->body_line)] >> 1;
    b->identity.name = hash_ruby_text(b, b->identity.texts[2]);
    return 1;
}

/* The file's absolute path, from the pair of the requested and the absolute one: the second element of an
 * array, or the first. */
static __always_inline bool find_ruby_file(struct script_buffer *b, __u64 from, __u64 *at, __u64 *length)
{
    struct {
        __u64 flags, class, path, whole;
    } pair;
    if (find_ruby_text(b, from, at, length))
        return true;
    return bpf_probe_read_user(&pair, sizeof pair, (const void *)from) == 0 &&
           RUBY_TYPE(pair.flags) == RUBY_ARRAY && pair.flags & RUBY_MARK &&
           (find_ruby_text(b, pair.whole, at, length) || find_ruby_text(b, pair.path, at, length));
}

/* Reads a string, at most `most` bytes of it (a power of two); last: the end of it. */
static __always_inline void read_ruby_text(__u64 from, __u64 length, struct script_text *text, __u8 *to,
                                           __u32 most, bool last)
{
    __u64 size = length < most ? length : most - 1;
    from += last ? length - size : 0;
    __asm__ volatile("" : "+r"(size));
    size &= most - 1;
    if (size && bpf_probe_read_user(to, size, (const void *)from) == 0)
        *text = (struct script_text){.bytes = size, .width = 1, .cut = size < length};
}

/* The lines of a function's instructions (script_record.h). None if they do not fit. */
static __always_inline void read_ruby_lines(const struct ruby_layout *p, struct script_buffer *b)
{
    const __u32 extent = b->object[RUBY_BODY_WORD(p->body_size)] >> 32;
    const __u64 lines = b->object[RUBY_BODY_WORD(p->body_lines)];
    const __u32 count = b->object[RUBY_BODY_WORD(p->body_lines + 16)];
    const __u64 table = b->object[RUBY_BODY_WORD(p->body_lines + 24)];
    __u64 table_size = RUBY_POSITIONS_BYTES(extent), size = (__u64)count * RUBY_LINE_BYTES;
    if (extent > RUBY_TABLE_BYTES * 6 || !table_size || table_size >= RUBY_TABLE_BYTES || !size ||
        size >= RUBY_LINES_BYTES)
        return;
    __builtin_memcpy(b->code.table, &extent, sizeof extent);
    __builtin_memcpy(b->code.table + 4, &count, sizeof count);
    __asm__ volatile("" : "+r"(table_size), "+r"(size));
    table_size &= RUBY_TABLE_BYTES - 1;
    size &= SCRIPT_TABLE_MAX - 1; /* there is space behind a table */
    if (bpf_probe_read_user(b->code.table + 8, table_size, (const void *)table) == 0 &&
        bpf_probe_read_user(b->code.table + 8 + table_size, size, (const void *)lines) == 0)
        b->code.head.count = 8 + table_size + size;
}

/* Ruby's own names (rb_iseq_new_main(), rb_iseq_new_top()) are constants in its file, which a process made by
 * fork() has not paged in before reading them. */
static __always_inline void name_ruby_type(__u32 type, struct script_text *text, __u8 *to)
{
    if (type == RUBY_TYPE_MAIN)
        __builtin_memcpy(to, RUBY_MAIN, sizeof RUBY_MAIN);
    else if (type == RUBY_TYPE_TOP)
        __builtin_memcpy(to, RUBY_TOP, sizeof RUBY_TOP);
    else
        return;
    *text = (struct script_text){.bytes = (type == RUBY_TYPE_MAIN ? sizeof RUBY_MAIN : sizeof RUBY_TOP) - 1,
                                 .width = 1};
}

/* Fills in the record of a function's code. Returns whether there is a buffer. */
__noinline int verify_ruby_code(__u32 cpu, __u32 pid)
{
    struct script_buffer *b = bpf_map_lookup_elem(&script_buffers, &cpu);
    const struct rule_script *rule = bpf_map_lookup_elem(&scripts, &pid);
    if (!b || !rule)
        return 0;
    const struct ruby_layout *p = &rule->layout.ruby;
    struct script_code_told *text = &b->code.told;
    __u64 at, length;
    text->line = b->identity.line;
    text->zero = 0;
    text->name = text->file = (struct script_text){0};
    if (find_ruby_text(b, b->identity.texts[2], &at, &length))
        read_ruby_text(at, length, &text->name, text->name_bytes, SCRIPT_NAME_MAX, false);
    if (!text->name.width)
        name_ruby_type((__u32)b->object[RUBY_BODY_WORD(p->body_size)], &text->name, text->name_bytes);
    if (find_ruby_file(b, b->identity.texts[0], &at, &length))
        read_ruby_text(at, length, &text->file, text->file_bytes, SCRIPT_FILE_MAX, true);
    b->code.head.count = 0;
    read_ruby_lines(p, b);
    return 1;
}
