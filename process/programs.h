/*
 * programs.h - which programs started which: chains such as make > sh > cc1.
 *
 * An exec starts a program; a fork runs its parent's until it takes another name. Programs are numbered from 1. Those with the
 * same name that were started by the same program share a number, so that memory depends on the kinds of processes, not on how
 * many there were.
 */
#ifndef FATHOM_PROCESS_PROGRAMS_H
#define FATHOM_PROCESS_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

/* Maximum number of programs in a chain. When it is reached, each further program replaces the last one, so that a program that keeps
 * starting itself takes no more memory. */
#define PROGRAMS_DEEPEST 64u
#define PROGRAMS_NONE    0u         /* unknown */
#define PROGRAMS_FAILED  UINT32_MAX /* out of memory */

struct programs;

struct programs *programs_new(void); /* NULL: out of memory */
void programs_free(struct programs *programs);
/* The program with this name (its number, base/hash.h) that was started by another one, or by PROGRAMS_NONE. */
uint32_t programs_add(struct programs *programs, uint32_t parent, uint32_t name);
uint32_t programs_parent(const struct programs *programs, uint32_t program);
uint32_t programs_name(const struct programs *programs, uint32_t program);

/* How a process got its program. */
enum program_origin {
    PROGRAM_UNSETTLED, /* it ran before the recording, and is not settled yet */
    PROGRAM_PARENTS,   /* it was forked, and runs what its parent ran */
    PROGRAM_RENAMED,   /* it was forked, and took another name */
    PROGRAM_OWN,       /* by an exec, or before the recording */
};
struct program {
    uint32_t number;
    enum program_origin origin; /* not PROGRAM_UNSETTLED */
};

/* The process gets a name. false: out of memory; nothing has changed. */
bool program_rename(struct programs *programs, struct program *program, uint32_t name);
/* The same, by an exec. */
bool program_exec(struct programs *programs, struct program *program, uint32_t name);

#endif
