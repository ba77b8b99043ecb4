/* touch.c - see touch.h. */
#include "collector/targets/touch.h"

#include <sys/uio.h>

#define PAGE      4096
#define MAX_PAGES 16

void stack_touch(pid_t pid, uint64_t from, uint64_t to)
{
    struct iovec remote[MAX_PAGES];
    char bytes[MAX_PAGES];
    unsigned long count = 0;
    for (uint64_t at = from & ~(uint64_t)(PAGE - 1); at < to && count < MAX_PAGES; at += PAGE)
        remote[count++] = (struct iovec){(void *)(uintptr_t)at, 1};
    if (count == 0)
        return;
    struct iovec local = {bytes, count};
    process_vm_readv(pid, &local, 1, remote, count, 0);
}
