/* go_stacks.c - see go_stacks.h. */
#include "image/go_stacks.h"

#include <string.h>

#include "image/go_table.h"
#include "image/image_private.h"

/* A symbol table has names of functions of assembler with their kind of arguments behind. */
static bool is_named(const struct image_function *function, const char *name)
{
    const size_t length = strlen(name);
    return function->name && strncmp(function->name, name, length) == 0 &&
           (function->name[length] == '\0' || strcmp(function->name + length, ".abi0") == 0);
}

enum go_switch image_go_switch(const struct image *image, uint32_t function)
{
    const struct image_function *f = function == IMAGE_NO_FUNCTION ? NULL : image_function(image, function);
    if (!f || !f->name || strncmp(f->name, "runtime.", 8) != 0)
        return GO_SWITCH_NONE;
    return is_named(f, "runtime.systemstack") || is_named(f, "runtime.asmcgocall") ? GO_SWITCH_CALL
           : is_named(f, "runtime.cgocallback")                                    ? GO_SWITCH_BACK
           : is_named(f, "runtime.morestack")                                      ? GO_SWITCH_GROW
                                                                                   : GO_SWITCH_NONE;
}

bool image_go_is_saved(const struct image *image, uint32_t function)
{
    return function != IMAGE_NO_FUNCTION &&
           is_named(image_function(image, function), "runtime.systemstack_switch");
}

#define NUMBER (-1) /* in a pattern: four bytes of a number */
#define SHORT  (-2) /* one byte of it */

/* Goes to behind the first bytes that fit, and reads the number in them. */
static bool find(const uint8_t **code, const uint8_t *end, const int *pattern, size_t length, int32_t *number)
{
    for (const uint8_t *start = *code; start < end; start++) {
        const uint8_t *at = start;
        size_t i = 0;
        for (; i < length && at < end; i++) {
            const size_t bytes = pattern[i] == NUMBER ? sizeof *number : 1;
            if ((size_t)(end - at) < bytes || (pattern[i] >= 0 && pattern[i] != *at))
                break;
            if (pattern[i] == NUMBER)
                memcpy(number, at, sizeof *number);
            else if (pattern[i] == SHORT)
                *number = (int8_t)*at;
            at += bytes;
        }
        if (i == length) {
            *code = at;
            return true;
        }
    }
    return false;
}
#define FIND(code, end, number, ...)                                                                         \
    find(code, end, (const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int), number)

/* The linker made one of these of an access to the thread's g, for a program: "mov %fs:N, %rax"; "mov $N, %rcx; mov %fs:(%rcx), %rax". */
static bool find_thread(const uint8_t **code, const uint8_t *end, int32_t *number)
{
    return FIND(code, end, number, 0x64, 0x48, 0x8b, 0x04, 0x25, NUMBER) ||
           FIND(code, end, number, 0x48, 0xc7, 0xc1, NUMBER, 0x64, 0x48, 0x8b, 0x01);
}

#define CODE_BYTES 128u /* of the function, up to its call, at most */

/* In the order of its instructions: which g runs (AX), its m (BX); is it the signals' g, g0 (DX), or not curg? Change to g0's saved SP. */
static bool read_code(const uint8_t *code, const uint8_t *end, struct go_stacks *out)
{
    int32_t machine, system = 0, current, saved;
    if (!find_thread(&code, end, &out->thread) || !FIND(&code, end, &machine, 0x48, 0x8b, 0x58, SHORT) ||
        !(FIND(&code, end, &system, 0x48, 0x8b, 0x13) ||
          FIND(&code, end, &system, 0x48, 0x8b, 0x53, SHORT)) ||
        !(FIND(&code, end, &current, 0x48, 0x3b, 0x83, NUMBER) ||
          FIND(&code, end, &current, 0x48, 0x3b, 0x43, SHORT)) ||
        !(FIND(&code, end, &saved, 0x48, 0x8b, 0x5a, SHORT) ||
          FIND(&code, end, &saved, 0x48, 0x8b, 0x62, SHORT)))
        return false;
    out->machine = (uint32_t)machine;
    out->system = (uint32_t)system;
    out->current = (uint32_t)current;
    out->saved = (uint32_t)saved;
    return machine > 0 && system >= 0 && current > 0 && saved > 0;
}

/* The function's bytes, the first CODE_BYTES at most. */
static bool read_function(const struct image *image, const struct image_function *f, struct go_stacks *out)
{
    size_t size;
    const uint8_t *code = image_bytes(image, f->address, &size);
    size = size < f->size ? size : f->size;
    return code && read_code(code, code + (size < CODE_BYTES ? size : CODE_BYTES), out);
}

bool image_go_stacks(const struct image *image, struct go_stacks *out)
{
    struct go_table table;
    bool found = false;
    *out = (struct go_stacks){.call_size = 0};
    if (!go_table_open(&image->file, &table))
        return false;
    for (uint32_t i = 0; i < image_function_count(image); i++) {
        const struct image_function *f = image_function(image, i);
        if (image_go_is_saved(image, i)) {
            out->call = f->address;
            out->call_size = f->size;
        } else if (image_go_switch(image, i) == GO_SWITCH_GROW) {
            out->grow = f->address;
            out->grow_size = f->size;
        } else if (is_named(f, "runtime.systemstack")) {
            found = read_function(image, f, out);
        }
    }
    return found && out->call_size;
}
