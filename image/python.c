/* python.c - see python.h. */
#include "image/python.h"

#include <string.h>

#include "image/elf/symbols.h"
#include "image/image_private.h"

/* Include/internal/pycore_runtime.h, pycore_interp.h, pycore_frame.h; Include/cpython/pystate.h, code.h. A row is only for what a test
 * has seen. */
static const struct version {
    unsigned major, minor;
    struct python_layout layout;
} versions[] = {
    {3,
     11,
     {.runtime_current = 0x240,
      .runtime_interpreters = 0x28,
      .interpreter_next = 0,
      .interpreter_threads = 0x10,
      .thread_next = 8,
      .thread_id = 0x98,
      .thread_frame = 0x38,
      .cframe_frame = 8,
      .frame_code = 32,
      .frame_previous = 48,
      .frame_instruction = 56,
      .frame_entry = 68,
      .code_line = 72,
      .code_texts = 112,
      .code_instructions = 184}},
};

uint64_t python_find(const struct elf_file *file, uint32_t *version)
{
    uint64_t runtime, at;
    size_t size;
    *version = 0;
    if (!symbols_value(file, "_PyRuntime", &runtime))
        return 0;
    const uint8_t *bytes =
        symbols_value(file, "Py_Version", &at) ? elf_file_bytes(file, at, sizeof *version, &size) : NULL;
    if (bytes && size >= sizeof *version)
        memcpy(version, bytes, sizeof *version);
    return runtime;
}

bool image_python(const struct image *image, struct python *out)
{
    *out = (struct python){.runtime = image->python,
                           .major = image->python_version >> 24,
                           .minor = image->python_version >> 16 & 255};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        if (versions[i].major == out->major && versions[i].minor == out->minor)
            out->layout = &versions[i].layout;
    return out->runtime;
}
