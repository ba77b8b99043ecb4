/*
 * v8.h - reads what V8 runs in the sampled thread (part of verify.bpf.c): image/script_layout.h.
 *
 * All of its compilers' code has frame pointers: [fp - 16] is the function, and [fp - 8] its context or, in
 * frames that are not JavaScript's, their type. C++ frames in between have none; V8 keeps the frame from
 * which C++ was called. V8's own profiler works the same way (StackFrameIteratorForProfiler of
 * src/execution/frames.cc). V8's own builtins are left out: their machine code has symbols. Inlined functions
 * in optimised code have no frame.
 *
 * A function is identified by its SharedFunctionInfo, which all of its closures share. The garbage collector
 * may move that, like all objects; the old copies remain until the collection ends.
 */

#define V8_FRAME_BYTES 32u /* bytes read of a frame, from [fp - 16] on */
/* Bytes from the frame of JSEntry() down to the frame from which its C++ caller was called. */
#define V8_OUTER 64u
/* The values of this many keys of pthread_key_create() are in struct pthread itself: in glibc on x86-64,
 * specific_1stblock[0].data is at this offset from the FS base. */
#define V8_KEYS       32u
#define V8_KEY_VALUES 0x318u

/* The thread's isolate; 0: it has none. */
static __always_inline __u64 isolate_of(const struct rule_script *rule)
{
    __u64 isolate = 0;
    __u32 key = V8_KEYS;
    const __u64 thread =
        config.hooks.task_fs ? kernel_word(bpf_get_current_task() + config.hooks.task_fs) : 0;
    if (!thread)
        return 0;
    if (rule->layout.v8.thread_isolate)
        return user_word(thread - rule->layout.v8.thread_isolate, &isolate) ? isolate : 0;
    if (bpf_probe_read_user(&key, sizeof key, (const void *)rule->state) != 0 || key >= V8_KEYS)
        return 0;
    return user_word(thread + V8_KEY_VALUES + 16ull * key, &isolate) ? isolate : 0;
}

/* Whether the frame at `bp` is a regular expression's that was called from a frame. */
static __always_inline bool is_regexp(const struct v8_layout *p, __u64 bp, __u64 caller)
{
    __u64 type = 0, outer = 0;
    return p->frame_regexp && user_word(bp - 8, &type) && type == 2 * p->frame_regexp &&
           user_word(bp, &outer) && outer == caller;
}

/* Finds the innermost reliable frame: if one is being set up or left, its caller's. */
static __always_inline void begin_v8(const struct moment *m, struct script_buffer *b, __u64 isolate)
{
    const struct v8_layout *p = &b->script.layout.v8;
    __u64 begin = 0, frame = 0;
    if (!user_word(isolate + p->isolate_entry, &begin) || !begin)
        return;
    if (!user_word(isolate + p->isolate_call, &frame) ||
        (!frame && !user_word(isolate + p->isolate_exit, &frame)))
        frame = 0;
    else if (!frame)
        frame = m->bp - m->sp < 16 && user_word(m->bp, &frame) ? frame : m->bp;
    else if (is_regexp(p, m->bp, frame))
        frame = m->bp;
    b->next = frame >= m->sp && frame <= begin ? frame : 0;
    b->failed = !b->next;
}

/* Reads a frame, and what follows it in its page: usually callers' frames. */
static __always_inline bool read_v8_frames(struct script_buffer *b, __u64 from)
{
    __u64 size = PAGE - (from & (PAGE - 1));
    size = size < V8_FRAME_BYTES ? V8_FRAME_BYTES : size < SCRIPT_WINDOW ? size : SCRIPT_WINDOW - 8;
    b->window_at = from;
    b->window_size = size;
    __asm__ volatile("" : "+r"(size));
    return bpf_probe_read_user(b->window, size & (SCRIPT_WINDOW - 1), (const void *)from) == 0;
}

/* Adds a frame's function if it belongs to the program. Functions that did before are not read again. */
static __always_inline void add_v8_function(const struct v8_layout *p, struct script_buffer *b,
                                            __u64 function)
{
    __u64 shared = 0, data = 0;
    if (!user_word(function - 1 + p->function_shared, &shared) || !(shared & 1))
        return;
    const __u64 key = rule_hash(b->process, shared);
    __u64 *seen = &b->seen[key & (SCRIPT_SEEN - 1)];
    if (*seen != key && (!user_word(shared - 1 + p->shared_data, &data) || !(data & 1)))
        return;
    *seen = key;
    add_called(b, shared, 0, SCRIPT_ENTERED);
}

/* Moves from a frame to the next one, and adds its function to the chain. Returns whether there is a next
 * one. */
