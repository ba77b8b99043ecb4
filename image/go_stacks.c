/* go_stacks.c - see go_stacks.h. */
#include "image/go_stacks.h"

#include <string.h>

#include "image/go_table.h"
#include "image/image_private.h"

/* In symbol tables, names of assembler functions are followed by their ABI. */
static bool is_named(const struct image_function *function, const char *name)
{
    const size_t length = strlen(name);
    return function->name && strncmp(function->name, name, length) == 0 &&
           (function->name[length] == '\0' || strcmp(function->name + length, ".abi0") == 0);
}

enum go_role image_go_role(const struct image *image, uint32_t function)
{
    static const struct {
        const char *name;
        enum go_role role;
    } functions[] = {{"runtime.systemstack", GO_CALLS_ON_SYSTEM},
                     {"runtime.asmcgocall", GO_CALLS_C},
                     {"runtime.morestack", GO_GROWS},
                     {"runtime.cgocallback", GO_CALLED_BACK},
                     {"runtime.systemstack_switch", GO_SAVED_PC},
                     {"gosave_systemstack_switch", GO_SAVES},
                     {"runtime.schedule", GO_SCHEDULES}};
    const struct image_function *f = function == IMAGE_NO_FUNCTION ? NULL : image_function(image, function);
    for (size_t i = 0; f && f->name && i < sizeof functions / sizeof *functions; i++)
        if (is_named(f, functions[i].name))
            return functions[i].role;
    return GO_OTHER;
}

#define BEHIND_CALL 16u /* bytes behind the call within which the saved SP is restored */

int image_go_kept_sp(const struct image *image, uint64_t return_address)
{
    static const uint8_t load[] = {0x48, 0x8b, 0x34, 0x24}, load_at[] = {0x48, 0x8b, 0x74, 0x24}; /* to SI */
    size_t size;
    const uint8_t *code = image_bytes(image, return_address, &size);
    size = size < BEHIND_CALL ? size : BEHIND_CALL;
    const uint8_t *at = code ? memmem(code, size, load_at, sizeof load_at) : NULL;
    if (at && at + sizeof load_at < code + size)
        return at[sizeof load_at];
    return code && memmem(code, size, load, sizeof load) ? 0 : -1;
}

#define NUMBER (-1) /* in a pattern: a number of four bytes */
#define SHORT  (-2) /* in a pattern: a number of one byte */

/* Finds the first bytes that match the pattern, reads the number in them, and advances *code behind them. */
static bool find_pattern(const uint8_t **code, const uint8_t *end, const int *pattern, size_t length,
                         int32_t *number)
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
    find_pattern(code, end, (const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int),    \
                 number)

/* Finds a program's access to the thread's g, which the linker turned into "mov %fs:N, %rax" or "mov $N, %rcx;
 * mov %fs:(%rcx), %rax". */
static bool find_thread(const uint8_t **code, const uint8_t *end, int32_t *number)
{
    return FIND(code, end, number, 0x64, 0x48, 0x8b, 0x04, 0x25, NUMBER) ||
           FIND(code, end, number, 0x48, 0xc7, 0xc1, NUMBER, 0x64, 0x48, 0x8b, 0x01);
}

#define CODE_BYTES 128u /* of the function, from its beginning to its call, at most */

/* Matches the instructions in order: gets the running g (AX) and its m (BX); compares it with the signal g, g0
 * (DX) and curg; changes to g0's saved SP. */
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

/* The function's bytes, at most the first CODE_BYTES. */
static bool read_function(const struct image *image, const struct image_function *f, struct go_stacks *out)
{
    size_t size;
    const uint8_t *code = image_bytes(image, f->address, &size);
    size = size < f->size ? size : f->size;
    return code && read_code(code, code + (size < CODE_BYTES ? size : CODE_BYTES), out);
}

bool image_go_stacks(const struct image *image, struct go_stacks *out)
{
    bool found = false;
    *out = (struct go_stacks){.call_size = 0};
    if (!image->go.data)
        return false;
    for (uint32_t i = 0; i < image_function_count(image); i++) {
        const struct image_function *f = image_function(image, i);
        switch (image_go_role(image, i)) {
        case GO_SAVED_PC:
            out->call = f->address;
            out->call_size = f->size;
            break;
        case GO_GROWS:
            out->grow = f->address;
            out->grow_size = f->size;
            break;
        case GO_CALLS_ON_SYSTEM: /* or a wrapper of that name */
            found = found || read_function(image, f, out);
            break;
        default:
            break;
        }
    }
    return found && out->call_size;
}
