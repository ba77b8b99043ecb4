/* hostile.c - a process that says that it is V8 11.3, and lies about all that it runs, in each way for some time: frames that lead back, addresses of nothing,
 * huge lengths, strings that stand for each other, frames that change while they are read. Ends after so many seconds of CPU time as its argument says. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FRAMES = 4000, FUNCTIONS = 64, WAYS = 12, TYPES = 600 };
#define LOOP Builtins_InterpreterEntryTrampoline
#define main lies_main
#include "../lies.h"
#undef main

#define CONSTANT(name, value) const int v8dbg_##name = (value)
CONSTANT(off_fp_function, -16);
CONSTANT(off_fp_context_or_frame_type, -8);
CONSTANT(TaggedSize, 8);
CONSTANT(HeapObjectTag, 1);
CONSTANT(SmiTagMask, 1);
CONSTANT(SmiValueShift, 1);
CONSTANT(SmiShiftSize, 31);
CONSTANT(StringRepresentationMask, 7);
CONSTANT(ConsStringTag, 1);
CONSTANT(ExternalStringTag, 2);
CONSTANT(SlicedStringTag, 3);
CONSTANT(ThinStringTag, 5);
CONSTANT(OneByteStringTag, 8);
CONSTANT(class_JSFunction__shared__SharedFunctionInfo, 24);
CONSTANT(class_SharedFunctionInfo__function_data__Object, 8);
CONSTANT(class_SharedFunctionInfo__name_or_scope_info__Object, 16);
CONSTANT(class_SharedFunctionInfo__script_or_debug_info__HeapObject, 32);
CONSTANT(class_Script__name__Object, 16);
CONSTANT(class_Script__source__Object, 8);
CONSTANT(class_Map__instance_type__uint16_t, 12);
CONSTANT(scopeinfo_idx_ncontextlocals, 2);
CONSTANT(scopeinfo_idx_first_vars, 3);
CONSTANT(class_String__length__int32_t, 12);
CONSTANT(class_SeqOneByteString__chars__char, 16);
CONSTANT(class_ConsString__first__String, 16);
CONSTANT(class_ConsString__second__String, 24);
CONSTANT(class_ThinString__actual__String, 16);
CONSTANT(class_SlicedString__parent__String, 16);
CONSTANT(class_SlicedString__offset__SMI, 24);
CONSTANT(class_ExternalString__resource__Object, 16);
CONSTANT(type_ScopeInfo__SCOPE_INFO_TYPE, 261);
CONSTANT(type_Script__SCRIPT_TYPE, 167);
CONSTANT(frametype_EntryFrame, 1);
CONSTANT(frametype_ConstructEntryFrame, 2);
CONSTANT(frametype_WasmFrame, 4);
CONSTANT(frametype_WasmToJsFrame, 5);
#ifndef MAJOR
#define MAJOR 11
#endif
const int _ZN2v88internal7Version6major_E = MAJOR, _ZN2v88internal7Version6minor_E = 3;
__thread uint64_t _ZN2v88internal18g_current_isolate_E;
/* As tests/image/test_v8.c has it. */
__asm__(".text; .balign 64\n"
        "push %rbp; .byte 0x48, 0x89, 0xe5; push $2; sub $8, %rsp; push %r12; push %r13; push %r14; push "
        "%r15; push %rbx\n"
        ".byte 0x4c, 0x8b, 0xef, 0x41, 0xff, 0xb5; .long 0x100; movq $0, 0x100(%r13); mov 0x98(%r13), %r10\n"
        ".byte 0x4c, 0x89, 0x55, 0xf0, 0x49, 0x8b, 0x85; .long 0x120; ret; .balign 64\n"
        ".byte 0x49, 0x89, 0x6d, 0x68, 0xff, 0xd0, 0x49, 0xc7, 0x45, 0x68; .long 0; .balign 64\n"
        ".byte 0x4c, 0x8b, 0x57, 0x17, 0x4d, 0x8b, 0x62, 0x07, 0x4d, 0x8b, 0x54, 0x24, 0xff; cmpw $0xf5, "
        "0xb(%r10); ret\n");

struct object { /* its map, and what it has */
    uint64_t words[32];
};
struct frame { /* function, context or type, caller, return address */
    uint64_t words[8];
};

static uint64_t isolate[80];
static struct frame *frames; /* on the stack */
static struct object functions[FUNCTIONS], shared[FUNCTIONS], scopes[FUNCTIONS], scripts[FUNCTIONS],
    strings[FUNCTIONS];
