/*
 * Frames whose size is known only when they run. Of the time:
 *
 *   60%  main grow leaf        (after alloca of 1000, 2000, ... 6000 bytes, 10% each)
 *   20%  main grow             (between alloca and the call)
 *   20%  main leaf
 */
#include <alloca.h>

#include "program.h"

static volatile char *volatile sink;

KNOWN static void leaf(unsigned ms)
{
    spin(ms);
}

KNOWN static void grow(size_t size)
{
    volatile char *block = alloca(size);
    block[0] = 1;
    sink = block;
    spin(25);
    leaf(75);
    sink = block + size - 1;
}

int main(void)
{
    for (size_t size = 1000; size <= 6000; size += 1000)
        grow(size);
    leaf(150);
    sink = NULL;
    return 0;
}
