/* hostile.c - a process that says that it is Ruby 3.1, and lies about all that it runs, in each way for some time: stacks without end, addresses of nothing, huge
 * lengths, frames that change while they are read. Ends after so many seconds of CPU time as its argument says. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FRAMES = 4000, FUNCTIONS = 64, WAYS = 11 };
#define LOOP rb_vm_exec
#include "../lies.h"

struct frame { /* instruction, -, function, -, environment */
    uint64_t words[8];
};
struct
    body { /* words of instructions in the upper half of 0, which are 1; file, short name, name: 8; line: 11; lines: 15, their number: 17, where they begin: 18 */
    uint64_t words[24];
};
struct string { /* flags, -, length, characters */
    uint64_t words[5];
};

const char ruby_version[] = "3.1.99";
_Thread_local uint64_t *ruby_current_ec;
static uint64_t state[3]; /* stack, its words, innermost frame */
static struct frame frames[FRAMES];
static struct {
    uint64_t flags, wrapper, body;
} functions[FUNCTIONS];
static struct body bodies[FUNCTIONS];
static struct string strings[FUNCTIONS], pairs[FUNCTIONS];
static uint64_t instructions[400], environment[2], positions[64];
static char text[4096];

void ruby_exec_node(void)
{
}

static void chain_up(unsigned count)
{
    memset(text, 'a', sizeof text);
    strcpy(text, "\x1b[31m<b>;\n\t\r&\"' \xff\xc3");
    for (unsigned i = 0; i < FRAMES; i++) {
        frames[i].words[0] = i % 3 ? (uintptr_t)&instructions[(uint64_t)random() % 100] : 0;
        frames[i].words[2] = (uintptr_t)&functions[i % FUNCTIONS];
        frames[i].words[4] = (uintptr_t)environment;
    }
    environment[0] = 0x20;
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        struct body *b = &bodies[i];
        memset(b, 0, sizeof *b);
        functions[i].body = (uintptr_t)b;
        b->words[0] = 100ull << 32;
        b->words[1] = (uintptr_t)instructions;
        b->words[8] = (uintptr_t)&pairs[i];
        b->words[9] = b->words[10] = (uintptr_t)&strings[i];
        b->words[11] = 2 * i + 1;
        b->words[15] = (uintptr_t)text;
        b->words[17] = 10;
        b->words[18] = (uintptr_t)positions;
        strings[i] = (struct string){{1u << 13 | 5, 0, 20, (uintptr_t)text, 0}};
        pairs[i] = (struct string){{1u << 13 | 7, 0, (uintptr_t)&strings[i], (uintptr_t)&strings[i], 0}};
    }
    state[0] = (uintptr_t)frames;
    state[1] = count * 8;
    state[2] = (uintptr_t)frames;
    ruby_current_ec = state;
}

/* One way to lie. */
static void lie(unsigned way)
{
    static const uint64_t lengths[] = {0,   1,        255,        256,        511,
                                       512, 1u << 31, UINT32_MAX, UINT64_MAX, 1ull << 63};
    chain_up(way % 5 ? 30 : FRAMES);
    for (unsigned i = 0; i < FUNCTIONS; i++)
        switch (way) {
        case 1:
            bodies[i].words[8 + (uint64_t)random() % 3] = wild();
            break;
        case 2:
            bodies[i].words[15 + (uint64_t)random() % 4] = wild();
            break;
        case 3:
            functions[i].body = wild();
            break;
        case 4:
            strings[i].words[2] = lengths[(uint64_t)random() % (sizeof lengths / sizeof *lengths)];
            bodies[i].words[0] = lengths[(uint64_t)random() % (sizeof lengths / sizeof *lengths)] << 32;
            break;
        case 5:
            strings[i].words[3] = wild();
            positions[i] = wild();
            break;
        case 6:
            strings[i].words[0] = wild();
            pairs[i].words[(uint64_t)random() % 4] = wild();
            break;
        case 7:
            frames[i].words[(uint64_t)random() % 8] = wild();
            break;
        default:
            break;
        }
    if (way == 8)
        state[(uint64_t)random() % 3] = wild();
    else if (way == 9)
        ruby_current_ec = (uint64_t *)(uintptr_t)wild();
}

static void *change(void *none)
{
    while (!stop) {
        const unsigned i = (unsigned)random() % 30;
        frames[i].words[random() % 8] = wild();
        bodies[i].words[(unsigned)random() % 24] ^= 8;
        functions[i].body = (uintptr_t)&bodies[(unsigned)random() % FUNCTIONS];
        state[1] = (uint64_t)random() % FRAMES * 8;
        struct timespec t = {0, 20000};
        nanosleep(&t, NULL);
    }
    return none;
}
