/*
 * alive.h - a word in shared memory in which the kernel marks the end of the thread that holds it.
 *
 * The word is on the thread's robust list (set_robust_list(2)): however the thread ends, even by SIGKILL, the
 * kernel sets FUTEX_OWNER_DIED in it at once, before its process is a zombie. Processes that share the memory
 * need no descriptor, no /proc and no common PID namespace to see it. The list itself is in private memory,
 * so writers of the shared one can at worst hide or fake the end.
 */
#ifndef FATHOM_PATHMAP_TRAIN_ALIVE_H
#define FATHOM_PATHMAP_TRAIN_ALIVE_H

#include <linux/futex.h>
#include <stddef.h>
#include <stdint.h>

struct alive {
    struct robust_list_head head;
    struct robust_list entry;
    struct robust_list_head *before; /* the thread's own list, from the C library */
    size_t before_size;
    uint32_t *word;
};

/* The calling thread holds *word from now on. `alive` and the word must not move until alive_drop(), by the
 * same thread. Meanwhile the thread must not lock a robust mutex of the C library. 0 or a negative errno. */
int alive_hold(struct alive *alive, uint32_t *word);
/* Sets the word to 0. Does nothing if it is not held. */
void alive_drop(struct alive *alive);

#endif
