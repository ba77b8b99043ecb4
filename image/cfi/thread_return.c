/*
 * thread_return.c - see thread_return.h.
 *
 * glibc's clone3 and clone (sysdeps/unix/sysv/linux/x86_64/clone3.S, clone.S) load the system call's number,
 * enter the kernel, and in the new thread call the start routine through a register:
 *     mov $435,%eax; syscall; ...; call *%rdx
 * They are not in the dynamic symbol table, so the code itself is searched for.
 */
#include "image/cfi/thread_return.h"

#include <string.h>

#define MAX_DISTANCE 64 /* bytes from the system call to the indirect call */

/* The first mov $number,%eax; syscall that is closely followed by an indirect call. */
static uint64_t find_call(const uint8_t *code, size_t size, uint64_t address, uint8_t low, uint8_t high)
{
    const uint8_t pattern[] = {0xb8, low, high, 0, 0, 0x0f, 0x05};
    const uint8_t *at = code, *end = code + size;
    while ((at = memmem(at, (size_t)(end - at), pattern, sizeof pattern))) {
        at += sizeof pattern;
        for (const uint8_t *p = at; p + 2 <= end && p < at + MAX_DISTANCE; p++)
            if (p[0] == 0xff && p[1] >= 0xd0 && p[1] <= 0xd7)
                return address + (uint64_t)(p + 2 - code);
    }
    return 0;
}

uint64_t thread_return_find(const struct elf_file *file)
{
    static const uint16_t numbers[] = {435 /* clone3 */, 56 /* clone */};
    for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
        for (size_t i = 0; i < file->segment_count; i++) {
            const struct elf_segment *s = &file->segments[i];
            if (!s->executable || s->offset > file->size)
                continue;
            uint64_t found = find_call(file->data + s->offset, s->file_size, s->address,
                                       (uint8_t)(numbers[n] & 0xff), (uint8_t)(numbers[n] >> 8));
            if (found)
                return found;
        }
    }
    return 0;
}
