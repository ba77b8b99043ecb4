/* php.c - PHP in an image (script.h): Zend/zend_globals.h, zend_compile.h, zend_string.h, zend.h, zend_generators.h. */
#include "image/script_private.h"

#include <string.h>

#include "image/elf/symbols.h"

/* Only versions that were tested have a row. */
static const struct {
    unsigned major, minor;
    struct php_layout layout;
} versions[] = {
    {8,
     2,
     {.globals_call = 488,
      .call_instruction = 0,
      .call_function = 24,
      .call_previous = 48,
      .call_flags = 40,
      .call_object = 32,
      .generator_call = 56,
      .generator_parent = 152,
      .function_name = 8,
      .function_class = 16,
      .function_instructions = 88,
      .function_count = 80,
      .function_file = 152,
      .function_line = 160,
      .class_name = 8,
      .instruction_line = 24,
      .text_length = 16,
      .text = 24}},
};

/* In all builds, the page header that PHP generates is the one constant with its version. */
static void read_version(const struct elf_file *file, struct script_runtime *php)
{
    static const char before[] = "X-Powered-By: PHP/";
    const struct elf_section *constants = elf_file_section(file, ".rodata");
    size_t size;
    const uint8_t *bytes = constants ? elf_section_bytes(file, constants, &size) : NULL;
    const uint8_t *at = bytes ? memmem(bytes, size, before, sizeof before - 1) : NULL;
    if (at)
        script_read_version(at + sizeof before - 1, size - (size_t)(at - bytes) - (sizeof before - 1), php);
}

bool php_find(const struct elf_file *file, struct script_runtime *out)
{
    uint64_t loop;
    struct script_runtime php = {.layout = {.language = SCRIPT_PHP}};
    if (!symbols_value(file, "execute_ex", &loop) || !symbols_value(file, "zend_execute_ex", &loop))
        return false;
    read_version(file, &php);
    /* With ZTS the globals are per thread, and have no symbol. */
    const bool has_state = symbols_value(file, "executor_globals", &php.state);
    for (size_t i = 0; has_state && i < sizeof versions / sizeof *versions; i++)
        if (versions[i].major == php.major && versions[i].minor == php.minor) {
            php.layout.php = versions[i].layout;
            php.has_layout = true;
        }
    *out = php;
    return true;
}
