/*
 * php.h - reads what PHP without ZTS runs (part of verify.bpf.c): image/script_layout.h. Its globals belong to
 * one thread, the process's first.
 *
 * Functions implemented in C have calls too, so they are in the chain. A closure's function is a copy, as an
 * inherited method's is; they share their instructions, which, together with their class, identify the code.
 */

#define PHP_INTERNAL 1u       /* ZEND_INTERNAL_FUNCTION */
#define PHP_TOP      0x20000u /* ZEND_CALL_TOP: C called the interpreter's loop */

/* A word of the last object read. */
static __always_inline __u64 object_word(const struct script_buffer *b, __u32 offset)
{
    return b->object[offset / 8 & (SCRIPT_OBJECT_BYTES / 8 - 1)];
}

/* Offset of a call's instruction in its function, bytes; 0: the function has not begun. */
static __always_inline __u32 instruction_at(const struct php_layout *p, const struct script_buffer *b,
                                            __u64 first, __u64 instruction, bool innermost)
{
    const __u64 size = (__u32)object_word(b, p->function_count) * (__u64)PHP_INSTRUCTION;
    if (innermost && b->in_register - first < size)
        instruction = b->in_register;
    return instruction - first < size ? instruction - first : 0;
}

/* Lists the generators that wait in `yield from`. The last one's call is followed by one without a function,
 * which stands for all. */
__noinline int verify_php_delegates(__u32 cpu, __u32 pid, __u64 generator)
{
    struct script_buffer *b = bpf_map_lookup_elem(&script_buffers, &cpu);
    const struct rule_script *rule = bpf_map_lookup_elem(&scripts, &pid);
    __u64 parent;
    if (!b || !rule)
        return 0;
    const struct php_layout *p = &rule->layout.php;
    for (__u32 i = 0; i < PHP_DELEGATES; i++) {
        if (!user_word(generator + p->generator_parent, &parent) || !parent ||
            !user_word(generator + p->generator_call, &b->delegates[i]))
            break;
        b->delegate_count = i + 1;
        generator = parent;
    }
    return 0;
}

/* Sets what is read next: a waiting generator, or the call after them. */
static __always_inline void go_on(struct script_buffer *b)
{
    if (b->delegate_count) {
        b->next = b->delegates[--b->delegate_count & (PHP_DELEGATES - 1)];
    } else if (b->behind) {
        b->next = b->behind;
        b->behind = 0;
    }
}

/* Adds the function of a call. 0: it cannot be read. */
__noinline int verify_php_call(__u32 cpu, __u32 pid, __u64 function, __u64 instruction, __u32 entered)
{
    struct script_buffer *b = bpf_map_lookup_elem(&script_buffers, &cpu);
    const struct rule_script *rule = bpf_map_lookup_elem(&scripts, &pid);
    if (!b || !rule)
        return 0;
    const struct php_layout *p = &rule->layout.php;
    if (bpf_probe_read_user(b->object, PHP_FUNCTION_BYTES, (const void *)function) != 0)
        return 0;
    const bool innermost = b->chain_record.head.count == 0;
    const __u64 first = object_word(b, p->function_instructions);
    __u64 code = function;
    __u32 at = 0;
    if ((__u8)b->object[0] != PHP_INTERNAL) {
        code = rule_hash(first, object_word(b, p->function_class));
        at = instruction_at(p, b, first, instruction, innermost);
        b->first = innermost ? first : b->first;
    } else if (object_word(b, p->function_name)) {
        entered = 0;
    } else { /* the first call of a fiber */
        return 1;
    }
    b->functions[add_called(b, code, at, entered ? SCRIPT_ENTERED : 0)] = function;
    return 1;
}

