/*
 * touch.c - touches fresh pages, and a variable that a breakpoint can watch, under three paths:
 *
 *   60%  main first touch            (6000 of each)
 *   30%  main second touch           (3000)
 *   10%  main third deeper touch     (1000)
 *
 * The instruction at touch_page faults, that at touch_variable writes `watched`, and touch_end is behind it. Linked to a
 * fixed address, so that breakpoints can be set before it runs.
 */
#include "fresh_pages.h"
#include "program.h"

volatile char watched;

KNOWN static void touch(size_t pages)
{
    char *memory = fresh_pages(pages);
    __asm__ volatile("1:\n"
                     ".globl touch_page, touch_variable, touch_end\n"
                     "touch_page:\n\t"
                     "movb $1, (%[at])\n"
                     "touch_variable:\n\t"
                     "movb $1, %[variable]\n"
                     "touch_end:\n\t"
                     "add %[page], %[at]\n\t"
                     "dec %[pages]\n\t"
                     "jnz 1b"
                     : [at] "+r"(memory), [pages] "+r"(pages), [variable] "=m"(watched)
                     : [page] "i"(PAGE)
                     : "cc", "memory");
}

static volatile char sink;

KNOWN static void first(void)
{
    touch(6000);
    sink = 1;
}

KNOWN static void second(void)
{
    volatile char frame[64];
    size_t pages = 3000;
    __asm__("" : "+r"(pages)); /* a place in the frame that only the run knows: none of it is left out */
    frame[pages % sizeof frame] = 2;
    touch(pages);
    sink = frame[pages % sizeof frame];
}

KNOWN static void deeper(void)
{
    touch(1000);
    sink = 3;
}

KNOWN static void third(void)
{
    deeper();
    sink = 4;
}

int main(void)
{
    first();
    second();
    third();
    return 0;
}
