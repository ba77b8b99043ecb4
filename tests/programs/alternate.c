/*
 * alternate.c - page faults that alternate: `alternate [FAULTS]`, one of left() and one of right() in turn, from a loop that
 * does nothing else. A fixed even period takes all its samples from one of them.
 */
#include <sys/mman.h>

#include "program.h"

enum { PAGE = 4096, PAGES = 1024 };

KNOWN static void left(volatile char *page)
{
    *page = 1;
}

KNOWN static void right(volatile char *page)
{
    *page = 2;
}

int main(int argc, char **argv)
{
    long faults = argc > 1 ? atol(argv[1]) : 400000;
    char *pages =
        mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return 1;
    madvise(pages, (size_t)PAGES * PAGE, MADV_NOHUGEPAGE);
    for (long done = 0; done < faults; done += PAGES) {
        for (long i = 0; i < PAGES; i += 2) {
            left(pages + i * PAGE);
            right(pages + (i + 1) * PAGE);
        }
        madvise(pages, (size_t)PAGES * PAGE, MADV_DONTNEED);
    }
    return 0;
}