/* Adds further functions to the chain. Returns whether there are more. */
__noinline int verify_php_frames(__u32 cpu, __u32 pid)
{
    struct script_buffer *b = bpf_map_lookup_elem(&script_buffers, &cpu);
    const struct rule_script *rule = bpf_map_lookup_elem(&scripts, &pid);
    if (!b || !rule)
        return 0;
    const struct php_layout *p = &rule->layout.php;
    for (__u32 i = 0; i < SCRIPT_FRAMES; i++) {
        __u64 at;
        if (!next_frame(b, &at))
            return 0;
        const __u64 function = window_word(b, at + p->call_function);
        const __u64 instruction = window_word(b, at + p->call_instruction);
        const __u64 object = window_word(b, at + p->call_object);
        const bool entered = window_word(b, at + p->call_flags) & PHP_TOP && !b->delegate_count;
        const __u32 count = b->chain_record.head.count;
        b->next = window_word(b, at + p->call_previous);
        if (!function && !b->behind) {
            b->behind = b->next;
            verify_php_delegates(cpu, pid, object);
            if (count &&
                b->delegate_count) /* the interpreter's loop was entered with the outermost of those */
                b->chain_record.called[(count - 1) & (SCRIPT_CALLED_MAX - 1)].marks = 0;
        } else if (!function || !verify_php_call(cpu, pid, function, instruction, entered)) {
            b->failed = 1;
            b->chain_record.head.flags = SCRIPT_CUT;
            return 0;
        }
        go_on(b);
    }
    return 1;
}

/* In one function of the chain: replaces an instruction with its line. Returns whether there is such a
 * function. */
__noinline int verify_php_line(__u32 cpu, __u32 pid, __u32 number)
{
    struct script_buffer *b = bpf_map_lookup_elem(&script_buffers, &cpu);
    const struct rule_script *rule = bpf_map_lookup_elem(&scripts, &pid);
    __u64 first = 0;
    __u32 line = 0;
    if (!b || !rule || number >= b->chain_record.head.count)
        return 0;
    const struct php_layout *p = &rule->layout.php;
    struct script_called *called = &b->chain_record.called[number & (SCRIPT_CALLED_MAX - 1)];
    const __u64 function = b->functions[number & (SCRIPT_CALLED_MAX - 1)];
    if (called->code != function && user_word(function + p->function_instructions, &first))
        bpf_probe_read_user(&line, sizeof line, (const void *)(first + called->at + p->instruction_line));
    called->at = line;
    return 1;
}

/* A hash of a string: of its first bytes, its length, and its own hash. */
static __always_inline __u64 hash_php_text(const struct php_layout *p, struct script_buffer *b, __u64 from)
{
    struct {
        __u64 hash, length;
    } head;
    if (!from || bpf_probe_read_user(&head, sizeof head, (const void *)(from + p->text_length - 8)) != 0)
        return 0;
    return hash_text(b, rule_hash(head.length, head.hash), from + p->text, head.length);
}

/* Reads what identifies the code of one function of the chain. Returns whether it can be read. */
__noinline int verify_php_identity(__u32 cpu, __u32 pid, __u32 number)
{
    struct script_buffer *b = bpf_map_lookup_elem(&script_buffers, &cpu);
    const struct rule_script *rule = bpf_map_lookup_elem(&scripts, &pid);
    __u64 class_name = 0;
    if (!b || !rule)
        return 0;
    const struct php_layout *p = &rule->layout.php;
    const __u64 function = b->functions[number & (SCRIPT_CALLED_MAX - 1)];
    if (bpf_probe_read_user(b->object, PHP_CODE_BYTES, (const void *)function) != 0)
        return 0;
    const bool internal = (__u8)b->object[0] == PHP_INTERNAL;
    b->identity.texts[0] = internal ? 0 : object_word(b, p->function_file);
    b->identity.texts[1] = object_word(b, p->function_class);
    b->identity.texts[2] = object_word(b, p->function_name);
    b->identity.texts[3] = internal ? 0 : object_word(b, p->function_instructions);
    b->identity.line = internal ? 0 : (__u32)object_word(b, p->function_line);
    if (b->identity.texts[1])
        user_word(b->identity.texts[1] + p->class_name, &class_name);
    b->identity.name = hash_php_text(p, b, class_name);
    b->identity.name = rule_hash(b->identity.name, hash_php_text(p, b, b->identity.texts[2]));
    return 1;
}

