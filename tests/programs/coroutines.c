/*
 * Coroutines of makecontext() on stacks that lie side by side in one mapping, resumed by turns. Of the time:
 *
 *   20%  main idle
 *   40%  produce encode crunch      on two stacks
 *   27%  consume decode crunch      on two stacks
 *   13%  check decode crunch        on one
 */
#include <sys/mman.h>
#include <ucontext.h>

#include "program.h"

enum { COROUTINES = 5, STACK = 32 * 1024, TURNS = 60 };

static ucontext_t scheduler, coroutines[COROUTINES];
static volatile char sink;

/* Frames of sizes of their own, so that heights tell the paths apart; the compiler cannot tell that most of
 * them is not used. */
#define FRAME(bytes)                                                                                         \
    volatile char frame[bytes];                                                                              \
    __asm__ volatile("" : : "r"(frame) : "memory");                                                          \
    frame[0] = sink

KNOWN static void crunch(unsigned ms)
{
    spin(ms);
}

KNOWN static void encode(unsigned ms)
{
    FRAME(200);
    crunch(ms);
    sink = frame[0];
}

KNOWN static void decode(unsigned ms)
{
    FRAME(72);
    crunch(ms);
    sink = frame[0];
}

KNOWN static void produce(int number)
{
    FRAME(120);
    for (;;) {
        encode(3);
        sink = frame[0];
        swapcontext(&coroutines[number], &scheduler);
    }
}

KNOWN static void consume(int number)
{
    FRAME(312);
    for (;;) {
        decode(2);
        sink = frame[0];
        swapcontext(&coroutines[number], &scheduler);
    }
}

KNOWN static void check(int number)
{
    FRAME(536);
    for (;;) {
        decode(2);
        sink = frame[0];
        swapcontext(&coroutines[number], &scheduler);
    }
}

KNOWN static void idle(void)
{
    spin(3);
}

int main(void)
{
    static void (*const starts[COROUTINES])(int) = {produce, consume, check, consume, produce};
    char *stacks = mmap(NULL, COROUTINES * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stacks == MAP_FAILED)
        return 1;
    for (int i = 0; i < COROUTINES; i++) {
        getcontext(&coroutines[i]);
        coroutines[i].uc_stack.ss_sp = stacks + (size_t)i * STACK;
        coroutines[i].uc_stack.ss_size = STACK;
        makecontext(&coroutines[i], (void (*)(void))starts[i], 1, i);
    }
    for (int turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < COROUTINES; i++)
            swapcontext(&scheduler, &coroutines[i]);
        idle();
        sink = 1;
    }
    return 0;
}
