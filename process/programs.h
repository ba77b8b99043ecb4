/*
 * programs.h - which programs started which: chains such as make > sh > cc1.
 *
 * A program is what an exec started; a fork runs its parent's until it takes another name. Programs are numbered from 1 on, those
 * of one name that the same program started alike, so that their number follows the kinds of processes, not how many there
 * were.
 */
#ifndef FATHOM_PROCESS_PROGRAMS_H
#define FATHOM_PROCESS_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

/* Programs in a chain. One that would be longer has the last ones in the place of its end: a program that starts itself without end
 * takes no more memory. */
#define PROGRAMS_DEEPEST 64u
#define PROGRAMS_NONE    0u         /* nothing is known */
#define PROGRAMS_FAILED  UINT32_MAX /* out of memory */

struct programs;

struct programs *programs_new(void); /* NULL: out of memory */
void programs_free(struct programs *programs);
/* The program with this name, by its number (base/hash.h), that another one started, or PROGRAMS_NONE. */
uint32_t programs_add(struct programs *programs, uint32_t parent, uint32_t name);
uint32_t programs_parent(const struct programs *programs, uint32_t program);
uint32_t programs_name(const struct programs *programs, uint32_t program);

/* What a process runs. */
enum program_origin {
    PROGRAM_UNTOLD,  /* it ran before the recording: nothing is settled yet */
    PROGRAM_PARENTS, /* it was forked, and runs what its parent ran */
    PROGRAM_RENAMED, /* it was forked, and took another name */
    PROGRAM_OWN,     /* it was started by an exec, or before the recording */
};
struct program {
    uint32_t number;
    enum program_origin origin; /* not untold */
};

/* The process gets a name. false: out of memory; it is as before then. */
bool program_rename(struct programs *programs, struct program *program, uint32_t name);
/* Likewise, by an exec. */
bool program_exec(struct programs *programs, struct program *program, uint32_t name);

#endif
