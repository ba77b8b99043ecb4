/*
 * v8.c - V8 in an image (script.h): finds struct layouts by the constants that it exports for debuggers of core
 * files (v8dbg_*, tools/gen-postmortem-metadata.py). For the isolate there are no constants: its layout is found
 * by the code that enters and leaves JavaScript.
 */
#include "image/script_private.h"

#include <stdio.h>
#include <string.h>

#include "image/elf/symbols.h"

/* Tested versions: V8 changes details that no constant has, such as what follows the locals in a ScopeInfo. */
static const struct {
    unsigned major, minor;
} versions[] = {{10, 2}, {11, 3}};

/* The constants, and where each is stored; `optional` ones are missing in some versions. */
static const struct {
    const char *name;
    size_t at;
    bool optional;
} constants[] = {
#define CONSTANT(name, member)                                                                               \
    {                                                                                                        \
        "v8dbg_" name, offsetof(struct v8_layout, member), false                                             \
    }
    CONSTANT("class_JSFunction__shared__SharedFunctionInfo", function_shared),
    CONSTANT("class_SharedFunctionInfo__function_data__Object", shared_data),
    CONSTANT("class_SharedFunctionInfo__name_or_scope_info__Object", shared_name),
    CONSTANT("class_SharedFunctionInfo__script_or_debug_info__HeapObject", shared_script),
    CONSTANT("class_Script__name__Object", script_name),
    CONSTANT("class_Script__source__Object", script_source),
    CONSTANT("class_Map__instance_type__uint16_t", map_type),
    CONSTANT("scopeinfo_idx_ncontextlocals", scope_locals),
    CONSTANT("scopeinfo_idx_first_vars", scope_first),
    CONSTANT("class_String__length__int32_t", text_length),
    CONSTANT("class_SeqOneByteString__chars__char", text),
    CONSTANT("class_ConsString__first__String", cons_first),
    CONSTANT("class_ConsString__second__String", cons_second),
    CONSTANT("class_ThinString__actual__String", thin_actual),
    CONSTANT("class_SlicedString__parent__String", sliced_parent),
    CONSTANT("class_SlicedString__offset__SMI", sliced_offset),
    CONSTANT("class_ExternalString__resource__Object", external_data),
    CONSTANT("type_ScopeInfo__SCOPE_INFO_TYPE", type_scope),
    CONSTANT("type_Script__SCRIPT_TYPE", type_script),
    CONSTANT("frametype_EntryFrame", frame_entry),
    CONSTANT("frametype_ConstructEntryFrame", frame_construct),
    CONSTANT("frametype_WasmFrame", frame_wasm),
    CONSTANT("frametype_WasmToJsFrame", frame_wasm_call),
#undef CONSTANT
    {"v8dbg_frametype_IrregexpFrame", offsetof(struct v8_layout, frame_regexp), true},
};
#define CONSTANT_MOST 4096 /* limit; known constants are smaller */

/* Values that the BPF program relies on (v8.h), the same in all versions so far. */
static const struct {
    const char *name;
    int32_t value;
} expected[] = {
    {"v8dbg_off_fp_context_or_frame_type", -8},
    {"v8dbg_off_fp_function", -16},
    {"v8dbg_TaggedSize", 8},
    {"v8dbg_HeapObjectTag", 1},
    {"v8dbg_SmiTagMask", 1},
    {"v8dbg_SmiValueShift", 1},
    {"v8dbg_SmiShiftSize", 31},
    {"v8dbg_StringRepresentationMask", 7},
    {"v8dbg_ConsStringTag", 1},
    {"v8dbg_ExternalStringTag", 2},
    {"v8dbg_SlicedStringTag", 3},
    {"v8dbg_ThinStringTag", 5},
    {"v8dbg_OneByteStringTag", 8},
};

/* false: there is no such constant. One that is 0 has no bytes in the file. */
static bool read_int(const struct elf_file *file, const char *name, int32_t *value)
{
    uint64_t at;
    size_t size;
    if (!symbols_value(file, name, &at))
        return false;
    const uint8_t *bytes = elf_file_bytes(file, at, sizeof *value, &size);
    *value = 0;
    if (bytes && size >= sizeof *value)
        memcpy(value, bytes, sizeof *value);
    return true;
}

static bool read_constants(const struct elf_file *file, struct v8_layout *v8)
{
    int32_t value;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (!read_int(file, expected[i].name, &value) || value != expected[i].value)
            return false;
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
        const bool has = read_int(file, constants[i].name, &value);
        if (has ? value < 0 || value > CONSTANT_MOST : !constants[i].optional)
            return false;
        if (has)
            memcpy((char *)v8 + constants[i].at, &value, sizeof value);
    }
    /* Constants are numbers of fields, behind the map. */
    v8->scope_locals = 8 + 8 * v8->scope_locals;
    v8->scope_first = 8 + 8 * v8->scope_first;
    v8->external_data += 8;
    return true;
}

/* Finds the thread's isolate: g_current_isolate_ of a program's own or, in older versions, the value of a key. */
static bool find_isolate(const struct elf_file *file, struct script_runtime *v8)
{
    uint64_t at;
    if (!symbols_value(file, "_ZN2v88internal18g_current_isolate_E", &at))
        return symbols_value(file, "_ZN2v88internal7Isolate12isolate_key_E", &v8->state);
    int64_t from_base;
    if (!elf_file_thread_variable(file, at, &from_base) || -from_base >= UINT32_MAX)
        return false;
    v8->layout.v8.thread_isolate = (uint32_t)-from_base;
    return true;
}

