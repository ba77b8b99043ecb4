/*
 * skids.c - how often the rule for precise samples (verify.bpf.c, verify_precise) refuses a sample and how often it takes
 * a wrong stack for it, by how many instructions the interrupt is late: `skids [-n STEPS] [-e EVERY] [-a] COMMAND...`.
 *
 * Runs the command instruction by instruction. Calls and returns tell its stack at each of them. Every EVERY instructions
 * on average, one is a sample, with the registers as they are after it, as in a PEBS record; the BPF program, in user space
 * (user/machine.h), sees it with the memory and registers of 0 to 50 instructions later. What a report would take
 * for its stack is held against the true one, function by function. -a: all, as if there were no rule.
 *
 * Prints a line for each skid: samples, verified (or read), refused, wrong.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/vec.h"
#include "collector/verify/user/machine.h"
#include "image/code/insn.h"
#include "image/image.h"

enum { SKIDS = 8, WAITING = 64, DEEP = 8192, STACK_BYTES = 1 << 20, FIRST_PID = 100 };
static const unsigned skids[SKIDS] = {0, 1, 2, 3, 5, 10, 20, 50};

struct function {
    uint64_t start, size;
};

/* A return address on the stack. */
struct slot {
    uint64_t address, value;
    uint64_t path; /* of the functions that it and those above it return to */
};

struct sample {
    uint64_t step, ip, sp, bp;
    uint64_t slot, path; /* of its function's return address */
    unsigned done;       /* skids that were tried */
};

/* A stack that the program was told of. */
struct learned {
    uint32_t number;
    struct slot *slots; /* outermost first; owned */
    size_t count;
};

struct code {
    uint8_t length, flow;
};

struct trial {
    pid_t pid;
    uint64_t base;
    struct slot slots[DEEP]; /* outermost first */
    size_t depth;
    struct sample waiting[WAITING];
    size_t waiting_count;
    struct table *codes, *functions, *told;
    struct function *function_list;
    size_t function_count, function_capacity;
    struct learned *learned;
    size_t learned_count, learned_capacity;
    struct image *images[64]; /* with where they are */
    uint64_t image_start[64], image_end[64], image_bias[64];
    size_t image_count;
    struct insn_reader *reader;
    struct machine machine;
    struct machine_memory memory[2];
    struct known_stacks *known;
    uint8_t *stack;
    bool all;
    uint64_t samples[SKIDS], verified[SKIDS], refused[SKIDS], wrong[SKIDS];
};

static void fail(const char *what)
{
    fprintf(stderr, "skids: %s: %s\n", what, strerror(errno));
    exit(2);
}

static size_t read_memory(const struct trial *t, uint64_t address, void *to, size_t size)
{
    struct iovec here = {to, size}, there = {(void *)(uintptr_t)address, size};
    ssize_t got = process_vm_readv(t->pid, &here, 1, &there, 1, 0);
    return got < 0 ? 0 : (size_t)got;
}

/* Adds the images that were mapped since the last time. */
static void read_maps(struct trial *t)
{
    char path[64], line[4200], name[4096];
    uint64_t start, end, offset;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)t->pid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file) && t->image_count < 64) {
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " r-xp %" SCNx64 " %*s %*s %4095s", &start, &end, &offset,
                   name) != 4 ||
            *name != '/')
            continue;
        bool have = false;
        for (size_t i = 0; i < t->image_count; i++)
            have |= t->image_start[i] == start;
        struct image *image;
        if (have || image_open(name, NULL, &image, NULL) != 0)
            continue;
        if (image_bias(image, offset, start, &t->image_bias[t->image_count])) {
            t->images[t->image_count] = image;
            t->image_start[t->image_count] = start;
            t->image_end[t->image_count++] = end;
        } else
            image_close(image);
    }
    if (file)
        fclose(file);
}