#define PHP_PART_MAX 126u /* maximum bytes of the name of a class or function, with its final 0 */

/* Reads a string up to a 0; in an anonymous class's name its location follows that. Returns its length; 0: it
 * cannot be read. */
static __always_inline __u32 read_php_text(const struct php_layout *p, __u64 from, __u8 *to, __u8 *cut)
{
    const long size = bpf_probe_read_user_str(to, PHP_PART_MAX, (const void *)(from + p->text));
    if (size == PHP_PART_MAX)
        *cut = 1;
    return size > 0 ? (size - 1) & 127 : 0;
}

/* Reads "class::function"; nothing for code outside of functions. */
static __always_inline void read_php_name(const struct php_layout *p, struct script_buffer *b)
{
    struct script_code_told *text = &b->code.told;
    __u64 class_name;
    __u32 size = 0;
    text->name = (struct script_text){.width = 1};
    if (!b->identity.texts[2])
        return;
    if (b->identity.texts[1] && user_word(b->identity.texts[1] + p->class_name, &class_name))
        size = read_php_text(p, class_name, text->name_bytes, &text->name.cut);
    if (size) {
        text->name_bytes[size] = ':';
        text->name_bytes[size + 1] = ':';
        size += 2;
    }
    const __u32 of_function =
        read_php_text(p, b->identity.texts[2], text->name_bytes + size, &text->name.cut);
    text->name.bytes = size + of_function;
    text->name.width = of_function > 0;
}

/* Fills in the record of a function's code. Returns whether there is a buffer. */
__noinline int verify_php_code(__u32 cpu, __u32 pid)
{
    struct script_buffer *b = bpf_map_lookup_elem(&script_buffers, &cpu);
    const struct rule_script *rule = bpf_map_lookup_elem(&scripts, &pid);
    if (!b || !rule)
        return 0;
    const struct php_layout *p = &rule->layout.php;
    struct script_code_told *text = &b->code.told;
    const __u64 file = b->identity.texts[0];
    __u64 length = 0;
    text->line = b->identity.line;
    text->zero = 0;
    b->code.head.count = 0;
    read_php_name(p, b);
    text->file = (struct script_text){0};
    if (!file || !user_word(file + p->text_length, &length) || length >> 32)
        return 1;
    __u64 size = length < SCRIPT_FILE_MAX ? length : SCRIPT_FILE_MAX - 1;
    __asm__ volatile("" : "+r"(size));
    size &= SCRIPT_FILE_MAX - 1;
    if (size &&
        bpf_probe_read_user(text->file_bytes, size, (const void *)(file + p->text + length - size)) == 0)
        text->file = (struct script_text){.bytes = size, .width = 1, .cut = size < length};
    return 1;
}

/* Sets the innermost call, and its instruction from the register in which the interpreter's loop and compiled
 * code keep it, if another one has the call (ZEND_VM_FP_GLOBAL_REG, ZEND_VM_IP_GLOBAL_REG of
 * Zend/zend_execute.c): the one in memory is only that of the last instruction that can throw. */
static __always_inline void begin_php(const struct moment *m, struct script_buffer *b,
                                      const struct rule_script *rule)
{
    /* If the globals cannot be read, their page was not touched yet: nothing runs. */
    if (!user_word(rule->state + rule->layout.php.globals_call, &b->next))
        b->next = 0;
    b->in_register = b->next && m->registers[15] == b->next ? m->registers[16] : 0;
    b->first = b->behind = b->delegate_count = 0;
}

/* Replaces the innermost function's instruction with its line. */
static __always_inline void tell_php_line(struct script_buffer *b, const struct rule_script *rule)
{
    __u32 line = 0;
    if (b->first)
        bpf_probe_read_user(
            &line, sizeof line,
            (const void *)(b->first + b->chain_record.head.at + rule->layout.php.instruction_line));
    b->chain_record.head.at = line;
}
