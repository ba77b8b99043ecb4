/*
 * Page faults in memory of each kind, each from a path of its own (pages):
 *
 *   1000  main fill_table touch       `table`, zeros of the program
 *    300  main fill_list touch        `list`, its data
 *    800  main fill_heap touch        the heap
 *    700  main fill_map touch         anonymous memory
 *    400  main fill_file touch        a file
 *    200  main fill_stack touch       the stack
 *
 * With an argument it goes on, until it is killed, with the pages of `table`, which it gives back each time.
 */
#include <malloc.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "program.h"

#define PAGE 4096u

static char table[1002 * PAGE] __attribute__((aligned(PAGE)));
static char list[302 * PAGE] = {1};

KNOWN static void touch(volatile char *memory, size_t pages)
{
    for (size_t i = 1; i <= pages; i++)
        memory[i * PAGE] = 1;
}

KNOWN static void fill_table(void)
{
    madvise(table, sizeof table, MADV_NOHUGEPAGE); /* so that each page is one fault; of whole pages only */
    touch(table, 1000);
    CALLED();
}

KNOWN static void fill_list(void)
{
    touch(list, 300);
    CALLED();
}

KNOWN static void fill_heap(void)
{
    mallopt(M_MMAP_THRESHOLD, 64 << 20);
    char *memory = malloc(802 * PAGE);
    if (!memory)
        abort();
    touch(memory, 800);
    free(memory);
}

KNOWN static void fill_map(void)
{
    char *memory = mmap(NULL, 702 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        abort();
    madvise(memory, 702 * PAGE, MADV_NOHUGEPAGE);
    touch(memory, 700);
    munmap(memory, 702 * PAGE);
}

KNOWN static void fill_file(void)
{
    FILE *file = tmpfile();
    if (!file || ftruncate(fileno(file), 402 * PAGE) < 0)
        abort();
    char *memory = mmap(NULL, 402 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    if (memory == MAP_FAILED)
        abort();
    touch(memory, 400);
    munmap(memory, 402 * PAGE);
    fclose(file);
}

KNOWN static void fill_stack(void)
{
    volatile char frame[202 * PAGE];
    touch(frame, 200);
    CALLED();
}

KNOWN static void refill_table(void)
{
    fill_table();
    if (madvise(table, sizeof table, MADV_DONTNEED) != 0)
        abort();
}

int main(int argc, char **argv)
{
    (void)argv;
    while (argc > 1)
        refill_table();
    fill_table();
    fill_list();
    fill_heap();
    fill_map();
    fill_file();
    fill_stack();
    return 0;
}