static bool find_function(const struct trial *t, uint64_t address, struct function *out)
{
    for (size_t i = 0; i < t->image_count; i++) {
        if (address < t->image_start[i] || address >= t->image_end[i])
            continue;
        uint32_t index = image_function_at(t->images[i], address - t->image_bias[i]);
        if (index == IMAGE_NO_FUNCTION)
            return false;
        const struct image_function *f = image_function(t->images[i], index);
        if (address - t->image_bias[i] - f->address >= f->size)
            return false; /* a part that was split from it */
        *out = (struct function){f->address + t->image_bias[i], f->size};
        return true;
    }
    return false;
}

/* Each address in code of no known function is one. */
static struct function function_of(struct trial *t, uint64_t address)
{
    uint64_t *index = table_put(t->functions, address, NULL);
    if (!index)
        fail("functions");
    if (!*index) {
        struct function f = {address, 1};
        if (!find_function(t, address, &f)) {
            read_maps(t);
            find_function(t, address, &f);
        }
        if (!vec_push(t->function_list, t->function_count, t->function_capacity, f))
            fail("functions");
        *index = t->function_count;
    }
    return t->function_list[*index - 1];
}

static struct code code_at(struct trial *t, uint64_t ip)
{
    uint64_t *known = table_put(t->codes, ip, NULL);
    if (!known)
        fail("code");
    if (!*known) {
        uint8_t bytes[INSN_MAX];
        struct insn insn = {.length = 1, .flow = INSN_PLAIN};
        size_t size = read_memory(t, ip, bytes, sizeof bytes);
        if (size && !insn_read(t->reader, bytes, size, ip, &insn))
            insn = (struct insn){.length = 1, .flow = INSN_PLAIN};
        *known = 1 | (uint64_t)insn.flow << 8 | (uint64_t)insn.length << 16;
    }
    return (struct code){.flow = (uint8_t)(*known >> 8), .length = (uint8_t)(*known >> 16)};
}

static const struct slot *slot_at(const struct slot *slots, size_t count, uint64_t address)
{
    while (count-- && slots[count].address <= address)
        if (slots[count].address == address)
            return &slots[count];
    return NULL;
}

/* The stack that unwinding the memory of now would find for the sample: its function's own return address is in place, and
 * those above it. Its callers become known with it, as with the recorder. false: not its function's. */
static bool learn(struct trial *t, const struct sample *s, uint32_t number, uint32_t pid)
{
    const struct slot *own = slot_at(t->slots, t->depth, s->slot);
    if (!own)
        return false;
    size_t count = (size_t)(own - t->slots) + 1;
    struct learned made = {.number = number, .slots = malloc(count * sizeof *made.slots), .count = count};
    struct stack_word *words = calloc(count, sizeof *words);
    if (!made.slots || !words || !vec_push(t->learned, t->learned_count, t->learned_capacity, made))
        fail("stacks");
    memcpy(made.slots, t->slots, count * sizeof *made.slots);
    for (size_t i = 0; i < count; i++) { /* innermost first */
        const struct slot *slot = &t->slots[count - 1 - i];
        words[i] = (struct stack_word){.address = slot->address, .low = slot->value, .size = 1};
    }
    for (size_t i = 0; i < count; i++) {
        const struct slot *callee = i ? &t->slots[count - i] : NULL;
        uint64_t ip = callee ? callee->value : s->ip;
        struct function f = function_of(t, ip);
        struct known_stack stack = {.space = pid,
                                    .tid = pid,
                                    .ip = ip,
                                    .sp = callee ? callee->address + 8 : s->sp,
                                    .number = number,
                                    .of_caller = callee,
                                    .code = callee ? f.start : 0,
                                    .code_size = callee ? f.size : 0, /* a read stack stands for its page */
                                    .words = words + i,
                                    .count = count - i};
        if (known_stacks_add(t->known, &stack, NULL) < 0)
            fail("known stacks");
    }
    free(words);
    return true;
}

static const struct learned *learned_of(const struct trial *t, uint32_t number)
{
    for (size_t i = t->learned_count; i-- > 0;)
        if (t->learned[i].number == number)
            return &t->learned[i];
    return NULL;
}

