/* kernel_interrupts.c - see kernel_interrupts.h. */
#include "collector/verify/kernel_interrupts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Those of devices come first, then the CPU's own, behind those of exceptions, which are the thread's doing. */
#define FIRST "asm_common_interrupt"
#define TIMER "asm_sysvec_apic_timer_interrupt"
#define END   "__irqentry_text_end"

static bool is_whole(const struct verify_interrupts *i)
{
    return i->first && i->first < i->timer && i->timer < i->timer_end && i->timer_end <= i->end;
}

/* A symbol, in the order of addresses. */
static void take_symbol(struct verify_interrupts *i, uint64_t address, const char *name)
{
    if (i->timer && !i->timer_end && address > i->timer)
        i->timer_end = address;
    if (strcmp(name, FIRST) == 0)
        i->first = address;
    else if (strcmp(name, TIMER) == 0)
        i->timer = address;
    else if (strcmp(name, END) == 0)
        i->end = address;
}

bool kernel_interrupts_find(struct verify_interrupts *out)
{
    FILE *symbols = fopen("/proc/kallsyms", "re");
    char *line = NULL;
    size_t capacity = 0;
    *out = (struct verify_interrupts){0};
    while (symbols && !is_whole(out) && getline(&line, &capacity, symbols) > 0) {
        uint64_t address;
        char name[64];
        if (sscanf(line, "%" SCNx64 " %*c %63s", &address, name) == 2)
            take_symbol(out, address, name);
    }
    free(line);
    if (symbols)
        fclose(symbols);
    if (is_whole(out))
        return true;
    *out = (struct verify_interrupts){0};
    return false;
}
