/*
 * runtime.c - loaded into the programs of `fathom record --alloc`: markers at some of the allocations
 * (sampling.h), and where these are freed, within the allocator's functions themselves, so that the marker's
 * caller is the allocation's. Arguments: the bytes that it stands for, its address (0: its end will not be
 * reported), its own bytes.
 *
 * The same for anonymous mappings that the program makes itself; what the allocator's own library maps is counted
 * as allocations.
 *
 * Active only while a recorder is attached (marker_*): otherwise it costs a comparison. FATHOM_HEAP: the mean
 * bytes between two samples of a thread.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "base/sampling.h"
#include "heap/mappings.h"
#include "heap/sampled.h"

#define MEAN_BYTES 524288

/* Static markers with three arguments, in the format of <sys/sdt.h> (its notes, version 3: image/markers.h): a nop on
 * which the kernel puts its probe, and a counter that says whether it has. */
#define MARKER_PROVIDER "fathom"

/* Defines a counter, at file scope. */
#define MARKER_DEFINE(name) __attribute__((section(".probes"))) volatile unsigned short marker_##name

#define MARKER_WATCHED(name) __builtin_expect(marker_##name != 0, 0)

/* The arguments are in rdi, rsi and rdx. */
#define MARKER(name, first, second, third)                                                                   \
    __asm__ volatile("990: nop\n"                                                                            \
                     ".pushsection .note.stapsdt,\"?\",\"note\"\n"                                           \
                     ".balign 4\n"                                                                           \
                     ".4byte 992f-991f, 994f-993f, 3\n"                                                      \
                     "991: .asciz \"stapsdt\"\n"                                                             \
                     "992: .balign 4\n"                                                                      \
                     "993: .8byte 990b, _.stapsdt.base, marker_" #name "\n"                                  \
                     ".asciz \"" MARKER_PROVIDER "\"\n"                                                      \
                     ".asciz \"" #name "\"\n"                                                                \
                     ".asciz \"8@%%rdi 8@%%rsi 8@%%rdx\"\n"                                                  \
                     "994: .balign 4\n"                                                                      \
                     ".popsection\n"                                                                         \
                     :                                                                                       \
                     : "D"((uint64_t)(first)), "S"((uint64_t)(second)), "d"((uint64_t)(third)))

/* The base of the notes' addresses; once per library. */
#define MARKER_BASE                                                                                          \
    __asm__(".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"                          \
            ".weak _.stapsdt.base\n"                                                                         \
            ".hidden _.stapsdt.base\n"                                                                       \
            "_.stapsdt.base: .space 1\n"                                                                     \
            ".size _.stapsdt.base, 1\n"                                                                      \
            ".popsection\n")

MARKER_BASE;
MARKER_DEFINE(allocated);
MARKER_DEFINE(freed);

static double mean = MEAN_BYTES;

struct counting {
    int64_t left;    /* bytes to the next sample */
    uint64_t random; /* 0: nothing was counted yet */
};
static __thread __attribute__((tls_model("initial-exec"))) struct counting counting;

static void fork_begins(void)
{
    mappings_fork_begins();
    sampled_fork_begins();
}

static void fork_ends(void)
{
    sampled_fork_ends();
    mappings_fork_ends();
}

/* Looked up, as each C library has another function for this: glibc's pthread_atfork() is in no shared library. */
static void watch_forks(void)
{
    int (*glibc)(void (*)(void), void (*)(void), void (*)(void), void *) =
        dlsym(RTLD_DEFAULT, "__register_atfork");
    int (*other)(void (*)(void), void (*)(void), void (*)(void)) = dlsym(RTLD_DEFAULT, "pthread_atfork");
    if (glibc)
        glibc(fork_begins, fork_ends, fork_ends, NULL);
    else if (other)
        other(fork_begins, fork_ends, fork_ends);
}

/* No constructor of the program has run; allocations before are counted with the default. */
__attribute__((constructor(101))) static void start(void)
{
    const char *value = getenv("FATHOM_HEAP");
    const double bytes = value ? strtod(value, NULL) : 0;
    if (bytes >= 1)
        mean = bytes;
    counting = (struct counting){0}; /* it may start anew: it has no memory */
    watch_forks();
}

static void begin_counting(struct counting *c)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    c->random = (uint64_t)(uintptr_t)c ^ (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec;
    c->random = c->random ? c->random : 1;
    for (unsigned i = 0; i < 8; i++) /* as similar states give similar numbers at first */
        sampling_random(&c->random);
    c->left = sampling_next(&c->random, mean);
}

/* For an allocation that reached the next sample: the bytes that it stands for; 0: it is not sampled. */
__attribute__((noinline)) static uint64_t sample_weight(size_t size)
{
    struct counting *c = &counting;
    if (!c->random) {
        begin_counting(c);
        c->left -= (int64_t)size;
        if (c->left > 0)
            return 0;
    }
    c->left = sampling_next(&c->random, mean);
    return sampling_weight(size, mean);
}

/* Whether so many more bytes reach the next sample. */
static inline bool is_beyond(size_t size)
{
    counting.left -= size < INT64_MAX / 2 ? (int64_t)size : INT64_MAX / 2;
    return __builtin_expect(counting.left <= 0, 0);
}

/* Inlined into the file's functions, as the marker must be there. */
__attribute__((always_inline)) static inline void note_allocated(const void *memory, size_t size, uint64_t pc,
                                                                 uint64_t sp)
{
    (void)pc;
    (void)sp;
    if (!MARKER_WATCHED(allocated) || !memory)
        return;
    if (!is_beyond(size))
        return;
    const struct sampled sampled = {(uint64_t)(uintptr_t)memory, sample_weight(size), size};
    if (sampled.weight)
        MARKER(allocated, sampled.weight, sampled_add(sampled) ? sampled.address : 0, size);
}

