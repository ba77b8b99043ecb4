/*
 * program.h - what the test programs share: functions that stay where they are written, and measured work.
 *
 * Each program has a call tree that is known, and spends a known share of its time in each context. The
 * optimiser may neither inline nor clone a KNOWN function, nor make its last call a jump when CALLED follows.
 */
#ifndef FATHOM_TESTS_PROGRAM_H
#define FATHOM_TESTS_PROGRAM_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#ifdef __clang__
#define KNOWN __attribute__((noinline))
#else
#define KNOWN __attribute__((noipa))
#endif

/* Stands after a call that must not become a tail jump. */
#define CALLED() __asm__ volatile("" ::: "memory")

/* Apart, so that no caller has a local variable whose address is known elsewhere: that forbids tail calls. With
 * TEST_SPEED=N in the environment, time goes by N times as fast, for tests that need not many samples. A virtual machine that stands
 * still is working, by the thread's clock, and is not sampled: what lies between two readings, if it is more than spin() takes from
 * one to the next, is left out. */
KNOWN static uint64_t thread_ns(void)
{
    static const uint64_t LONGEST = 3000000; /* ns */
    static __thread __attribute__((tls_model("initial-exec"))) uint64_t last,
        stood_still; /* no call in libraries */
    static unsigned speed;
    if (!speed) {
        const char *value = getenv("TEST_SPEED");
        speed = value ? (unsigned)atoi(value) : 1;
    }
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    uint64_t now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    if (now - last > LONGEST)
        stood_still += now - last;
    last = now;
    return (now - stood_still) * speed;
}

/* Uses ms milliseconds of the thread's own CPU time, in the function that it stands in. Of that, under 1%
 * goes to the clock. */
__attribute__((always_inline)) static inline void spin(unsigned ms)
{
    for (uint64_t end = thread_ns() + ms * UINT64_C(1000000); thread_ns() < end;)
        for (unsigned i = 0; i < 100000; i++)
            CALLED();
}

#endif
