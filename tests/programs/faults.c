/*
 * Page faults under two paths, while the time is spent under a third. Of the faults:
 *
 *   75%  main load_table fill      (3000 pages)
 *   25%  main save_table fill      (1000 pages)
 */
#include "fresh_pages.h"
#include "program.h"

static volatile char sink;

KNOWN static void fill(size_t pages)
{
    char *memory = fresh_pages(pages);
    for (size_t i = 0; i < pages; i++)
        ((volatile char *)memory)[i * PAGE] = 1;
    munmap(memory, pages * PAGE);
}

KNOWN static void load_table(void)
{
    fill(3000);
    sink = 1;
}

KNOWN static void save_table(void)
{
    volatile char frame[64];
    size_t pages = 1000;
    __asm__("" : "+r"(pages)); /* a place in the frame that only the run knows: none of it is left out */
    frame[pages % sizeof frame] = 1;
    fill(pages);
    sink = frame[pages % sizeof frame];
}

KNOWN static void compute(void)
{
    spin(200);
}

int main(void)
{
    load_table();
    compute();
    save_table();
    return 0;
}
