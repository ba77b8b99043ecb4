/*
 * Time in the kernel under two paths, and time in user code under a third. Of the CPU time:
 *
 *   60%  main load_index fetch read, and then the kernel
 *   20%  main check_index fetch read, and then the kernel
 *   20%  main compute
 */
#include <fcntl.h>
#include <unistd.h>

#include "program.h"

static char block[1 << 20];
static volatile char sink;

KNOWN static void fetch(int fd, unsigned ms)
{
    for (uint64_t end = thread_ns() + ms * UINT64_C(1000000); thread_ns() < end;)
        if (read(fd, block, sizeof block) != (ssize_t)sizeof block)
            abort();
    sink = block[0];
}

KNOWN static void load_index(int fd)
{
    fetch(fd, 300);
    sink = 1;
}

KNOWN static void check_index(int fd)
{
    volatile char frame[64];
    unsigned ms = 100;
    __asm__("" : "+r"(ms)); /* a place in the frame that only the run knows: none of it is left out */
    frame[ms % sizeof frame] = 1;
    fetch(fd, ms);
    sink = frame[ms % sizeof frame];
}

KNOWN static void compute(void)
{
    spin(100);
}

int main(void)
{
    int fd = open("/dev/zero", O_RDONLY);
    if (fd < 0)
        abort();
    load_index(fd);
    compute();
    check_index(fd);
    return 0;
}
