/*
 * oracle.c - holds the walks of process/unwind.h against a truth that uses no table: the shadow stack of a process that is run by single steps.
 *
 * "oracle [--switches] [--steps N] [--every N] [--until N] COMMAND...": at random steps, one in `every`, the registers and the stack, as
 * a stack record has them, are unwound. Each return address that the walk found must be the next one of the shadow stack, at its slot; and
 * where the walk ends at a root, no more may follow on that stack. Ends after `steps` steps, or `until` samples. Prints one line of
 * figures, and the first wrong walks on standard error. Exits with 1 if a walk is wrong, with 2 if the command cannot be run.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/stack_record.h"
#include "process/unwind.h"
#include "tests/oracle/stepped.h"
#include "tests/process/maps.h"

#define FRAMES    4096
#define TOLD_MOST 5u         /* wrong walks */
#define STACK_GAP (1u << 20) /* bytes: return addresses further away are another stack's */

struct figures {
    unsigned long samples, frames, derived, rooted, wrong;
};

struct oracle {
    struct stepped stepped;
    struct image_cache *images;
    struct processes *processes;
    struct figures figures;
    uint8_t registers[8 * STACK_RECORD_REGISTER_COUNT], stack[STACK_RECORD_MAX], below[STACK_RECORD_BELOW];
};

static int apply(void *processes, const struct record *record, struct fathom_error *err)
{
    return processes_apply(processes, record, err);
}

static struct process *current(struct oracle *o)
{
    const uint32_t pid = (uint32_t)o->stepped.pid;
    if (o->stepped.mapped)
        maps_read(pid, apply, o->processes);
    o->stepped.mapped = false;
    struct process *process = process_find(o->processes, pid);
    const uint64_t base = o->stepped.start_stack;
    if (!process || process_set_stack(process, pid, base - (8 << 20), base, NULL) < 0)
        abort();
    return process;
}

/* As a stack record has it: its registers, in the order of arch/x86/include/uapi/asm/perf_regs.h. */
static struct sample take(struct oracle *o)
{
    const struct user_regs_struct *r = &o->stepped.registers;
    const uint64_t values[] = {r->rax, r->rbx, r->rcx, r->rdx, r->rsi, r->rdi, r->rbp, r->rsp, r->rip,
                               r->r8,  r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15};
    struct sample sample = {.pid = (uint32_t)o->stepped.pid,
                            .tid = (uint32_t)o->stepped.pid,
                            .ip = r->rip,
                            .mode = SAMPLE_MODE_USER,
                            .has_regs = true,
                            .reg_ip = r->rip,
                            .sp = r->rsp,
                            .bp = r->rbp,
                            .register_mask = STACK_RECORD_REGISTERS,
                            .registers = o->registers,
                            .stack = o->stack};
    memcpy(o->registers, values, sizeof values);
    sample.stack_size = (uint32_t)stepped_read(&o->stepped, r->rsp, o->stack, sizeof o->stack);
    if (stepped_read(&o->stepped, r->rsp - sizeof o->below, o->below, sizeof o->below) == sizeof o->below)
        sample.below = o->below;
    return sample;
}

struct walk {
    struct unwind_frame frames[FRAMES];
    size_t count;
    enum unwind_end end;
};

/* Whether the walk came to where its stack begins. */
static bool is_at_root(const struct walk *w)
{
    return w->end == UNWIND_ROOT || w->end == UNWIND_SIGNAL;
}

/* Whether a frame returns by a word of its stack: not what a signal's restorer does, nor a root. */
static bool has_slot(const struct walk *w, size_t i)
{
    return i + 1 < w->count ? !w->frames[i + 1].interrupted : !is_at_root(w);
}

/* Whether the entry is on another stack than the address below it. */
static bool is_beyond(const struct oracle *o, const struct shadow_entry *entry, uint64_t address)
{
    return !entry || entry->slot - address > STACK_GAP || o->stepped.switches;
}

