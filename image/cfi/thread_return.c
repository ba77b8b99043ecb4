/*
 * thread_return.c - see thread_return.h.
 *
 * clone3 and clone (glibc: sysdeps/unix/sysv/linux/x86_64/clone3.S and clone.S, musl: src/thread/x86_64/clone.s) load the
 * system call's number, enter the kernel, and in the new thread clear BP and call the start routine through a register:
 *     mov $435,%eax; syscall; ...; xor %ebp,%ebp; ...; call *%rdx
 * They are not in the dynamic symbol table, so the code itself is searched for.
 */
#include "image/cfi/thread_return.h"

#include <stdbool.h>
#include <string.h>

#define BEFORE 48 /* bytes before the system call, in which its number is loaded */
#define AFTER  64 /* bytes from it to the indirect call */

#define SYSCALL     0x0f /* its two bytes */
#define SYSCALL_END 0x05

/* Whether mov $number,%eax or %al, or push and pop of the number, ends at `end`, and begins at `from` or behind. */
static bool loads_number(const uint8_t *from, const uint8_t *end, unsigned number)
{
    const uint8_t wide[] = {0xb8, (uint8_t)number, (uint8_t)(number >> 8), 0, 0},
                  narrow[] = {0xb0, (uint8_t)number}, popped[] = {0x6a, (uint8_t)number, 0x58};
    const size_t size = (size_t)(end - from);
    return memmem(from, size, wide, sizeof wide) ||
           (number < 128 &&
            (memmem(from, size, narrow, sizeof narrow) || memmem(from, size, popped, sizeof popped)));
}

/* The indirect call closely behind a system call, after BP was cleared. */
static const uint8_t *call_behind(const uint8_t *at, const uint8_t *end)
{
    static const uint8_t clear[] = {0x31, 0xed}; /* with or without REX.W */
    if (end - at > AFTER)
        end = at + AFTER;
    at = memmem(at, (size_t)(end - at), clear, sizeof clear);
    for (; at && at + 2 <= end; at++)
        if (at[0] == 0xff && at[1] >= 0xd0 && at[1] <= 0xd7)
            return at;
    return NULL;
}

/* The first system call of this number that is closely followed by an indirect call. (memchr() is several times as fast as memmem().) */
static uint64_t find_call(const uint8_t *code, size_t size, uint64_t address, unsigned number)
{
    const uint8_t *at = code, *end = code + size;
    while (end - at > 1 && (at = memchr(at + 1, SYSCALL_END, (size_t)(end - at - 1)))) {
        const uint8_t *begin = at - 1, *from = begin - code > BEFORE ? begin - BEFORE : code;
        const uint8_t *call =
            *begin == SYSCALL && loads_number(from, begin, number) ? call_behind(at + 1, end) : NULL;
        if (call)
            return address + (uint64_t)(call + THREAD_CALL - code);
    }
    return 0;
}

/* Whether it is a library that uses a C library: that one starts its threads, so much code need not be read. */
static bool starts_none(const struct elf_file *file)
{
    uint64_t value;
    size_t at = 0;
    bool uses = false;
    if (!elf_file_dynamic(file, DT_SONAME, &value))
        return false;
    while (!uses && elf_file_dynamic_next(file, DT_NEEDED, &at, &value)) {
        const char *name = elf_file_dynamic_name(file, value);
        uses = name && strncmp(name, "libc.", 5) == 0;
    }
    return uses;
}

enum { CLONE3, CLONE, CALLS };

/* Searches for both at once, as reading the code takes longest; clone3 anywhere takes precedence over clone. */
static int see_code(void *context, const uint8_t *code, size_t size, uint64_t address)
{
    static const uint16_t numbers[CALLS] = {[CLONE3] = 435, [CLONE] = 56};
    uint64_t *found = context;
    for (unsigned i = 0; i < CALLS; i++)
        if (!found[i])
            found[i] = find_call(code, size, address, numbers[i]);
    return found[CLONE3] != 0;
}

uint64_t thread_return_find(const struct elf_file *file)
{
    uint64_t found[CALLS] = {0};
    if (!starts_none(file))
        elf_file_see_code(file, BEFORE + AFTER + THREAD_CALL, see_code, found);
    return found[CLONE3] ? found[CLONE3] : found[CLONE];
}
