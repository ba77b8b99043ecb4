/* stepped.c - see stepped.h. */
#include "tests/oracle/stepped.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/vec.h"

#define FRAME_MOST (1u << 20) /* bytes: where SP moves further, it is on another stack */
#define INSN_MOST  15u        /* bytes */

static void require(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "oracle: cannot %s: %s\n", what, strerror(errno));
    exit(2);
}

size_t stepped_read(const struct stepped *s, uint64_t address, void *out, size_t size)
{
    const struct iovec to = {out, size},
                       from = {(void *)(uintptr_t)address, size}; // NOLINT: of another process
    const ssize_t got = process_vm_readv(s->pid, &to, 1, &from, 1, 0);
    return got < 0 ? 0 : (size_t)got;
}

/* Waits for the process to stop. false: it ended. */
static bool wait_for(struct stepped *s)
{
    int status;
    require(waitpid(s->pid, &status, 0) == s->pid, "wait for the process");
    if (!WIFSTOPPED(status))
        return false;
    s->signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
    require(ptrace(PTRACE_GETREGS, s->pid, NULL, &s->registers) == 0, "read the registers");
    return true;
}

/* Where the program begins, of which the kernel told the loader. */
static uint64_t entry_of(pid_t pid)
{
    char path[64];
    Elf64_auxv_t entry = {0};
    snprintf(path, sizeof path, "/proc/%d/auxv", (int)pid);
    FILE *file = fopen(path, "r");
    while (file && fread(&entry, sizeof entry, 1, file) == 1 && entry.a_type != AT_ENTRY)
        ;
    require(file && entry.a_type == AT_ENTRY, "find the program's entry");
    fclose(file);
    return entry.a_un.a_val;
}

/* Runs the loader. Nothing was called when the program begins. */
static void run_to(struct stepped *s, uint64_t entry)
{
    const long trap = 0xcc;
    errno = 0;
    const long word = ptrace(PTRACE_PEEKTEXT, s->pid, (void *)entry, NULL); // NOLINT: of another process
    require(errno == 0 && ptrace(PTRACE_POKETEXT, s->pid, (void *)entry, (word & ~255L) | trap) == 0 &&
                ptrace(PTRACE_CONT, s->pid, NULL, NULL) == 0 && wait_for(s) && s->registers.rip == entry + 1,
            "run the loader");
    s->registers.rip = entry;
    require(ptrace(PTRACE_POKETEXT, s->pid, (void *)entry, word) == 0 &&
                ptrace(PTRACE_SETREGS, s->pid, NULL, &s->registers) == 0,
            "begin at the program's entry");
}

void stepped_start(struct stepped *s, char **command)
{
    s->insns = table_new();
    s->mapped = true;
    s->pid = fork();
    require(s->insns && s->pid >= 0, "start the command");
    if (s->pid == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execvp(command[0], command);
        _exit(127);
    }
    require(wait_for(s), "run the command");
    ptrace(PTRACE_SETOPTIONS, s->pid, NULL, PTRACE_O_EXITKILL);
    s->start_stack = s->registers.rsp;
    if (s->registers.rip != entry_of(s->pid))
        run_to(s, entry_of(s->pid));
}

/* The instruction at the PC, decoded once; kind CODE_STOP: it is none that is known. */
static struct stepped_insn next_insn(struct stepped *s)
{
    static const uint8_t system_call[] = {0x0f, 0x05};
    uint8_t bytes[INSN_MOST] = {0};
    struct stepped_insn next = {.insn = {.kind = CODE_STOP}};
    bool added;
    uint64_t *number = table_put(s->insns, s->registers.rip, &added);
    require(number, "remember an instruction");
    if (!added)
        return s->known[*number - 1];
    const size_t size = stepped_read(s, s->registers.rip, bytes, sizeof bytes);
    if (!code_read(bytes, size, s->registers.rip, &next.insn))
        next.insn.kind = CODE_STOP;
    next.system_call = memcmp(bytes, system_call, sizeof system_call) == 0;
    require(vec_push(s->known, s->count, s->capacity, next), "remember an instruction");
    *number = s->count;
    return next;
}

/* SP was moved by an instruction that is no call. */
static void move(struct stepped *s, const struct code_insn *insn, uint64_t before)
{
    const uint64_t now = s->registers.rsp;
    const bool loaded = insn->stack == CODE_SP_OTHER && insn->kind != CODE_RETURN;
    if (now > before && now - before < FRAME_MOST && !(loaded && s->switches))
        shadow_drop(&s->shadow, before, now);
}

bool stepped_step(struct stepped *s)
{
    const struct stepped_insn next = next_insn(s);
    const struct code_insn insn = next.insn;
    const uint64_t sp = s->registers.rsp, behind = s->registers.rip + insn.length;
    const int signal = s->signal;
    uint64_t restorer;
    if (ptrace(PTRACE_SINGLESTEP, s->pid, NULL, (void *)(intptr_t)signal) < 0 || !wait_for(s))
        return false;
    const uint64_t now = s->registers.rsp;
    const bool call = insn.kind == CODE_CALL || insn.kind == CODE_CALL_INDIRECT;
    if (signal && now != sp && s->registers.rip != behind &&
        stepped_read(s, now, &restorer, sizeof restorer) == sizeof restorer)
        shadow_push(&s->shadow, now, restorer);
    else if (call && now == sp - 8 && !s->signal)
        shadow_push(&s->shadow, now, behind);
    else
        move(s, &insn, sp);
    s->mapped |= next.system_call;
    return true;
}

void stepped_end(struct stepped *s)
{
    kill(s->pid, SIGKILL);
    waitpid(s->pid, NULL, 0);
    free(s->shadow.entries);
    free(s->known);
    table_free(s->insns);
}