__noinline int verify_v8_frame(__u32 cpu)
{
    struct script_buffer *b = bpf_map_lookup_elem(&script_buffers, &cpu);
    if (!b || !b->next)
        return 0;
    const struct v8_layout *p = &b->script.layout.v8;
    const __u64 frame = b->next;
    __u64 at = frame - 16 - b->window_at;
    if (at >= SCRIPT_WINDOW || at + V8_FRAME_BYTES > b->window_size) {
        at = 0;
        b->failed = !read_v8_frames(b, frame - 16);
    }
    if (b->failed || b->chain_record.head.count >= SCRIPT_CALLED_MAX)
        return 0;
    const __u64 type = window_word(b, at + 8);
    b->next = window_word(b, at + 16);
    if (type & 1) {
        add_v8_function(p, b, window_word(b, at));
    } else if (type == 2 * p->frame_entry || type == 2 * p->frame_construct) {
        if (!user_word(frame - V8_OUTER, &b->next))
            b->next = frame;
    } else if (type == 2 * p->frame_wasm || type == 2 * p->frame_wasm_call ||
               (p->frame_regexp && type == 2 * p->frame_regexp)) {
        add_called(b, type, 0, SCRIPT_ENTERED);
    }
    b->failed = b->next && b->next <= frame; /* callers must be at higher addresses */
    return b->next && !b->failed;
}

/* The same for several frames. */
__noinline int verify_v8_frames(__u32 cpu)
{
    for (__u32 i = 0; i < SCRIPT_FRAMES; i++)
        if (!verify_v8_frame(cpu))
            return 0;
    return 1;
}

#define V8_SMI(word) ((__u32)((word) >> 32))
/* Flags of a ScopeInfo (src/objects/scope-info.tq), and the maximum number of locals stored by name in it. */
#define V8_SCOPE_TYPE(flags) ((flags)&15)
#define V8_SCOPE_MODULE      3u
#define V8_SCOPE_CLASS       0x400u
#define V8_SCOPE_NAME        0x3000u
#define V8_SCOPE_INFERRED    0x4000u
#define V8_SCOPE_LOCALS      75u

/* Reads what a function has besides its script: its start and end in it, and its name or inferred name. */
static __always_inline bool read_v8_scope(const struct v8_layout *p, struct script_buffer *b, __u64 scope)
{
    __u64 head[2] = {0}, slots[6], locals, from;
    if (!(scope & 1) || !user_word(scope - 1 + 8, &head[0]) ||
        !user_word(scope - 1 + p->scope_locals, &head[1]))
        return false;
    const __u32 flags = V8_SMI(head[0]);
    locals = V8_SMI(head[1]);
    from = scope - 1 + p->scope_first + (V8_SCOPE_TYPE(flags) == V8_SCOPE_MODULE ? 8 : 0) +
           8 * (locals < V8_SCOPE_LOCALS ? 2 * locals : locals + 1) + (flags & V8_SCOPE_CLASS ? 8 : 0);
    const bool has_name = flags & V8_SCOPE_NAME, inferred = flags & V8_SCOPE_INFERRED;
    if (bpf_probe_read_user(slots, sizeof slots, (const void *)from) != 0)
        return false;
    b->identity.texts[1] = has_name ? slots[0] : 0;
    b->identity.texts[3] = inferred ? (has_name ? slots[2] : slots[0]) : 0;
    const __u64 start = has_name ? (inferred ? slots[3] : slots[2]) : inferred ? slots[1] : slots[0];
    const __u64 end = has_name ? (inferred ? slots[4] : slots[3]) : inferred ? slots[2] : slots[1];
    b->identity.line = start >> 32 | (end >> 32 << 32);
    b->identity.name = flags;
    return true;
}

/* Reads what identifies one function of the chain. Returns whether it can be read. */
__noinline int verify_v8_identity(__u32 cpu, __u32 number)
{
    struct script_buffer *b = bpf_map_lookup_elem(&script_buffers, &cpu);
    if (!b)
        return 0;
    const struct v8_layout *p = &b->script.layout.v8;
    const __u64 code = b->chain_record.called[number & (SCRIPT_CALLED_MAX - 1)].code;
    __builtin_memset(&b->identity, 0, sizeof b->identity);
    if (!(code & 1)) /* a frame type */
        return 1;
    return user_word(code - 1 + p->shared_script, &b->identity.texts[0]) &&
           user_word(code - 1 + p->shared_name, &b->identity.texts[2]) &&
           (read_v8_scope(p, b, b->identity.texts[2]), 1);
}

#define V8_NOTHING 0xffffu

/* The instance type of an object; V8_NOTHING: it is not one, or cannot be read. If the collector has moved
 * it, *object is set to its new address. */
