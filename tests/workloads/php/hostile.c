/* hostile.c - a process that says that it is PHP 8.2, and lies about all that it runs, in each way for some time: loops, addresses of nothing, huge
 * lengths, calls that change while they are read. Ends after so many seconds of CPU time as its argument says. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CALLS = 4000, FUNCTIONS = 64, WAYS = 11 };
#define LOOP execute_ex
#include "../lies.h"

struct call { /* instruction, -, -, function, this, flags, previous */
    uint64_t words[10];
};
struct function { /* type, name, class; 10: count, instructions; 19: file, line */
    uint64_t words[64];
};
struct
    string { /* 2: length, characters. Also a class, whose name is word 1, and a generator: 7: call, 19: parent */
    uint64_t words[64];
};

const char version[] = "X-Powered-By: PHP/8.2.99";
uint64_t executor_globals[225];
void *zend_execute_ex;
static struct call calls[CALLS];
static struct function functions[FUNCTIONS];
static struct string strings[FUNCTIONS];
static uint64_t instructions[400];

static void chain_up(unsigned count)
{
    for (unsigned i = 0; i < CALLS; i++) {
        memset(&calls[i], 0, sizeof calls[i]);
        calls[i].words[0] = (uintptr_t)&instructions[(uint64_t)random() % 100 * 4];
        calls[i].words[3] = (uintptr_t)&functions[i % FUNCTIONS];
        calls[i].words[5] = (uint64_t)random() % 2 << 17;
        calls[i].words[6] = i + 1 < count ? (uintptr_t)&calls[i + 1] : 0;
    }
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        struct function *f = &functions[i];
        memset(f, 0, sizeof *f);
        f->words[0] = 1 + i % 2;
        f->words[1] = f->words[19] = (uintptr_t)&strings[i];
        f->words[2] = i % 3 ? (uintptr_t)&strings[(i + 1) % FUNCTIONS] : 0;
        f->words[10] = 100;
        f->words[11] = (uintptr_t)instructions;
        f->words[20] = i;
        memset(&strings[i], 0, sizeof strings[i]);
        strings[i].words[1] = (uintptr_t)&strings[i];
        strings[i].words[2] = 20;
        strcpy((char *)&strings[i].words[3], "\x1b[31m<b>;\n\t\r&\"' \xff\xc3");
    }
    executor_globals[61] = (uintptr_t)calls;
}

/* One way to lie. */
static void lie(unsigned way)
{
    static const uint64_t lengths[] = {0,   1,        255,        256,        511,
                                       512, 1u << 31, UINT32_MAX, UINT64_MAX, 1ull << 63};
    chain_up(way % 5 ? 30 : CALLS);
    for (unsigned i = 0; i < FUNCTIONS; i++)
        switch (way) {
        case 1:
            functions[i].words[1 + (uint64_t)random() % 2] = wild();
            break;
        case 2:
            functions[i].words[10 + (uint64_t)random() % 2] = wild();
            break;
        case 3:
            functions[i].words[19] = wild();
            break;
        case 4:
            strings[i].words[2] = lengths[(uint64_t)random() % (sizeof lengths / sizeof *lengths)];
            break;
        case 5: /* names without an end */
            memset(&strings[i].words[3], 'a' + (int)i % 26, sizeof strings[i] - 24);
            break;
        case 6: /* generators that wait for one another without end */
            calls[i].words[3] = i % 2 ? calls[i].words[3] : 0;
            calls[i].words[4] = (uintptr_t)&strings[i];
            strings[i].words[7] = (uintptr_t)&calls[i % 7];
            strings[i].words[19] = i % 5 ? (uintptr_t)&strings[(i + 1) % FUNCTIONS] : wild();
            break;
        case 7:
            functions[i].words[0] = wild();
            break;
        default:
            break;
        }
    if (way == 0) /* a call that called itself */
        calls[3].words[6] = (uintptr_t)&calls[3];
    else if (way == 8)
        calls[random() % 20].words[6] = wild();
    else if (way == 9)
        executor_globals[61] = wild();
}

static void *change(void *none)
{
    while (!stop) {
        const unsigned i = (unsigned)random() % 30;
        calls[i].words[random() % 10] = wild();
        calls[(i + 1) % 30].words[6] = (uintptr_t)&calls[(unsigned)random() % CALLS];
        functions[i].words[(unsigned)random() % 20] ^= 8;
        struct timespec t = {0, 20000};
        nanosleep(&t, NULL);
    }
    return none;
}