/* The number of the stack that a report takes for the sample's: announced.c. *is_new: it was read. */
static uint32_t number_of(struct trial *t, const struct sample *s, uint32_t tid, bool *is_new)
{
    uint64_t *last = table_put(t->told, hash_u64(hash_u64(s->sp) + (s->ip >> 12)) ^ tid, NULL);
    if (!last)
        fail("announcements");
    *is_new = false;
    for (size_t i = 0; i < t->machine.record_count; i++) {
        const struct stack_record *r = &t->machine.records[i].head;
        *last = r->number;
        *is_new = r->kind == STACK_RECORD_NEW;
    }
    return (uint32_t)*last;
}

/* The interrupt of a sample, now. */
static void interrupt(struct trial *t, const struct sample *s, unsigned skid,
                      const struct user_regs_struct *now)
{
    uint8_t code[16] = {0};
    const uint32_t pid = FIRST_PID + skid;
    uint64_t low = now->rsp < s->sp ? now->rsp : s->sp;
    if (low >= t->base || t->base - low > STACK_BYTES)
        return;
    t->memory[0] = (struct machine_memory){low, read_memory(t, low, t->stack, t->base - low), t->stack};
    t->memory[1] = (struct machine_memory){s->ip, read_memory(t, s->ip, code, sizeof code), code};
    t->machine.memory = t->memory;
    t->machine.memory_count = 2;
    t->machine.now += 1000000;
    const struct machine_sample seen = {.pid = pid,
                                        .tid = pid,
                                        .ip = s->ip,
                                        .sp = s->sp,
                                        .bp = s->bp,
                                        .late_ip = t->all ? s->ip : now->rip,
                                        .late_sp = t->all ? s->sp : now->rsp};
    machine_sample_precise(&seen);
    bool is_new;
    uint32_t number = number_of(t, s, pid, &is_new);
    const struct learned *l = NULL;
    if (number && (!is_new || learn(t, s, number, pid)))
        l = learned_of(t, number);
    const struct slot *own = l ? slot_at(l->slots, l->count, s->slot) : NULL;
    t->samples[skid]++;
    if (!own)
        t->refused[skid]++;
    else {
        t->verified[skid]++;
        t->wrong[skid] += own->path != s->path;
    }
}

/* The stack after an instruction: a call pushes, and what SP has left behind is gone. */
static void follow(struct trial *t, const struct user_regs_struct *before,
                   const struct user_regs_struct *after)
{
    struct code code = code_at(t, before->rip);
    while (t->depth && t->slots[t->depth - 1].address < after->rsp)
        t->depth--;
    if (code.flow != INSN_CALL || after->rsp != before->rsp - 8 || t->depth == DEEP)
        return;
    uint64_t value = before->rip + code.length, above = t->depth ? t->slots[t->depth - 1].path : 0;
    struct function f = function_of(t, value - 1);
    t->slots[t->depth++] = (struct slot){after->rsp, value, hash_u64(above + hash_u64(f.start))};
}

static void interrupts(struct trial *t, uint64_t step, const struct user_regs_struct *now)
{
    for (size_t i = 0; i < t->waiting_count; i++) {
        struct sample *s = &t->waiting[i];
        while (s->done < SKIDS && step - s->step >= skids[s->done])
            interrupt(t, s, s->done++, now);
        if (s->done == SKIDS)
            *s = t->waiting[--t->waiting_count], i--;
    }
}