static uint64_t maps[TYPES][2]; /* of a type */

static uint64_t tagged(const void *object)
{
    return (uintptr_t)object + 1;
}

static void set_type(struct object *object, unsigned type)
{
    maps[type][1] = (uint64_t)type << 32;
    object->words[0] = tagged(maps[type]);
}

static void chain_up(unsigned count)
{
    for (unsigned i = 0; i < FRAMES; i++) {
        const uint64_t next = (uintptr_t)&frames[i + 1].words[2];
        frames[i] =
            (struct frame){{tagged(&functions[i % FUNCTIONS]), tagged(isolate), i + 1 < count ? next : 0}};
    }
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        functions[i].words[3] = tagged(&shared[i]);
        shared[i] = (struct object){{0, tagged(isolate), tagged(&scopes[i]), 0, tagged(&scripts[i])}};
        /* a name, an inferred one; no locals */
        scopes[i] = (struct object){{0, (0x5000ull | 2) << 32, 0, 0, i % 2 ? tagged(&strings[i]) : 0, 0,
                                     tagged(&strings[i]), (uint64_t)i << 32, 99ull << 32}};
        scripts[i] = (struct object){{0, tagged(&strings[(i + 1) % FUNCTIONS]), tagged(&strings[i])}};
        set_type(&scripts[i], 167);
        set_type(&strings[i], 8);
        strings[i].words[1] = 20ull << 32;
        strcpy((char *)&strings[i].words[2], "\x1b[31m<b>;\n\t\r&\"' \xff\xc3");
    }
    isolate[52] = (uintptr_t)&frames[FRAMES];
    isolate[48] = (uintptr_t)&frames[0].words[2];
}

/* One way to lie. */
static void lie(unsigned way)
{
    static const uint64_t lengths[] = {0, 1, 255, 256, 511, 512, 65536, 1u << 31, UINT32_MAX};
    static const unsigned kinds[] = {1, 2, 3, 5, 9, 10, 11, 13, 0, 40, 260, 599};
    _ZN2v88internal18g_current_isolate_E = (uintptr_t)isolate;
    chain_up(way % 5 ? 30 : FRAMES);
    for (unsigned i = 0; i < FUNCTIONS; i++)
        switch (way) {
        case 1:
            functions[i].words[3] = wild();
            break;
        case 2:
            shared[i].words[1 + (uint64_t)random() % 4] = wild();
            break;
        case 3: /* many locals, any flags */
            scopes[i].words[1] = wild();
            scopes[i].words[3] = lengths[(uint64_t)random() % (sizeof lengths / sizeof *lengths)] << 32;
            break;
        case 4:
            strings[i].words[1] = lengths[(uint64_t)random() % (sizeof lengths / sizeof *lengths)] << 32;
            break;
        case 5: /* strings that stand for others, or for themselves */
        case 6:
            set_type(&strings[i], kinds[(uint64_t)random() % (sizeof kinds / sizeof *kinds)]);
            strings[i].words[2] = way == 5 ? tagged(&strings[(uint64_t)random() % FUNCTIONS]) : wild();
            strings[i].words[3] = i % 3 ? tagged(&strings[(uint64_t)random() % FUNCTIONS]) : wild();
            break;
        case 7:
            strings[i].words[0] = scripts[i].words[0] = wild();
            break;
        case 8: /* types of frames */
            frames[i % 30].words[1] = (uint64_t)random() % 32 * 2;
            break;
        default:
            break;
        }
    if (way == 0) /* a frame whose caller is itself */
        frames[3].words[2] = (uintptr_t)&frames[3].words[2];
    else if (way == 9)
        frames[random() % 20].words[2] = wild();
    else if (way == 10)
        isolate[(uint64_t)random() % 3 ? 48 : 52] = wild();
}

static void *change(void *none)
{
    while (!stop) {
        const unsigned i = (unsigned)random() % 30;
        frames[i].words[random() % 3] = wild();
        frames[(i + 1) % 30].words[2] = (uintptr_t)&frames[(unsigned)random() % FRAMES].words[2];
        scopes[i].words[(unsigned)random() % 9] ^= 8;
        strings[i].words[0] = random() % 2 ? strings[i].words[0] : wild();
        struct timespec t = {0, 20000};
        nanosleep(&t, NULL);
    }
    return none;
}

int main(int count, char **arguments)
{
    struct frame on_stack[FRAMES + 1];
    frames = on_stack;
    return lies_main(count, arguments);
}
