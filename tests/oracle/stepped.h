/*
 * stepped.h - a process that runs one instruction at a time (ptrace(2)), with the shadow stack of its first thread.
 *
 * An entry is pushed by a call instruction and by the delivery of a signal. It is dropped when SP moves up past it: by a return, a
 * pop, longjmp(). Where SP is set to another stack, as coroutines do, none is: with `switches`, that is each time it is loaded from
 * anything but BP, else when it moves further than a function's frame can.
 */
#ifndef FATHOM_TESTS_ORACLE_STEPPED_H
#define FATHOM_TESTS_ORACLE_STEPPED_H

#include <sys/types.h>
#include <sys/user.h>

#include "image/code/code.h"
#include "tests/oracle/shadow.h"

struct stepped {
    pid_t pid;
    bool switches;
    bool mapped; /* its mappings may have changed: the reader of this resets it */
    struct user_regs_struct registers;
    uint64_t start_stack; /* SP at its first instruction */
    struct shadow shadow;
    struct table *insns; /* PC -> number of the instruction, from 1 */
    struct stepped_insn {
        struct code_insn insn;
        bool system_call;
    } * known;
    size_t count, capacity;
    int signal; /* to be delivered with the next step; 0: none */
};

/* Starts a command, which waits before the first instruction of its program, behind the loader's. Failures end the program, here and below. */
void stepped_start(struct stepped *stepped, char **command);
/* Runs one instruction. false: the process has ended. */
bool stepped_step(struct stepped *stepped);
/* Copies memory of the process; returns how many bytes of it there are from the address on. */
size_t stepped_read(const struct stepped *stepped, uint64_t address, void *out, size_t size);
void stepped_end(struct stepped *stepped);

#endif