static void start(struct trial *t, char **command)
{
    int status;
    t->pid = fork();
    if (t->pid == 0) {
        personality(ADDR_NO_RANDOMIZE);
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execvp(*command, command);
        _exit(127);
    }
    if (t->pid < 0 || waitpid(t->pid, &status, 0) < 0 || !WIFSTOPPED(status))
        fail(*command);
    ptrace(PTRACE_SETOPTIONS, t->pid, NULL, (void *)PTRACE_O_EXITKILL);
    struct user_regs_struct regs;
    if (ptrace(PTRACE_GETREGS, t->pid, NULL, &regs) != 0)
        fail("registers");
    t->base = (regs.rsp | 4095) + 1;
    const struct verify_config config = {
        .burst = UINT32_MAX, .page_bits = 12, .compared = STACK_RECORD_ALL, .cpus = 1};
    t->codes = table_new();
    t->functions = table_new();
    t->told = table_new();
    t->reader = insn_reader_new();
    t->stack = malloc(STACK_BYTES);
    if (!t->codes || !t->functions || !t->told || !t->reader || !t->stack ||
        machine_start(&t->machine, &config) != 0)
        fail("memory");
    const struct known_stacks_maps maps = machine_maps();
    if (known_stacks_new(&maps, config.compared, config.page_bits, &t->known) != 0)
        fail("memory");
    for (uint32_t pid = FIRST_PID; pid < FIRST_PID + SKIDS; pid++) {
        machine_place(pid, pid);
        machine_set_base(pid, t->base);
    }
}

/* One instruction. false: the program has ended. */
static bool step(struct trial *t, struct user_regs_struct *regs)
{
    int status, signal = 0;
    do {
        if (ptrace(PTRACE_SINGLESTEP, t->pid, NULL, (void *)(intptr_t)signal) != 0 ||
            waitpid(t->pid, &status, 0) < 0 || !WIFSTOPPED(status))
            return false;
        signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
    } while (signal);
    return ptrace(PTRACE_GETREGS, t->pid, NULL, regs) == 0;
}

static void run(struct trial *t, uint64_t steps, uint64_t every)
{
    struct user_regs_struct now, next;
    uint64_t due = every;
    if (ptrace(PTRACE_GETREGS, t->pid, NULL, &now) != 0)
        fail("registers");
    for (uint64_t i = 0; i < steps && step(t, &next); i++, now = next) {
        const struct slot *top = t->depth ? &t->slots[t->depth - 1] : NULL;
        if (i >= due && top && t->waiting_count < WAITING) {
            t->waiting[t->waiting_count++] = (struct sample){.step = i,
                                                             .ip = now.rip,
                                                             .sp = next.rsp,
                                                             .bp = next.rbp,
                                                             .slot = top->address,
                                                             .path = top->path};
            due = i + 1 + hash_u64(i) % (2 * every);
        }
        follow(t, &now, &next);
        interrupts(t, i, &next);
    }
}

static void finish(struct trial *t)
{
    kill(t->pid, SIGKILL);
    waitpid(t->pid, NULL, 0);
    for (size_t i = 0; i < t->learned_count; i++)
        free(t->learned[i].slots);
    for (size_t i = 0; i < t->image_count; i++)
        image_close(t->images[i]);
    known_stacks_free(t->known);
    machine_stop();
    insn_reader_free(t->reader);
    table_free(t->codes);
    table_free(t->functions);
    table_free(t->told);
    free(t->function_list);
    free(t->learned);
    free(t->stack);
}

int main(int argc, char **argv)
{
    static struct trial t;
    uint64_t steps = 200000, every = 50;
    for (int o; (o = getopt(argc, argv, "+n:e:a")) != -1;) {
        steps = o == 'n' ? strtoull(optarg, NULL, 10) : steps;
        every = o == 'e' ? strtoull(optarg, NULL, 10) : every;
        t.all |= o == 'a';
    }
    if (optind >= argc || !every) {
        fprintf(stderr, "usage: skids [-n STEPS] [-e EVERY] [-a] COMMAND...\n");
        return 2;
    }
    start(&t, argv + optind);
    run(&t, steps, every);
    printf("%5s %9s %9s %9s %7s\n", "skid", "samples", "verified", "refused", "wrong");
    for (unsigned i = 0; i < SKIDS; i++)
        printf("%5u %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %7" PRIu64 "\n", skids[i], t.samples[i],
               t.verified[i], t.refused[i], t.wrong[i]);
    finish(&t);
    return 0;
}
