/* stolen.c - a process that says that it is CPython 3.11, and that its function "stolen" runs in the thread of another, which says nothing. */
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

uint64_t _PyRuntime[256];
uint32_t Py_Version = 0x030b07f0;
static uint64_t interpreter[64], state[64], cframe[4], frame[20], code[64], string[64];
volatile unsigned sink;

__attribute__((noinline)) void _PyEval_EvalFrameDefault(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        sink += i;
}

static void lie(pid_t of)
{
    string[2] = 6;
    string[4] = 1 << 2 | 1 << 5 | 1 << 6;
    strcpy((char *)&string[6], "stolen");
    for (unsigned k = 14; k < 18; k++)
        code[k] = (uintptr_t)string;
    frame[4] = (uintptr_t)code;
    frame[7] = (uintptr_t)code + 184;
    ((char *)frame)[68] = 1;
    cframe[1] = (uintptr_t)frame;
    state[7] = (uintptr_t)cframe;
    state[20] = (uint64_t)of; /* native_thread_id */
    interpreter[2] = (uintptr_t)state;
    _PyRuntime[5] = (uintptr_t)interpreter;
}

int main(void)
{
    const pid_t other = fork();
    if (other)
        lie(other);
    while (clock() < CLOCKS_PER_SEC / 2)
        _PyEval_EvalFrameDefault(100000);
    if (other)
        wait(NULL);
    return 0;
}
