/* ruby.c - Ruby in an image (script.h): vm_core.h, iseq.h. */
#include "image/script_private.h"

#include <string.h>

#include "image/elf/relocations.h"
#include "image/elf/symbols.h"

/* Only versions that were tested have a row. */
static const struct {
    unsigned major, minor;
    struct ruby_layout layout;
} versions[] = {
    {3,
     1,
     {.ec_stack = 0,
      .ec_frame = 16,
      .frame_instruction = 0,
      .frame_code = 16,
      .frame_environment = 32,
      .frame_size = 64,
      .code_body = 16,
      .body_size = 0,
      .body_instructions = 8,
      .body_texts = 64,
      .body_line = 88,
      .body_lines = 120}},
};

static bool has_glibc(const struct elf_file *file)
{
    uint64_t at;
    for (size_t next = 0; elf_file_dynamic_next(file, DT_NEEDED, &next, &at);) {
        const char *name = elf_file_dynamic_name(file, at);
        if (name && strcmp(name, "libc.so.6") == 0)
            return true;
    }
    return false;
}

/* Finds where a thread's execution context is. In a library, it is found by glibc's dtv, which other C libraries
 * have in another form. */
static bool find_current(const struct elf_file *file, struct script_runtime *ruby)
{
    static const char name[] = "ruby_current_ec";
    uint64_t offset;
    if (!symbols_value(file, name, &offset))
        return false;
    int64_t from_base;
    if (elf_file_thread_variable(file, offset, &from_base)) {
        ruby->layout.ruby.current = from_base;
        return true;
    }
    return has_glibc(file) && relocations_module(file, name, &ruby->state);
}

bool ruby_find(const struct elf_file *file, struct script_runtime *out)
{
    struct script_runtime ruby = {.layout = {.language = SCRIPT_RUBY}};
    uint64_t version;
    size_t size;
    if (!symbols_value(file, "ruby_exec_node", &ruby.state))
        return false;
    const uint8_t *bytes =
        symbols_value(file, "ruby_version", &version) ? elf_file_bytes(file, version, 8, &size) : NULL;
    if (bytes)
        script_read_version(bytes, size, &ruby);
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        if (versions[i].major == ruby.major && versions[i].minor == ruby.minor) {
            ruby.layout.ruby = versions[i].layout;
            ruby.has_layout = find_current(file, &ruby);
        }
    *out = ruby;
    return true;
}
