/*
 * program.h - how the kernel would execute a file: whether a dynamic loader runs in it and honours LD_PRELOAD
 * (execve(2), ld.so(8)).
 */
#ifndef FATHOM_IMAGE_ELF_PROGRAM_H
#define FATHOM_IMAGE_ELF_PROGRAM_H

#include <stdbool.h>

#include "base/error.h"

#define PROGRAM_SCRIPTS_MAX 4 /* nested script interpreters; the kernel's limit is 5 in all */

enum program_kind {
    PROGRAM_DYNAMIC, /* ELF64 x86-64 with an interpreter: the loader */
    PROGRAM_STATIC,  /* the same without */
    PROGRAM_FOREIGN, /* for another machine, or another format */
};

struct program {
    enum program_kind kind;
    bool raised;      /* it gains privileges for this user (set-user-ID, capabilities): the loader ignores
                         LD_PRELOAD */
    char path[4096];  /* the file that finally runs: for a script its interpreter */
    char loader[256]; /* PROGRAM_DYNAMIC: its ELF interpreter */
};

/* Looks for `name` as execvp(3) would and follows the "#!" of scripts. -ENOENT, -EACCES, -ELOOP and other
 * system errors. */
int program_find(const char *name, struct program *out, struct fathom_error *err);

#endif