/* NULL: right; else what is wrong, at frame *at. */
static const char *judge(const struct oracle *o, const struct walk *w, size_t *at)
{
    const struct shadow *shadow = &o->stepped.shadow;
    uint64_t sp = o->stepped.registers.rsp;
    for (*at = 0; *at < w->count; ++*at) {
        const struct unwind_frame *frame = &w->frames[*at];
        const struct shadow_entry *next = shadow_above(shadow, sp);
        if (!has_slot(w, *at))
            continue;
        if (!next || next->slot != frame->cfa - 8)
            return next && next->slot < frame->cfa - 8 ? "a caller is missing" : "a call that was not made";
        if (*at + 1 < w->count && next->return_address != frame[1].pc)
            return "another return address";
        sp = frame->cfa;
    }
    const uint64_t last = w->count ? w->frames[w->count - 1].cfa : sp;
    if (is_at_root(w) && !is_beyond(o, shadow_above(shadow, last), last))
        return "it ends before its root";
    return NULL;
}

static void tell(const struct oracle *o, const struct walk *w, const char *why, size_t at)
{
    fprintf(stderr, "%s at frame %zu of %zu (%s), SP %" PRIx64 "\n", why, at, w->count,
            unwind_end_text(w->end), (uint64_t)o->stepped.registers.rsp);
    for (size_t i = 0; i < w->count && i < at + 3; i++) {
        char name[200];
        const struct place *place = &w->frames[i].place;
        image_function_format(place->image, place->function, name, sizeof name);
        fprintf(stderr, "  CFA %" PRIx64 " %s %s+%" PRIx64 "%s\n", w->frames[i].cfa, name,
                image_name(place->image), place->address, w->frames[i].derived ? " (derived)" : "");
    }
    const struct shadow_entry *entry = shadow_above(&o->stepped.shadow, o->stepped.registers.rsp);
    for (size_t i = 0; entry && i < at + 3 && entry >= o->stepped.shadow.entries; i++, entry--)
        fprintf(stderr, "  was called: CFA %" PRIx64 " returns to %" PRIx64 "\n", entry->slot + 8,
                entry->return_address);
}

static void compare(struct oracle *o)
{
    static struct walk walk;
    struct figures *f = &o->figures;
    const struct process *process = current(o);
    const struct sample sample = take(o);
    walk.count = unwind_sample(process, &sample, walk.frames, FRAMES, &walk.end);
    size_t at;
    const char *why = judge(o, &walk, &at);
    f->samples++;
    f->frames += walk.count;
    f->rooted += is_at_root(&walk);
    for (size_t i = 0; i < walk.count; i++)
        f->derived += walk.frames[i].derived;
    if (why && f->wrong++ < TOLD_MOST)
        tell(o, &walk, why, at);
}

/* Knuth's MMIX: the same steps in each run. */
static bool is_chosen(uint64_t *random, unsigned long every)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (*random >> 33) % every == 0;
}

static unsigned long number(const char *text)
{
    char *end;
    const unsigned long n = strtoul(text, &end, 10);
    if (*end || n == 0) {
        fprintf(stderr, "oracle: '%s' is no number\n", text);
        exit(2);
    }
    return n;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"switches", no_argument, NULL, 'w'},
                                            {"steps", required_argument, NULL, 's'},
                                            {"every", required_argument, NULL, 'e'},
                                            {"until", required_argument, NULL, 'u'},
                                            {0}};
    static struct oracle o;
    unsigned long steps = 1000000, every = 300, until = 10000;
    uint64_t random = 1;
    for (int c; (c = getopt_long(argc, argv, "+", options, NULL)) != -1;) {
        if (c == '?')
            return 2;
        o.stepped.switches |= c == 'w';
        *(c == 's' ? &steps : c == 'e' ? &every : &until) = c == 'w' ? until : number(optarg);
    }
    o.images = image_cache_new(NULL);
    o.processes = processes_new(o.images, NULL);
    if (optind == argc || !o.images || !o.processes)
        return 2;
    stepped_start(&o.stepped, argv + optind);
    for (; steps && o.figures.samples < until && stepped_step(&o.stepped); steps--)
        if (is_chosen(&random, every))
            compare(&o);
    stepped_end(&o.stepped);
    processes_free(o.processes);
    image_cache_free(o.images);
    const struct figures *f = &o.figures;
    printf("%lu samples, %lu rooted, %lu frames, %lu of them by derived rows, %lu wrong\n", f->samples,
           f->rooted, f->frames, f->derived, f->wrong);
    return f->wrong > 0;
}