/* IsolateData::kIsolateRootBias: the root register (r13) points so many bytes behind the isolate's beginning. */
#define ROOT 128u

/* Code in hexadecimal; x and y stand for the bytes of two offsets from the root register. */
static const char
    /* JSEntry(): push rbp; mov rbp, rsp; push ENTRY; sub rsp, 8; push r12, r13, r14, r15, rbx; mov r13, rdi; push
     * [r13 + exit]; mov [r13 + exit], 0; mov r10, [r13 + ...]; mov [rbp - 16], r10; mov rax, [r13 + entry]. It
     * pushes `exit` at V8_OUTER (v8.h). */
    entry_code[] = "554889e56a024883ec084154415541564157534c8bef41ffb5xxxxxxxx49c785........000000004d8b95..."
                   ".....4c8955f0498b85yyyyyyyy",
    /* A call of C without an exit frame, with an offset of 4 bytes or of 1: mov [r13 + call], rbp; call rax; mov
     * [r13 + call], 0. */
    call_code[] = "4989adxxxxxxxxffd049c785yyyyyyyy00000000",
    short_call_code[] = "49896dxxffd049c745yy00000000",
    /* InterpreterEntryTrampoline(): mov r10, [rdi + shared]; mov r12, [r10 + data]; mov r10, [r12 - 1]; cmp [r10 + 11], ... */
    loop_code[] = "4c8b57174d8b62074d8b5424ff6641817a0b";
#define CODE_MOST  64u /* bytes of one of these, at most */
#define CODE_ALIGN 32u /* alignment of builtins */

static unsigned hex_digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* Whether code begins like this; offsets[] receives what x and y stand for. */
static bool begins_so(const uint8_t *code, size_t size, const char *so, uint32_t offsets[2])
{
    uint32_t found[2] = {0};
    unsigned bits[2] = {0};
    for (; *so; so += 2, code++, size--) {
        if (size == 0)
            return false;
        if (*so == 'x' || *so == 'y') {
            const unsigned which = *so == 'y';
            found[which] |= (uint32_t)*code << (bits[which] & 31);
            bits[which] += 8;
        } else if (*so != '.' && *code != (hex_digit(so[0]) << 4 | hex_digit(so[1]))) {
            return false;
        }
    }
    memcpy(offsets, found, sizeof found);
    return true;
}

struct search {
    uint32_t entry, exit, call; /* 0: not found yet */
    uint64_t loop;              /* address */
};

/* Whether this is a call whose two offsets agree. *offset is sign-extended, also the one-byte form. */
static bool is_call(const uint8_t *code, size_t size, uint32_t *offset)
{
    uint32_t both[2];
    const bool is_short = begins_so(code, size, short_call_code, both);
    if ((!is_short && !begins_so(code, size, call_code, both)) || both[0] != both[1])
        return false;
    *offset = is_short ? (uint32_t)(int8_t)both[0] : both[0];
    return true;
}

/* An elf_see_code callback: searches a piece. 1: everything was found. */
static int search_piece(void *context, const uint8_t *code, size_t size, uint64_t address)
{
    struct search *s = context;
    uint32_t offsets[2];
    for (size_t i = -address & (CODE_ALIGN - 1); i < size && (!s->loop || !s->entry); i += CODE_ALIGN) {
        if (!s->loop && begins_so(code + i, size - i, loop_code, offsets))
            s->loop = address + i;
        if (!s->entry && begins_so(code + i, size - i, entry_code, offsets)) {
            s->exit = offsets[0];
            s->entry = offsets[1];
        }
    }
    /* The pattern would match no other code than V8's, but there is much other code: search for the entry first. */
    for (size_t i = 0; s->entry && !s->call && i < size; i++)
        is_call(code + i, size - i, &s->call);
    return s->loop && s->entry && s->call;
}

static bool search_code(const struct elf_file *file, struct script_runtime *v8)
{
    struct search s = {0};
    elf_file_see_code(file, CODE_MOST, search_piece, &s);
    v8->loop = s.loop;
    v8->layout.v8.isolate_entry = s.entry + ROOT;
    v8->layout.v8.isolate_exit = s.exit + ROOT;
    v8->layout.v8.isolate_call = s.call + ROOT;
    return s.entry && s.exit && s.call && s.loop;
}

bool v8_find(const struct elf_file *file, struct script_runtime *out)
{
    struct script_runtime v8 = {.layout = {.language = SCRIPT_JAVASCRIPT}};
    int32_t major, minor;
    if (!symbols_value(file, "v8dbg_off_fp_function", &v8.state))
        return false;
    if (read_int(file, "_ZN2v88internal7Version6major_E", &major) &&
        read_int(file, "_ZN2v88internal7Version6minor_E", &minor)) {
        v8.major = (unsigned)major;
        v8.minor = (unsigned)minor;
    }
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        v8.has_layout |= versions[i].major == v8.major && versions[i].minor == v8.minor;
    v8.has_layout = v8.has_layout && read_constants(file, &v8.layout.v8) && find_isolate(file, &v8) &&
                    search_code(file, &v8);
    *out = v8;
    return true;
}
