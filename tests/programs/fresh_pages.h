/* fresh_pages.h - memory that was never touched, for programs that count page faults. */
#ifndef FATHOM_TESTS_FRESH_PAGES_H
#define FATHOM_TESTS_FRESH_PAGES_H

#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096 }; /* bytes, on x86-64 */

/* Each of them is one fault when it is touched first. In the function that it stands in. */
__attribute__((always_inline)) static inline char *fresh_pages(size_t pages)
{
    char *memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        abort();
    madvise(memory, pages * PAGE, MADV_NOHUGEPAGE);
    return memory;
}

#endif
