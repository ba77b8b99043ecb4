/* Whether an image has V8, of which version, and what its constants and its code tell. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "image/script.h"
#include "tests/image/build.h"

/* As Node 20 has them. What is 0 has no bytes in a file. */
static const char constants[] =
    "int v8dbg_off_fp_function = -16, v8dbg_off_fp_context_or_frame_type = -8;\n"
    "int v8dbg_TaggedSize = 8, v8dbg_HeapObjectTag = 1, v8dbg_SmiTagMask = 1, v8dbg_SmiValueShift = 1, "
    "v8dbg_SmiShiftSize = 31;\n"
    "int v8dbg_StringRepresentationMask = 7, v8dbg_ConsStringTag = 1, v8dbg_ExternalStringTag = 2, "
    "v8dbg_SlicedStringTag = 3;\n"
    "int v8dbg_ThinStringTag = 5, v8dbg_OneByteStringTag = 8;\n"
    "int v8dbg_class_JSFunction__shared__SharedFunctionInfo = 24, "
    "v8dbg_class_SharedFunctionInfo__function_data__Object = 8;\n"
    "int v8dbg_class_SharedFunctionInfo__name_or_scope_info__Object = 16;\n"
    "int v8dbg_class_SharedFunctionInfo__script_or_debug_info__HeapObject = 32, "
    "v8dbg_class_Script__name__Object = 16, v8dbg_class_Script__source__Object = 8;\n"
    "int v8dbg_class_Map__instance_type__uint16_t = 12, v8dbg_scopeinfo_idx_ncontextlocals = 2, "
    "v8dbg_scopeinfo_idx_first_vars = 3;\n"
    "int v8dbg_class_String__length__int32_t = 12, v8dbg_class_SeqOneByteString__chars__char = 16;\n"
    "int v8dbg_class_ConsString__first__String = 16, v8dbg_class_ConsString__second__String = 24;\n"
    "int v8dbg_class_ThinString__actual__String = 16, v8dbg_class_SlicedString__parent__String = 16;\n"
    "int v8dbg_class_SlicedString__offset__SMI = 24, v8dbg_class_ExternalString__resource__Object = 16;\n"
    "int v8dbg_type_ScopeInfo__SCOPE_INFO_TYPE = 261, v8dbg_type_Script__SCRIPT_TYPE = 167;\n"
    "int v8dbg_frametype_EntryFrame = 1, v8dbg_frametype_ConstructEntryFrame = 2, v8dbg_frametype_WasmFrame "
    "= 4, v8dbg_frametype_WasmToJsFrame = 5;\n";

/* Another call; JSEntry(); a call of C without an exit frame; the interpreter's loop. */
static const char code[] =
    "__asm__(\".text; .balign 64; call *%rax; movq $0, 0x68(%r13); .balign 64\\n\"\n"
    "\"push %rbp; .byte 0x48, 0x89, 0xe5; push $2; sub $8, %rsp; push %r12; push %r13; push %r14; push %r15; "
    "push %rbx\\n\"\n"
    "\".byte 0x4c, 0x8b, 0xef, 0x41, 0xff, 0xb5; .long 0x100; movq $0, 0x100(%r13); mov 0x98(%r13), "
    "%r10\\n\"\n"
    "\".byte 0x4c, 0x89, 0x55, 0xf0, 0x49, 0x8b, 0x85; .long 0x120; ret; .balign 64\\n\"\n"
    "\".byte 0x49, 0x89, 0x6d, 0x68, 0xff, 0xd0, 0x49, 0xc7, 0x45, 0x68; .long 0; .balign 64\\n\"\n"
    "\"the_loop: .byte 0x4c, 0x8b, 0x57, 0x17, 0x4d, 0x8b, 0x62, 0x07, 0x4d, 0x8b, 0x54, 0x24, 0xff; cmpw "
    "$0xf5, 0xb(%r10); ret\\n\");\n";

/* Of a version, with further source text. */
static struct image *build(int major, int minor, const char *more)
{
    char source[8192];
    snprintf(source, sizeof source,
             "%sint _ZN2v88internal7Version6major_E = %d, _ZN2v88internal7Version6minor_E = %d;\n%s",
             constants, major, minor, more);
    build_source("v8.c", source);
    build_source("code.c", code);
    build_run("$CC -shared -fPIC -Wl,-soname,v8.so -o v8.so v8.c code.c");
    return build_open("v8.so");
}

#define KEY "int _ZN2v88internal7Isolate12isolate_key_E;\n"

