/* lock.h - a lock of one word, 0 when free, as in Drepper, Futexes Are Tricky (2011), mutex3, that gives up after some seconds. */
#ifndef FATHOM_BASE_LOCK_H
#define FATHOM_BASE_LOCK_H

#include <errno.h>
#include <linux/futex.h>
#include <time.h>

#include "base/raw.h"

#define LOCK_SPINS 100
#define LOCK_WAITS 20 /* of a quarter of a second each; not reached even on a loaded machine */

/* false: its holder does not release it. */
static inline bool lock_take(uint32_t *lock)
{
    static const struct timespec quarter = {0, 250000000};
    for (unsigned i = 0; i < LOCK_SPINS; i++) {
        uint32_t open = 0;
        if (__atomic_compare_exchange_n(lock, &open, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return true;
        __builtin_ia32_pause();
    }
    for (unsigned late = 0; late < LOCK_WAITS;) {
        if (__atomic_exchange_n(lock, 2, __ATOMIC_ACQUIRE) == 0)
            return true;
        long rc = raw_call(SYS_futex, (long)lock, FUTEX_WAIT_PRIVATE, 2, (long)&quarter, 0, 0);
        late += rc == -ETIMEDOUT;
    }
    return false;
}

static inline void lock_give(uint32_t *lock)
{
    if (__atomic_exchange_n(lock, 0, __ATOMIC_RELEASE) == 2)
        raw_call(SYS_futex, (long)lock, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

#endif
