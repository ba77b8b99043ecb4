/*
 * moved: moves its own code to other memory at the same addresses, as programs do that want huge pages; then main calls
 * often() for three quarters of the time and seldom() for the rest, and both call work().
 *
 * Usage: moved remap|file ROUNDS. remap: a copy in anonymous memory is moved over the code; file: a memory file with a copy
 * is mapped there. It prints a line when it has moved.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/programs/program.h"

extern const char etext;

KNOWN static void work(unsigned ms)
{
    spin(ms);
    CALLED();
}

KNOWN static void often(void)
{
    work(15);
    CALLED();
}

KNOWN static void seldom(void)
{
    work(5);
    CALLED();
}

static void *moved_here(const char *way, char *code, size_t size)
{
    int fd = memfd_create("code", MFD_CLOEXEC);
    if (strcmp(way, "file") == 0)
        return fd >= 0 && write(fd, code, size) == (ssize_t)size
                   ? mmap(code, size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0)
                   : MAP_FAILED;
    void *copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        return copy;
    memcpy(copy, code, size);
    mprotect(copy, size, PROT_READ | PROT_EXEC);
    return mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, code);
}

int main(int argc, char **argv)
{
    uintptr_t start = (uintptr_t)work & ~(uintptr_t)4095, end = ((uintptr_t)&etext + 4095) & ~(uintptr_t)4095;
    if (argc != 3 || moved_here(argv[1], (char *)start, end - start) == MAP_FAILED)
        return 1;
    printf("moved\n");
    fflush(stdout);
    for (int i = 0; i < atoi(argv[2]); i++) {
        often();
        seldom();
    }
    return 0;
}
