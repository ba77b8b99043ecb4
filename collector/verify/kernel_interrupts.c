/* kernel_interrupts.c - see kernel_interrupts.h. */
#include "collector/verify/kernel_interrupts.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Entries of device interrupts come first, then the CPU's own; both follow the entries of exceptions, which
 * the thread causes itself. */
#define FIRST "asm_common_interrupt"
#define TIMER "asm_sysvec_apic_timer_interrupt"
#define END   "__irqentry_text_end"

static bool is_whole(const struct verify_interrupts *i)
{
    return i->first && i->first < i->timer && i->timer < i->timer_end && i->timer_end <= i->end;
}

/* Takes a symbol; they come in address order. */
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

static void read_symbols(struct verify_interrupts *out)
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
}

/* Read once: the addresses do not change, and a recorder has dropped the right to see them when it opens the
 * next part of a recording. */
bool kernel_interrupts_find(struct verify_interrupts *out)
{
    static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
    static struct verify_interrupts known;
    pthread_mutex_lock(&guard);
    if (!is_whole(&known))
        read_symbols(&known);
    *out = is_whole(&known) ? known : (struct verify_interrupts){0};
    pthread_mutex_unlock(&guard);
    return is_whole(out);
}
