/* hostile.c - a process that says that it is CPython 3.11, and lies about all that it runs, in each way for some time: loops, addresses of nothing,
 * huge lengths, frames that change while they are read. Ends after so many seconds of CPU time as its argument says. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FRAMES = 4000, CODES = 64, WAYS = 12, APART = 9000 };
#define LOOP _PyEval_EvalFrameDefault
#include "../lies.h"

struct frame {
    uint64_t words[10];
}; /* code: 4, previous: 6, instruction: 7, entered: byte 68 */
struct code {
    uint64_t words[64];
}; /* line: byte 72, texts: byte 112 */
struct string {
    uint64_t words[64];
};

uint64_t _PyRuntime[256];
uint32_t Py_Version = 0x030b07f0;
static uint64_t interpreter[64], states[300][64], cframe[4];
static struct frame frames[FRAMES];
static struct code codes[CODES];
static struct string strings[CODES];
static char apart[2][APART];

static void chain_up(unsigned count)
{
    for (unsigned i = 0; i < FRAMES; i++) {
        memset(&frames[i], 0, sizeof frames[i]);
        frames[i].words[4] = (uintptr_t)&codes[i % CODES];
        frames[i].words[6] = i + 1 < count ? (uintptr_t)&frames[i + 1] : 0;
        frames[i].words[7] = frames[i].words[4] + 184 + (uint64_t)random() % 100;
        ((char *)&frames[i])[68] = (char)(random() % 2);
    }
    for (unsigned i = 0; i < CODES; i++) {
        memset(&codes[i], 0, sizeof codes[i]);
        codes[i].words[9] = i;
        for (unsigned k = 14; k < 18; k++)
            codes[i].words[k] = (uintptr_t)&strings[(i + k) % CODES];
        memset(&strings[i], 0, sizeof strings[i]);
        strings[i].words[2] = 20;
        strings[i].words[4] = 1 << 2 | 1 << 5 | 1 << 6 | 1 << 7;
        strcpy((char *)&strings[i].words[6], "\x1b[31m<b>;\n\t\r&\"' 9 x");
    }
    cframe[1] = (uintptr_t)&frames[0];
}

/* One way to lie. */
static void lie(unsigned way)
{
    static const uint64_t lengths[] = {0,     1,        255,        256,        257,       32767,
                                       32768, 1u << 31, UINT32_MAX, UINT64_MAX, 1ull << 63};
    memset(_PyRuntime, 0, sizeof _PyRuntime);
    memset(interpreter, 0, sizeof interpreter);
    for (unsigned i = 0; i < 300; i++) {
        states[i][1] = (uintptr_t)states[(i + 1) % 300];
        states[i][19] = i;
        states[i][20] = 100000 + i; /* its native ID, by which a process's memory is read from outside */
        states[i][7] = (uintptr_t)cframe;
    }
    states[0][19] = pthread_self();
    states[0][20] = (uint64_t)gettid();
    _PyRuntime[5] = (uintptr_t)interpreter;
    interpreter[2] = (uintptr_t)states[way % 2];
    _PyRuntime[0x240 / 8] = way % 3 ? (uintptr_t)states[0] : 0;
    chain_up(way % 5 ? 30 : FRAMES);
    switch (way) {
    case 0: /* a frame that called itself */
        frames[3].words[6] = (uintptr_t)&frames[3];
        break;
    case 1: /* two, far apart */
        memcpy(apart[0] + 100, &frames[0], sizeof frames[0]);
        memcpy(apart[1] + APART - 200, &frames[1], sizeof frames[1]);
        ((struct frame *)(void *)(apart[0] + 100))->words[6] = (uintptr_t)apart[1] + APART - 200;
        ((struct frame *)(void *)(apart[1] + APART - 200))->words[6] = (uintptr_t)apart[0] + 100;
        cframe[1] = (uintptr_t)apart[0] + 100;
        break;
    case 2:
        for (unsigned i = 0; i < 30; i += 7)
            frames[i].words[4] = wild();
        break;
    case 3:
        frames[random() % 20].words[6] = wild();
        break;
    case 4:
        for (unsigned i = 0; i < CODES; i++)
            for (unsigned k = 14; k < 18; k++)
                codes[i].words[k] = wild();
        break;
    case 5:
        for (unsigned i = 0; i < CODES; i++)
            strings[i].words[2] = lengths[(unsigned)random() % (sizeof lengths / sizeof *lengths)];
        break;
    case 6:
        for (unsigned i = 0; i < CODES; i++)
            for (unsigned k = 2; k < 64; k++)
                strings[i].words[k] = wild();
        break;
    case 7:
        cframe[1] = wild();
        break;
    case 8:
        states[0][7] = wild();
        break;
    case 9: /* states without end, none of them ours */
        states[0][19] = 1;
        _PyRuntime[0x240 / 8] = wild();
        interpreter[0] = (uintptr_t)interpreter;
        break;
    case 10:
        _PyRuntime[5] = wild();
        _PyRuntime[0x240 / 8] = wild();
        break;
    default: /* characters of four bytes that are none */
        for (unsigned i = 0; i < CODES; i++) {
            strings[i].words[2] = 50;
            strings[i].words[4] = 4 << 2 | 1 << 5;
            memset(&strings[i].words[9], 0xd8 + (int)(i % 3), 200);
        }
    }
}

static void *change(void *none)
{
    while (!stop) {
        const unsigned i = (unsigned)random() % 30;
        frames[i].words[random() % 10] = wild();
        frames[(i + 1) % 30].words[6] = (uintptr_t)&frames[(unsigned)random() % FRAMES];
        codes[i].words[(unsigned)random() % 20] ^= 8;
        struct timespec t = {0, 20000};
        nanosleep(&t, NULL);
    }
    return none;
}
