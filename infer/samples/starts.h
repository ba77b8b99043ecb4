/*
 * starts.h - where stacks begin according to the binaries (internal to infer/): the program's `_start`, what
 * it passes to the C library as `main`, the loader's first functions, and the functions in which threads
 * start.
 *
 * No call site shows calls of these, and one wrong frame there spoils every path above it.
 */
#ifndef FATHOM_INFER_SAMPLES_STARTS_H
#define FATHOM_INFER_SAMPLES_STARTS_H

#include "image/calls/calls.h"

#define STARTS_MAX   8u /* most of each kind */
#define STARTS_START 8u /* bytes: the height of `_start`, as no return address was pushed */
/* height of the loader's first functions: called with SP as at the program's start */
#define STARTS_LOADER 0u
#define STARTS_THREAD 0u /* height of a thread's first function (process.h defines a thread's base) */

/* The function at which the program begins; IMAGE_NO_FUNCTION: it is a library. */
uint32_t starts_program(const struct image *image);
/* The first functions of the loader (ld.so), called by its entry code with SP as set by the kernel, at height
 * 0 (STARTS_LOADER). Returns how many; 0: the image is not a loader. */
size_t starts_loader(const struct image *image, uint32_t out[STARTS_MAX]);
/* The calls through a register in the callees of one of these, which passes them what to call (dl_main).
 * Returns how many. */
size_t starts_handed_calls(const struct image *image, const struct calls *calls, uint32_t function,
                           const struct call_site *out[STARTS_MAX]);
/* The calls of `main` in the library that has __libc_start_main: those through a register in a function that
 * it calls. Returns how many. */
size_t starts_main_calls(const struct image *image, const struct calls *calls,
                         const struct call_site *out[STARTS_MAX]);
/* The functions that pthread_create, or its callees, pass to the kernel. Returns how many. */
size_t starts_threads(const struct image *image, const struct calls *calls, uint32_t out[STARTS_MAX]);

#endif
