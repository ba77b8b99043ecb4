/*
 * raw.h - system calls and memory operations for what is loaded into traced programs.
 *
 * A runtime runs between any two instructions of the program, so it calls no function that the program may
 * have replaced, that may be hooked itself, or that takes a lock: system calls go straight to the kernel,
 * errno is not touched, and bytes are moved by string instructions, which the compiler cannot turn into
 * calls.
 */
#ifndef FATHOM_BASE_RAW_H
#define FATHOM_BASE_RAW_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#define RAW_PAGE         4096u
#define RAW_PAGE_DOWN(x) ((x) & ~(uint64_t)(RAW_PAGE - 1))
#define RAW_PAGE_UP(x)   RAW_PAGE_DOWN((x) + RAW_PAGE - 1)

/* The result, or a negative errno. */
static inline long raw_call(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "+a"(number)
                     : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return number;
}

static inline bool raw_failed(long result)
{
    return (unsigned long)result > -4096ul;
}

static inline int raw_open(const char *path, int flags)
{
    return (int)raw_call(SYS_openat, AT_FDCWD, (long)path, flags | O_CLOEXEC, 0, 0, 0);
}

static inline void raw_close(int fd)
{
    raw_call(SYS_close, fd, 0, 0, 0, 0, 0);
}

static inline long raw_read(int fd, void *out, size_t size)
{
    return raw_call(SYS_read, fd, (long)out, (long)size, 0, 0, 0);
}

/* An address, or a negative errno: see raw_failed(). */
static inline long raw_mmap(uint64_t address, size_t size, int prot, int flags, int fd)
{
    return raw_call(SYS_mmap, (long)address, (long)size, prot, flags, fd, 0);
}

/* Zeroed private memory; NULL: none left. */
static inline void *raw_memory(size_t size)
{
    long p = raw_mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    return raw_failed(p) ? NULL : (void *)p;
}

static inline void raw_munmap(void *address, size_t size)
{
    raw_call(SYS_munmap, (long)address, (long)size, 0, 0, 0, 0);
}

static inline int raw_mprotect(uint64_t address, size_t size, int prot)
{
    return (int)raw_call(SYS_mprotect, (long)address, (long)size, prot, 0, 0, 0);
}

/* The calling thread's signal mask, set as by sigprocmask(); returns the old one. */
static inline uint64_t raw_signal_mask(int how, uint64_t mask)
{
    uint64_t old = 0;
    raw_call(SYS_rt_sigprocmask, how, (long)&mask, (long)&old, sizeof mask, 0, 0);
    return old;
}

static inline uint32_t raw_pid(void)
{
    return (uint32_t)raw_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

static inline uint32_t raw_tid(void)
{
    return (uint32_t)raw_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

/* CLOCK_MONOTONIC. */
static inline uint64_t raw_now_ns(void)
{
    struct timespec t = {0, 0};
    raw_call(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&t, 0, 0, 0, 0);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The time-stamp counter. */
static inline uint64_t raw_ticks(void)
{
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

static inline void raw_copy(void *to, const void *from, size_t size)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
}

static inline void raw_fill(void *to, uint8_t byte, size_t size)
{
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(size) : "a"(byte) : "memory");
}

static inline bool raw_equal(const void *a, const void *b, size_t size)
{
    const uint8_t *x = a, *y = b;
    for (size_t i = 0; i < size; i++)
        if (x[i] != y[i])
            return false;
    return true;
}

/* Whether a text begins with another one. */
static inline bool raw_begins(const char *text, const char *with)
{
    while (*with && *text == *with)
        text++, with++;
    return !*with;
}

static inline size_t raw_length(const char *text)
{
    size_t n = 0;
    for (; text[n]; n++)
        __asm__ volatile("" : : : "memory"); /* keeps the compiler from recognising strlen */
    return n;
}

static inline bool raw_same(const char *a, const char *b)
{
    size_t n = raw_length(a);
    return n == raw_length(b) && raw_equal(a, b, n);
}

/* Appends text at out[at], truncated to size bytes with the NUL. Returns the new end. */
static inline size_t raw_append(char *out, size_t size, size_t at, const char *text)
{
    for (; *text && at + 1 < size; text++)
        out[at++] = *text;
    out[at] = 0;
    return at;
}

static inline size_t raw_append_number(char *out, size_t size, size_t at, uint32_t n)
{
    char digits[12];
    unsigned i = sizeof digits - 1;
    digits[i] = 0;
    do
        digits[--i] = (char)('0' + n % 10);
    while (n /= 10);
    return raw_append(out, size, at, digits + i);
}

#endif
