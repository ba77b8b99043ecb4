/*
 * fault_stack.c - page faults at a given call depth, for what a sample of each costs the program:
 *
 *     fault_stack FRAMES BYTES KIND FAULTS
 *
 * prints the nanoseconds of CPU time of one fault: the median of batches. The stack has FRAMES frames, and BYTES more
 * below them. KIND: "known", a stack that is unwound once; "endless", one that never becomes known, as unwinding it ends
 * at a function without CFI.
 */
#include <alloca.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define PAGES     100u /* a batch */
#define PAGE      4096u
#define BATCH_MAX 100000u

static char *pages;
static unsigned frames, batches;
static double took[BATCH_MAX];

static double cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static __attribute__((noinline)) void touch(unsigned deeper)
{
    if (deeper)
        touch(deeper - 1);
    else
        for (unsigned i = 0; i < PAGES; i++)
            *(volatile char *)(pages + (size_t)i * PAGE);
    __asm__ volatile("" ::: "memory"); /* not a tail call */
}

static void run_batches(void)
{
    for (unsigned i = 0; i < batches; i++) {
        madvise(pages, (size_t)PAGES * PAGE, MADV_DONTNEED);
        double start = cpu_ns();
        touch(frames);
        took[i] = (cpu_ns() - start) / PAGES;
    }
}

/* Calls run_batches() from a frame without CFI. */
void call_endless(void (*function)(void));
__asm__(".text\n"
        ".globl call_endless\n"
        ".type call_endless, @function\n"
        "call_endless:\n"
        "    sub $8, %rsp\n"
        "    call *%rdi\n"
        "    add $8, %rsp\n"
        "    ret\n"
        ".size call_endless, . - call_endless\n");

static __attribute__((noinline)) void run_below(size_t bytes, int endless)
{
    volatile char *room = memset(alloca(bytes + 1), 0, bytes + 1);
    if (endless)
        call_endless(run_batches);
    else
        run_batches();
    room[0] = 1;
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    frames = (unsigned)atoi(argv[1]);
    batches = (unsigned)atoi(argv[4]) / PAGES;
    if (batches == 0 || batches > BATCH_MAX)
        return 2;
    pages = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return 1;
    madvise(pages, (size_t)PAGES * PAGE, MADV_NOHUGEPAGE);
    memset(took, 0, sizeof took); /* its faults are not among those measured */
    run_below((size_t)atol(argv[2]), strcmp(argv[3], "endless") == 0);
    qsort(took, batches, sizeof *took, by_value);
    printf("%.0f\n", took[batches / 2]);
    return 0;
}