static __always_inline __u32 type_of(const struct v8_layout *p, __u64 *object)
{
    __u64 map = 0;
    __u16 type = 0;
    if (!(*object & 1) || !user_word(*object - 1, &map))
        return V8_NOTHING;
    if (!(map & 1)) {
        *object = map + 1;
        if (!user_word(*object - 1, &map))
            return V8_NOTHING;
    }
    return bpf_probe_read_user(&type, sizeof type, (const void *)(map - 1 + p->map_type)) == 0 ? type
                                                                                               : V8_NOTHING;
}

/* Strings, by their instance types (src/objects/instance-type.h). */
#define V8_NO_TEXT  0xff80u
#define V8_KIND     7u
#define V8_CONS     1u
#define V8_EXTERNAL 2u
#define V8_SLICED   3u
#define V8_THIN     5u
#define V8_ONE_BYTE 8u
#define V8_TEXTS    4u /* strings that refer to one another */

/* Finds the characters of a string, see verify_v8_text(), if it contains them. Otherwise returns the string
 * that it refers to; 0: it contains them, or they cannot be read. */
__noinline __u64 verify_v8_string(__u32 cpu, __u64 string)
{
    struct script_buffer *b = bpf_map_lookup_elem(&script_buffers, &cpu);
    if (!b)
        return 0;
    const struct v8_layout *p = &b->script.layout.v8;
    const __u32 type = type_of(p, &string), kind = type & V8_KIND;
    const __u64 object = string - 1;
    __u64 word = 0;
    __u32 length = 0;
    if (type & V8_NO_TEXT ||
        bpf_probe_read_user(&length, sizeof length, (const void *)(object + p->text_length)) != 0)
        return 0;
    if (length < b->text[1])
        b->text[1] = length;
    if (!b->text[3])
        b->text[3] = length;
    if (kind == V8_SLICED && user_word(object + p->sliced_offset, &word))
        b->text[4] += V8_SMI(word);
    const __u32 further = kind == V8_THIN     ? p->thin_actual
                          : kind == V8_CONS   ? p->cons_first
                          : kind == V8_SLICED ? p->sliced_parent
                                              : 0;
    word = object + p->text;
    if (further)
        return user_word(object + further, &word) ? word : 0;
    if (kind == V8_EXTERNAL && !user_word(object + p->external_data, &word))
        return 0;
    b->text[2] = type & V8_ONE_BYTE ? 1 : 2;
    b->text[0] = word + b->text[4] * b->text[2];
    return 0;
}

/* Finds the characters of a string. Returns whether there are any. b->text[] is set to: their address, their
 * number, bytes per character, the string's full length, of which only the first part may be found, and how
 * many characters of a longer string precede them. */
__noinline int verify_v8_text(__u32 cpu, __u64 string)
{
    struct script_buffer *b = bpf_map_lookup_elem(&script_buffers, &cpu);
    if (!b)
        return 0;
    b->text[1] = ~0ull;
    b->text[2] = b->text[3] = b->text[4] = 0;
    for (__u32 i = 0; i < V8_TEXTS && string; i++)
        string = verify_v8_string(cpu, string);
    return b->text[1] && b->text[2];
}

/* Parts of an inferred name, as "Some.method": each but the last is the first half of a cons string. */
#define V8_PARTS 9u

/* Reads the first part of a name to offset `at`. Returns its length; 0: it cannot be read, is not one byte
 * per character, or is the whole name. b->text[5]: the remaining parts; 0: it was the last. */
__noinline __u32 verify_v8_part(__u32 cpu, __u64 string, __u32 at)
{
    struct script_buffer *b = bpf_map_lookup_elem(&script_buffers, &cpu);
    if (!b)
        return 0;
    const struct v8_layout *p = &b->script.layout.v8;
    const __u32 type = type_of(p, &string);
    b->text[5] = 0;
    if (type & V8_NO_TEXT || (type & V8_KIND) != V8_CONS) {
        if (!at)
            return 0;
    } else if (!user_word(string - 1 + p->cons_second, &b->text[5]) ||
               !user_word(string - 1 + p->cons_first, &string))
        return 0;
    if (!verify_v8_text(cpu, string))
        return 0;
    __u64 size = b->text[1], place = at;
    if (b->text[2] != 1 || size < b->text[3] || size + place >= SCRIPT_NAME_MAX)
        return 0;
    __asm__ volatile("" : "+r"(size), "+r"(place));
    size &= SCRIPT_NAME_MAX - 1;
    place &= SCRIPT_NAME_MAX - 1; /* there is space behind a name */
    return bpf_probe_read_user(b->code.told.name_bytes + place, size, (const void *)b->text[0]) == 0 ? size
                                                                                                     : 0;
}

/* Reads a name in parts. Returns whether it has several. */
__noinline int verify_v8_parts(__u32 cpu, __u64 string)
{
    struct script_buffer *b = bpf_map_lookup_elem(&script_buffers, &cpu);
    __u32 at = 0, part = 1;
    if (!b)
        return 0;
    for (__u32 i = 0; i < V8_PARTS && part && string; i++) {
        part = verify_v8_part(cpu, string, at);
        at += part;
        string = b->text[5];
    }
    if (part && !string)
        b->code.told.name = (struct script_text){.bytes = at, .width = 1};
    return part && !string;
}

