/*
 * moved: moves its own code to other memory at the same addresses, as programs do that want huge pages; then main calls
 * often() for three quarters of the time and seldom() for the rest, and both call work().
 *
 * Usage: moved WAY ROUNDS. remap: a copy in anonymous memory is moved over the code; joined: over all that is mapped from the
 * program's beginning to the end of its code; whole: over all of the program; file: a memory file with a copy is mapped there;
 * plain: a file of the name moved-code. It prints a line when it has moved.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/programs/program.h"

extern const char __executable_start, etext, end;

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

/* What is mapped there, page by page: there may be holes. */
static void copy_pages(char *to, const char *from, size_t size)
{
    int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    for (size_t at = 0; at < size; at += 4096)
        if (pread(memory, to + at, 4096, (off_t)(uintptr_t)(from + at)) != 4096)
            memset(to + at, 0, 4096);
    close(memory);
}

static void *moved_to_file(int fd, char *code, size_t size)
{
    return fd >= 0 && write(fd, code, size) == (ssize_t)size
               ? mmap(code, size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0)
               : MAP_FAILED;
}

static void *moved_here(char *code, size_t size, int protection)
{
    void *copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        return copy;
    copy_pages(copy, code, size);
    mprotect(copy, size, protection);
    return mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, code);
}

static char *page_of(uintptr_t at)
{
    return (char *)(at & ~(uintptr_t)4095);
}

static void *moved(const char *way)
{
    char *code = page_of((uintptr_t)work), *code_end = page_of((uintptr_t)&etext + 4095);
    char *first = page_of((uintptr_t)&__executable_start);
    const int read = PROT_READ | PROT_EXEC, all = read | PROT_WRITE;
    if (strcmp(way, "file") == 0)
        return moved_to_file(memfd_create("code", MFD_CLOEXEC), code, (size_t)(code_end - code));
    if (strcmp(way, "plain") == 0)
        return moved_to_file(open("moved-code", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), code,
                             (size_t)(code_end - code));
    if (strcmp(way, "joined") == 0)
        return moved_here(first, (size_t)(code_end - first), read);
    if (strcmp(way, "whole") == 0)
        return moved_here(first, (size_t)(page_of((uintptr_t)&end + 4095) - first), all);
    return moved_here(code, (size_t)(code_end - code), read);
}

int main(int argc, char **argv)
{
    if (argc != 3 || moved(argv[1]) == MAP_FAILED)
        return 1;
    printf("moved\n");
    fflush(stdout);
    for (int i = 0; i < atoi(argv[2]); i++) {
        often();
        seldom();
    }
    return 0;
}
