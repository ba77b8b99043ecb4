/* alive.c - see alive.h. */
#include "pathmap/train/alive.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

int alive_hold(struct alive *alive, uint32_t *word)
{
    if (syscall(SYS_get_robust_list, 0, &alive->before, &alive->before_size) != 0)
        return -errno;
    alive->head.list.next = &alive->entry;
    alive->entry.next = &alive->head.list;
    alive->head.futex_offset = (long)((intptr_t)word - (intptr_t)&alive->entry);
    alive->head.list_op_pending = NULL;
    __atomic_store_n(word, (uint32_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    if (syscall(SYS_set_robust_list, &alive->head, sizeof alive->head) != 0)
        return -errno;
    alive->word = word;
    return 0;
}

void alive_drop(struct alive *alive)
{
    if (!alive->word)
        return;
    syscall(SYS_set_robust_list, alive->before, alive->before_size);
    __atomic_store_n(alive->word, 0, __ATOMIC_RELEASE);
    alive->word = NULL;
}
