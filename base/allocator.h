/*
 * allocator.h - the allocator's functions for a library that is loaded into other programs: each calls the
 * next library's function (the C library's, or another allocator's) and notes what it did. A program with a
 * built-in allocator calls that, and none of these. To be included by one file, which first defines:
 * note_allocated(memory, size, pc, sp), where memory may be NULL; note_freed(memory, pc), called before the
 * free; and note_kept(memory, pc, sp), for a free that did not happen after all. pc: where the function
 * returns to; sp: the stack pointer there.
 */
#ifndef FATHOM_BASE_ALLOCATOR_H
#define FATHOM_BASE_ALLOCATOR_H

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/raw.h"

#define EXPORTED    __attribute__((visibility("default")))
#define EARLY_BYTES 4096u /* bytes dlsym() may allocate while it looks up the functions */

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    void (*free)(void *);
} real;
static bool found;
static __thread __attribute__((tls_model("initial-exec"))) bool finding;
static uint8_t early[EARLY_BYTES] __attribute__((aligned(16)));
static uint32_t early_used;

static void *next(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (!function)
        __builtin_trap(); /* every C library has these */
    return function;
}

/* Whether the functions are known; false while they are being looked up. */
static bool has_real(void)
{
    if (found || finding)
        return found;
    finding = true;
    real.malloc = next("malloc");
    real.calloc = next("calloc");
    real.realloc = next("realloc");
    real.memalign = next("memalign");
    real.aligned_alloc = next("aligned_alloc");
    real.posix_memalign = next("posix_memalign");
    real.valloc = dlsym(RTLD_NEXT, "valloc"); /* musl's lacks these */
    real.pvalloc = dlsym(RTLD_NEXT, "pvalloc");
    real.free = next("free");
    finding = false;
    __atomic_store_n(&found, true, __ATOMIC_RELEASE);
    return true;
}

/* Zeroed memory that is never freed. */
static void *take_early(size_t size)
{
    size_t bytes = (size + 15) & ~(size_t)15, at = early_used;
    if (size > EARLY_BYTES || bytes > EARLY_BYTES - at)
        return NULL;
    early_used += (uint32_t)bytes;
    return early + at;
}

static bool is_early(const void *memory)
{
    return (uintptr_t)memory - (uintptr_t)early < EARLY_BYTES;
}

/* The return address and stack pointer in an exported function. Users that ignore them define this as two
 * zeros: it costs a frame pointer. */
#ifndef ALLOCATOR_CALLER
#define ALLOCATOR_CALLER (uint64_t) __builtin_return_address(0), (uint64_t)__builtin_frame_address(0) + 16
#endif

EXPORTED void *malloc(size_t size)
{
    if (!has_real())
        return take_early(size);
    void *memory = real.malloc(size);
    note_allocated(memory, size, ALLOCATOR_CALLER);
    return memory;
}

EXPORTED void *calloc(size_t count, size_t size)
{
    if (!has_real())
        return take_early(count * size); /* the loader's requests are small */
    void *memory = real.calloc(count, size);
    note_allocated(memory, count * size, ALLOCATOR_CALLER);
    return memory;
}

EXPORTED void free(void *memory)
{
    if (is_early(memory) || !has_real())
        return;
    note_freed(memory, (uint64_t)__builtin_return_address(0));
    real.free(memory);
}

static void *resize_early(void *memory, size_t size)
{
    size_t most = (size_t)(early + EARLY_BYTES - (uint8_t *)memory);
    void *moved = has_real() ? real.malloc(size) : take_early(size);
    if (moved)
        raw_copy(moved, memory, size < most ? size : most);
    return moved;
}

/* The old object is freed and a new one allocated, possibly at the same address. */
__attribute__((always_inline)) static inline void *resize(void *memory, size_t size, uint64_t pc, uint64_t sp)
{
    if (is_early(memory) || !has_real())
        return is_early(memory) ? resize_early(memory, size) : take_early(size);
    note_freed(memory, pc);
    void *moved = real.realloc(memory, size);
    if (moved)
        note_allocated(moved, size, pc, sp);
    else if (memory && size) /* not freed */
        note_kept(memory, pc, sp);
    return moved;
}

EXPORTED void *realloc(void *memory, size_t size)
{
    return resize(memory, size, ALLOCATOR_CALLER);
}

EXPORTED void *reallocarray(void *memory, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return resize(memory, bytes, ALLOCATOR_CALLER);
}

EXPORTED void *memalign(size_t alignment, size_t size)
{
    void *memory = has_real() ? real.memalign(alignment, size) : NULL;
    note_allocated(memory, size, ALLOCATOR_CALLER);
    return memory;
}

EXPORTED void *aligned_alloc(size_t alignment, size_t size)
{
    void *memory = has_real() ? real.aligned_alloc(alignment, size) : NULL;
    note_allocated(memory, size, ALLOCATOR_CALLER);
    return memory;
}

EXPORTED int posix_memalign(void **out, size_t alignment, size_t size)
{
    int rc = has_real() ? real.posix_memalign(out, alignment, size) : ENOMEM;
    if (rc == 0)
        note_allocated(*out, size, ALLOCATOR_CALLER);
    return rc;
}

EXPORTED void *valloc(size_t size)
{
    void *memory = has_real() && real.valloc ? real.valloc(size) : NULL;
    note_allocated(memory, size, ALLOCATOR_CALLER);
    return memory;
}

EXPORTED void *pvalloc(size_t size)
{
    void *memory = has_real() && real.pvalloc ? real.pvalloc(size) : NULL;
    note_allocated(memory, RAW_PAGE_UP(size), ALLOCATOR_CALLER);
    return memory;
}

#endif
