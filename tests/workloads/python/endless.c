/* endless.c - processes that say that they are CPython 3.11 whose thread has 600 states, each of which calls a thousand functions whose frames lie apart: reading one
 * takes half a second. They begin to say so when all of them run, and do nothing. Its argument: how many. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STATES = 600, FRAMES = 1030, APART = 1024 /* words */ };

uint64_t _PyRuntime[256];
uint32_t Py_Version = 0x030b07f0;
static uint64_t interpreter[64], states[STATES][64], cframe[4], code[64];
static uint64_t frames[FRAMES][APART];

__attribute__((noinline)) void _PyEval_EvalFrameDefault(void)
{
    sleep(20);
}

static void lie(void)
{
    for (unsigned i = 0; i < FRAMES; i++) {
        frames[i][500 + 4] = (uintptr_t)code;
        frames[i][500 + 6] = (uintptr_t)&frames[(i + 1) % FRAMES][500];
        frames[i][500 + 7] = (uintptr_t)code + 184;
    }
    for (unsigned i = 0; i < STATES; i++) {
        states[i][1] = (uintptr_t)states[(i + 1) % STATES];
        states[i][7] = (uintptr_t)cframe;
        states[i][20] = (uint64_t)getpid(); /* native_thread_id */
    }
    cframe[1] = (uintptr_t)&frames[0][500];
    interpreter[2] = (uintptr_t)states;
    _PyRuntime[5] = (uintptr_t)interpreter;
}

int main(int count, char **arguments)
{
    for (int left = count > 1 ? atoi(arguments[1]) : 1; left > 0; left--)
        if (fork() == 0) {
            usleep(500000);
            lie();
            _PyEval_EvalFrameDefault();
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    return 0;
}
