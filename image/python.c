/* python.c - CPython in an image (script.h). */
#include "image/script_private.h"

#include <string.h>

#include "image/elf/symbols.h"

/* Include/internal/pycore_runtime.h, pycore_interp.h, pycore_frame.h; Include/cpython/pystate.h, code.h,
 * unicodeobject.h. Only versions that were tested have a row. From 3.13 on the image has its own offsets. */
static const struct {
    unsigned minor;
    struct python_layout layout;
} versions[] = {
    {11,
     {.runtime_current = 576,
      .runtime_interpreters = 40,
      .runtime_main = 48,
      .interpreter_next = 0,
      .interpreter_threads = 16,
      .thread_next = 8,
      .thread_interpreter = 16,
      .thread_id = 152,
      .thread_frame = 56,
      .cframe_frame = 8,
      .frame_code = 32,
      .frame_previous = 48,
      .frame_instruction = 56,
      .frame_mark = 68,
      .frame_shim = 0,
      .code_line = 72,
      .code_texts = 112,
      .code_instructions = 184,
      .text_ascii = 48,
      .text_compact = 72}},
    {12,
     {.runtime_current = PYTHON_NONE,
      .runtime_interpreters = 40,
      .runtime_main = 48,
      .interpreter_next = 0,
      .interpreter_threads = 72,
      .thread_next = 8,
      .thread_interpreter = 16,
      .thread_id = 136,
      .thread_frame = 56,
      .cframe_frame = 0,
      .frame_code = 0,
      .frame_previous = 8,
      .frame_instruction = 56,
      .frame_mark = 70,
      .frame_shim = 3, /* FRAME_OWNED_BY_CSTACK */
      .code_line = 68,
      .code_texts = 112,
      .code_instructions = 192,
      .text_ascii = 40,
      .text_compact = 56}},
};

/* The beginning of _PyRuntimeState, from 3.13 on: _Py_DebugOffsets. */
struct debug_offsets {
    char cookie[8];
    uint64_t version, free_threaded;
    uint64_t runtime_size, finalizing, interpreters_head;
    uint64_t interpreter_size, interpreter_id, interpreter_next, threads_head, interpreter_others[9];
    uint64_t thread_size, thread_prev, thread_next, thread_interp, current_frame, thread_id, thread_others[3];
    uint64_t frame_size, previous, executable, instr_ptr, localsplus, owner;
    uint64_t code_size, filename, name, qualname, linetable, firstlineno, code_others[3], co_code_adaptive;
    uint64_t objects[20]; /* PyObject to PyLong */
    uint64_t bytes_object[3];
    uint64_t unicode_size, unicode_state, unicode_length, asciiobject_size;
};

/* Whether words at these offsets are within what is read of their structs. */
static bool are_near(const struct debug_offsets *d)
{
    const uint64_t thread = PYTHON_THREAD_BYTES - 8, frame = PYTHON_FRAME_BYTES - 8,
                   code = PYTHON_CODE_BYTES - 8;
    return d->interpreters_head < UINT32_MAX && d->interpreter_next < UINT32_MAX &&
           d->threads_head < UINT32_MAX && d->thread_next <= thread && d->thread_interp <= thread &&
           d->current_frame <= thread && d->thread_id <= thread && d->previous <= frame &&
           d->executable <= frame && d->instr_ptr <= frame && d->owner <= frame && d->firstlineno <= code &&
           d->linetable <= code && d->co_code_adaptive <= code && d->asciiobject_size <= code &&
           d->unicode_size <= code;
}

/* false: the image has no offsets in a known format. */
static bool read_offsets(const struct elf_file *file, uint64_t runtime, uint32_t version,
                         struct python_layout *out)
{
    static const char cookie[8] = {'x', 'd', 'e', 'b', 'u', 'g', 'p', 'y'};
    struct debug_offsets d;
    size_t size;
    const uint8_t *bytes = elf_file_bytes(file, runtime, sizeof d, &size);
    if (!bytes || size < sizeof d)
        return false;
    memcpy(&d, bytes, sizeof d);
    if (memcmp(d.cookie, cookie, sizeof cookie) != 0 || d.version != version || d.free_threaded ||
        !are_near(&d) || d.name != d.filename + 8 || d.qualname != d.filename + 16 ||
        d.linetable != d.filename + 24)
        return false;
    *out = (struct python_layout){.runtime_current = PYTHON_NONE,
                                  .runtime_interpreters = (uint32_t)d.interpreters_head,
                                  .runtime_main = (uint32_t)d.interpreters_head + 8,
                                  .interpreter_next = (uint32_t)d.interpreter_next,
                                  .interpreter_threads = (uint32_t)d.threads_head,
                                  .thread_next = (uint32_t)d.thread_next,
                                  .thread_interpreter = (uint32_t)d.thread_interp,
                                  .thread_id = (uint32_t)d.thread_id,
                                  .thread_frame = (uint32_t)d.current_frame,
                                  .cframe_frame = PYTHON_NONE,
                                  .frame_code = (uint32_t)d.executable,
                                  .frame_previous = (uint32_t)d.previous,
                                  .frame_instruction = (uint32_t)d.instr_ptr,
                                  .frame_mark = (uint32_t)d.owner,
                                  .frame_shim = 3, /* FRAME_OWNED_BY_CSTACK */
                                  .code_line = (uint32_t)d.firstlineno,
                                  .code_texts = (uint32_t)d.filename,
                                  .code_instructions = (uint32_t)d.co_code_adaptive,
                                  .text_ascii = (uint32_t)d.asciiobject_size,
                                  .text_compact = (uint32_t)d.unicode_size};
    return true;
}

/* Finds the layout of a version. */
static void find_layout(const struct elf_file *file, struct script_runtime *p, uint32_t version)
{
    if (p->major == 3 && p->minor == 13)
        p->has_layout = read_offsets(file, p->state, version, &p->layout.python);
    for (size_t i = 0; p->major == 3 && i < sizeof versions / sizeof *versions; i++)
        if (versions[i].minor == p->minor) {
            p->layout.python = versions[i].layout;
            p->has_layout = true;
        }
}

bool python_find(const struct elf_file *file, struct script_runtime *out)
{
    uint64_t runtime, at;
    uint32_t version = 0;
    size_t size;
    if (!symbols_value(file, "_PyRuntime", &runtime))
        return false;
    const uint8_t *bytes =
        symbols_value(file, "Py_Version", &at) ? elf_file_bytes(file, at, sizeof version, &size) : NULL;
    if (bytes && size >= sizeof version)
        memcpy(&version, bytes, sizeof version);
    *out = (struct script_runtime){.state = runtime,
                                   .major = version >> 24,
                                   .minor = version >> 16 & 255,
                                   .layout = {.language = SCRIPT_PYTHON}};
    find_layout(file, out, version);
    if (symbols_value(file, "PyCode_Type", &at))
        out->layout.python.code_type = at - runtime;
    return true;
}