Test(v8, tells_where_all_is, .fini = build_clean)
{
    struct image *image = build(11, 3, KEY "int v8dbg_frametype_IrregexpFrame = 27;\n");
    const struct script_runtime *v8 = image_script(image);
    cr_assert(v8 && v8->has_layout);
    cr_expect_eq(v8->layout.language, (unsigned)SCRIPT_JAVASCRIPT);
    cr_expect(image_covers(image, v8->state));
    const struct v8_layout *l = &v8->layout.v8;
    cr_expect_eq(l->thread_isolate, 0u);
    cr_expect_eq(l->isolate_exit, 0x180u);
    cr_expect_eq(l->isolate_entry, 0x1a0u);
    cr_expect_eq(l->isolate_call, 0xe8u, "0x%x", l->isolate_call);
    cr_expect_eq(l->shared_script, 32u);
    cr_expect_eq(l->scope_locals, 24u);
    cr_expect_eq(l->external_data, 24u);
    cr_expect_eq(l->frame_regexp, 27u);
    cr_expect_eq(v8->loop, build_function(image, "Builtins_InterpreterEntryTrampoline"),
                 "it has that name, stripped or not");
    image_close(image);
}

Test(v8, tells_an_offset_before_the_root, .fini = build_clean)
{
    image_close(build(11, 3, KEY));
    build_run("sed 's/0x6d, 0x68/0x6d, 0xe8/; s/0x45, 0x68/0x45, 0xe8/' code.c >other.c && "
              "$CC -shared -fPIC -o other.so v8.c other.c");
    struct image *image = build_open("other.so");
    const struct script_runtime *v8 = image_script(image);
    cr_assert(v8 && v8->has_layout);
    cr_expect_eq(v8->layout.v8.isolate_call, 0x68u, "0x%x", v8->layout.v8.isolate_call);
    image_close(image);
}

static void expect_unknown(const char *why, struct image *image)
{
    const struct script_runtime *v8 = image_script(image);
    cr_assert(v8, "%s", why);
    cr_expect_not(v8->has_layout, "%s", why);
    image_close(image);
}

Test(v8, that_is_not_known_has_no_layout, .fini = build_clean)
{
    expect_unknown("an older one", build(10, 1, KEY));
    expect_unknown("a later one", build(12, 4, KEY));
    expect_unknown("without an isolate", build(11, 3, ""));
    expect_unknown("a library whose threads have it where only its loader knows",
                   build(11, 3, "__thread long _ZN2v88internal18g_current_isolate_E;\n"));
}

/* In a program of its own, a thread's variables are before its thread pointer. */
Test(v8, of_a_program_has_its_isolate_in_the_thread, .fini = build_clean)
{
    image_close(build(11, 3, "__thread long before[3], _ZN2v88internal18g_current_isolate_E;\n"));
    build_run("echo 'int main(void) { return 0; }' >main.c && $CC -rdynamic -o v8 main.c v8.c code.c");
    struct image *image = build_open("v8");
    const struct script_runtime *v8 = image_script(image);
    cr_assert(v8 && v8->has_layout);
    cr_expect(v8->layout.v8.thread_isolate >= 8 && v8->layout.v8.thread_isolate <= 32, "%u",
              v8->layout.v8.thread_isolate);
    image_close(image);
}

Test(v8, with_other_constants_has_no_layout, .fini = build_clean)
{
    image_close(build(11, 3, KEY));
    for (const char *const *edit = (const char *const[]){"s/TaggedSize = 8/TaggedSize = 4/",
                                                         "s/ScopeInfo__SCOPE_INFO_TYPE = 261/none = 1/",
                                                         "s/EntryFrame = 1,/EntryFrame = -1,/", NULL};
         *edit; edit++) {
        build_run("sed '%s' v8.c >other.c && $CC -shared -fPIC -o other.so other.c code.c", *edit);
        expect_unknown(*edit, build_open("other.so"));
    }
}

Test(v8, without_the_code_that_is_known_has_no_layout, .fini = build_clean)
{
    image_close(build(11, 3, KEY));
    for (const char *const *edit =
             (const char *const[]){"s/sub $8/sub $16/", "s/0x49, 0x89, 0x6d/0x49, 0x89, 0x6e/",
                                   "s/0x57, 0x17/0x57, 0x1f/", NULL};
         *edit; edit++) {
        build_run("sed '%s' code.c >other.c && $CC -shared -fPIC -o other.so v8.c other.c", *edit);
        expect_unknown(*edit, build_open("other.so"));
    }
}
