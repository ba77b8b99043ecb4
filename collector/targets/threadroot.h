/*
 * threadroot.h - finds where a thread's first function returns to: the address after the indirect call in the
 * C library's clone3 and clone.
 *
 * That return address is the highest word of a thread's call stack, so its slot tells the stack's base. The
 * functions (__clone3, __clone) are found by their code, since __clone3 is not in .dynsym: the system call
 * with its number, followed closely by a call through a register.
 */
#ifndef FATHOM_COLLECTOR_TARGETS_THREADROOT_H
#define FATHOM_COLLECTOR_TARGETS_THREADROOT_H

#include "collector/targets/proc.h"

#define THREADROOT_MAX 8

struct threadroots; /* the files looked at so far, by device and inode */

struct threadroots *threadroots_new(void); /* NULL: out of memory */
void threadroots_free(struct threadroots *roots);
/* The return addresses in this process, at most THREADROOT_MAX; returns how many. maps are its mappings. */
size_t threadroots_find(struct threadroots *roots, pid_t pid, const struct maps *maps,
                        uint64_t found[THREADROOT_MAX]);
/* The search in a piece of code: offsets of the return addresses; returns how many. */
size_t threadroots_search(const uint8_t *code, size_t size, size_t found[THREADROOT_MAX]);

#endif