/* Reads the characters found, at most `most` bytes (a power of two); last: the end of them. */
static __always_inline void read_v8_text(const struct script_buffer *b, struct script_text *text, __u8 *to,
                                         __u32 most, bool last)
{
    const __u64 bytes = b->text[1] * b->text[2];
    __u64 size = bytes < most ? bytes : most - 2;
    const __u64 from = b->text[0] + (last ? bytes - size : 0);
    __asm__ volatile("" : "+r"(size));
    size &= most - 1;
    if (size && bpf_probe_read_user(to, size, (const void *)from) == 0)
        *text = (struct script_text){
            .bytes = size, .width = b->text[2], .cut = size < bytes || b->text[1] < b->text[3]};
}

#define V8_PIECE 512u   /* bytes of a script's source searched per call, */
#define V8_MOST  65536u /* and per function: further in, its line is unknown */

/* Counts the line ends in a piece of source, or `size` bytes of it, with `width` bytes per character. */
__noinline __u32 verify_v8_lines(__u32 cpu, __u64 from, __u32 size, __u32 width)
{
    struct script_buffer *b = bpf_map_lookup_elem(&script_buffers, &cpu);
    const __u64 ones = width == 1 ? 0x0101010101010101ull : 0x0001000100010001ull;
    const __u32 top = 8 * (width & 3) - 1;
    const __u64 low = (ones << top) - ones;
    __u32 lines = 0;
    __u64 read = size < V8_PIECE ? size : V8_PIECE;
    __asm__ volatile("" : "+r"(read));
    read &= SCRIPT_WINDOW - 1;
    if (!b || !read || bpf_probe_read_user(b->window, read, (const void *)from) != 0)
        return 0;
    __builtin_memset(b->window + read, 0, 8);
    for (__u32 i = 0; i < V8_PIECE / 8 && 8 * i < size; i++) {
        const __u64 other = word_at(b->window + 8 * i) ^ '\n' * ones; /* newlines become 0 */
        const __u64 ends = ~(((other & low) + low) | other | low) >> top;
        lines += ends * ones >> (63 - top);
    }
    return lines;
}

/* The line of its script at which the function in b->identity begins; 0: unknown. */
__noinline __u32 verify_v8_line(__u32 cpu, __u64 script)
{
    struct script_buffer *b = bpf_map_lookup_elem(&script_buffers, &cpu);
    __u64 source = 0;
    __u32 line = 1;
    if (!b || !user_word(script - 1 + b->script.layout.v8.script_source, &source) ||
        !verify_v8_text(cpu, source))
        return 0;
    const __u64 begin = (__u32)b->identity.line, size = begin * b->text[2];
    if (size > V8_MOST || begin > b->text[1])
        return 0;
    for (__u32 i = 0; i < V8_MOST && i < size; i += V8_PIECE)
        line += verify_v8_lines(cpu, b->text[0] + i, size - i, b->text[2]);
    b->counted += size;
    return line;
}

/* Fills in the record of a function. Returns whether there is a buffer. */
__noinline int verify_v8_code(__u32 cpu)
{
    struct script_buffer *b = bpf_map_lookup_elem(&script_buffers, &cpu);
    if (!b)
        return 0;
    const struct v8_layout *p = &b->script.layout.v8;
    struct script_code_told *text = &b->code.told;
    __u64 script = b->identity.texts[0], name = 0;
    text->line = text->zero = 0;
    text->name = text->file = (struct script_text){.width = 1};
    b->code.head.count = 0;
    if (!(b->key.code & 1)) {
        const bool regexp = b->key.code == 2 * p->frame_regexp;
        text->name.bytes = regexp ? sizeof "(regular expression)" - 1 : sizeof "(WebAssembly)" - 1;
        __builtin_memcpy(text->name_bytes, regexp ? "(regular expression)    " : "(WebAssembly)           ",
                         24);
        return 1;
    }
    if (verify_v8_text(cpu, b->identity.texts[1]) ||
        (!verify_v8_parts(cpu, b->identity.texts[3]) &&
         (verify_v8_text(cpu, b->identity.texts[3]) || verify_v8_text(cpu, b->identity.texts[2]))))
        read_v8_text(b, &text->name, text->name_bytes, SCRIPT_NAME_MAX, false);
    if (type_of(p, &script) != p->type_script)
        return 1;
    text->line = verify_v8_line(cpu, script);
    if (user_word(script - 1 + p->script_name, &name) && verify_v8_text(cpu, name))
        read_v8_text(b, &text->file, text->file_bytes, SCRIPT_FILE_MAX, true);
    return 1;
}