__attribute__((always_inline)) static inline void note_freed(const void *memory, uint64_t pc)
{
    const uint64_t address = (uint64_t)(uintptr_t)memory;
    (void)pc;
    if (__builtin_expect(!sampled_maybe(address), 1))
        return;
    const struct sampled taken = sampled_take(address);
    if (taken.weight && MARKER_WATCHED(freed))
        MARKER(freed, taken.weight, address, taken.size);
}

/* Reports an object that could not be enlarged, and whose end was already reported. */
static inline void note_kept(void *memory, uint64_t pc, uint64_t sp)
{
    (void)memory;
    (void)pc;
    (void)sp;
}

#define ALLOCATOR_CALLER 0, 0
#include "base/allocator.h"

static struct {
    void *(*map)(void *, size_t, int, int, int, off_t);
    void *(*remap)(void *, size_t, size_t, int, ...);
    int (*unmap)(void *, size_t);
    uint64_t begin, end; /* of the allocator's library */
} next_mapper;
static bool mapper_found;

/* Finds the library that contains the allocator. */
static int find_library(struct dl_phdr_info *info, size_t size, void *allocator)
{
    uint64_t begin = UINT64_MAX, end = 0;
    const uint64_t function = (uint64_t)(uintptr_t)allocator;
    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD)
            continue;
        begin = part->p_vaddr < begin ? part->p_vaddr : begin;
        end = part->p_vaddr + part->p_memsz > end ? part->p_vaddr + part->p_memsz : end;
    }
    if (function - info->dlpi_addr < begin || function - info->dlpi_addr >= end)
        return 0;
    next_mapper.begin = info->dlpi_addr + begin;
    next_mapper.end = info->dlpi_addr + end;
    return 1;
}

/* false: called while the allocator's functions are being looked up. */
static bool has_mapper(void)
{
    if (__atomic_load_n(&mapper_found, __ATOMIC_ACQUIRE))
        return true;
    if (!has_real())
        return false;
    next_mapper.map = next("mmap");
    next_mapper.remap = next("mremap");
    next_mapper.unmap = next("munmap");
    dl_iterate_phdr(find_library, (void *)(uintptr_t)real.malloc);
    __atomic_store_n(&mapper_found, true, __ATOMIC_RELEASE);
    return true;
}

/* Whether the caller is outside of the allocator's library. */
static bool is_programs(const void *caller)
{
    const uint64_t pc = (uint64_t)(uintptr_t)caller;
    return MARKER_WATCHED(allocated) && (pc < next_mapper.begin || pc >= next_mapper.end);
}

__attribute__((always_inline)) static inline void note_mapped(const void *memory, size_t size)
{
    size = RAW_PAGE_UP(size);
    const uint64_t weight = is_beyond(size) ? sample_weight(size) : 0,
                   name = mappings_add((uint64_t)(uintptr_t)memory, size, weight);
    if (weight)
        MARKER(allocated, weight, name, size);
}

__attribute__((always_inline)) static inline void note_unmapped(const void *memory, size_t size)
{
    for (struct sampled s; (s = mappings_remove((uint64_t)(uintptr_t)memory, RAW_PAGE_UP(size))).weight;)
        MARKER(freed, s.weight, s.address, s.size);
}

static void *result_of(long rc)
{
    if (!raw_failed(rc))
        return (void *)rc;
    errno = (int)-rc;
    return MAP_FAILED;
}

EXPORTED void *mmap(void *where, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (!has_mapper())
        return result_of(raw_call(SYS_mmap, (long)where, (long)size, protection, flags, fd, offset));
    const bool programs = is_programs(__builtin_return_address(0));
    if (programs && flags & MAP_FIXED) /* it replaces what was mapped there */
        note_unmapped(where, size);
    void *memory = next_mapper.map(where, size, protection, flags, fd, offset);
    if (programs && memory != MAP_FAILED && flags & MAP_ANONYMOUS && protection != PROT_NONE)
        note_mapped(memory, size);
    return memory;
}

EXPORTED void *mmap64(void *where, size_t size, int protection, int flags, int fd, off_t offset)
    __attribute__((alias("mmap")));

EXPORTED int munmap(void *memory, size_t size)
{
    if (!has_mapper())
        return result_of(raw_call(SYS_munmap, (long)memory, (long)size, 0, 0, 0, 0)) == MAP_FAILED ? -1 : 0;
    if (is_programs(__builtin_return_address(0)))
        note_unmapped(memory, size);
    return next_mapper.unmap(memory, size);
}

/* Like realloc(): the old mapping ends and a new one begins, wherever that is. Mappings of files are ignored. */
EXPORTED void *mremap(void *memory, size_t size, size_t new_size, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    void *where = flags & MREMAP_FIXED ? va_arg(more, void *) : NULL;
    va_end(more);
    if (!has_mapper())
        return result_of(
            raw_call(SYS_mremap, (long)memory, (long)size, (long)new_size, flags, (long)where, 0));
    const bool programs =
        is_programs(__builtin_return_address(0)) && mappings_have((uint64_t)(uintptr_t)memory);
    if (programs)
        note_unmapped(memory, size);
    void *moved = next_mapper.remap(memory, size, new_size, flags, where);
    if (programs && moved != MAP_FAILED)
        note_mapped(moved, new_size);
    return moved;
}
