#include "api/doctor/workload.h"

#include <errno.h>
#include <inttypes.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define UNIT_STEPS 150  /* per call: a few hundred cycles, so that one sample in ten is near a return */
#define CALLS      2000 /* between two checks of the clock */
#define READS      100000

#define LINE         64
#define MEMORY_LEAST (UINT64_C(64) << 20)
#define MEMORY_MOST  (UINT64_C(1) << 30)
/* A linear congruential generator that visits all 2^n lines before it repeats any (Hull and Dobell). */
#define FACTOR UINT64_C(6364136223846793005)
#define OFFSET UINT64_C(1442695040888963407)

const double workload_shares[WORKLOAD_WAYS] = {1.0 / 3, 2.0 / 3};

typedef unsigned work(unsigned count, unsigned value);

static unsigned step(unsigned count, unsigned value)
{
    while (count-- > 0)
        value = value * 1664525u + 1013904223u;
    return value;
}

/* All calls are through volatile pointers, so that nothing is inlined or cloned for a caller. */
static work *volatile const call_step = step;

static unsigned way_short(unsigned count, unsigned value)
{
    return call_step(count, value) + 1;
}

static unsigned way_long(unsigned count, unsigned value)
{
    return call_step(2 * count, value) + 3;
}

static work *volatile const call_way[WORKLOAD_WAYS] = {way_short, way_long};

static unsigned loop(unsigned count, unsigned value)
{
    for (unsigned i = 0; i < count; i++)
        for (unsigned way = 0; way < WORKLOAD_WAYS; way++)
            value = call_way[way](UNIT_STEPS, value);
    return value;
}

static work *volatile const call_loop = loop;

static int own_offset(struct dl_phdr_info *info, size_t size, void *offset)
{
    (void)size;
    *(uint64_t *)offset = info->dlpi_addr;
    return 1; /* the program itself is the first */
}

void workload_functions(struct workload_functions *out)
{
    uint64_t offset = 0;
    dl_iterate_phdr(own_offset, &offset);
    out->loop = (uintptr_t)loop - offset;
    out->ways[0] = (uintptr_t)way_short - offset;
    out->ways[1] = (uintptr_t)way_long - offset;
    out->step = (uintptr_t)step - offset;
}

static bool time_left(double seconds)
{
    struct timespec now;
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0 &&
           (double)now.tv_sec + (double)now.tv_nsec * 1e-9 < seconds;
}

/* A power of two, at least twice the last cache if that is at most a quarter of the free memory. */
static uint64_t memory_size(void)
{
    long cache = sysconf(_SC_LEVEL3_CACHE_SIZE), pages = sysconf(_SC_AVPHYS_PAGES);
    uint64_t room = pages > 0 ? (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) / 4 : 0,
             size = MEMORY_LEAST;
    while (size < MEMORY_MOST && cache > 0 && size < 2 * (uint64_t)cache && 2 * size <= room)
        size *= 2;
    return size;
}

struct line {
    uint64_t next;
    uint64_t unused[LINE / sizeof(uint64_t) - 1];
};

/* Reads memory in an order that no prefetcher predicts. First prints "memory START SIZE", in hexadecimal bytes. */
static int read_memory(double seconds)
{
    uint64_t size = memory_size(), count = size / sizeof(struct line), at = 0;
    struct line *lines = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (lines == MAP_FAILED)
        return -ENOMEM;
    madvise(lines, size, MADV_NOHUGEPAGE); /* more pages than a TLB has */
    printf("memory %" PRIx64 " %" PRIx64 "\n", (uint64_t)(uintptr_t)lines, size);
    fflush(stdout);
    for (uint64_t i = 0; i < count; i++)
        lines[i].next = (FACTOR * i + OFFSET) & (count - 1);
    while (time_left(seconds))
        for (unsigned i = 0; i < READS; i++)
            at = lines[at].next;
    return at < count ? 0 : -EIO;
}

static int call_functions(double seconds)
{
    static volatile unsigned result;
    while (time_left(seconds))
        result = call_loop(CALLS, result);
    return 0;
}

int fathom_doctor_workload(enum fathom_workload workload)
{
    switch (workload) {
    case FATHOM_WORKLOAD_CALLS:
        return call_functions(WORKLOAD_SECONDS);
    case FATHOM_WORKLOAD_MEMORY:
        return read_memory(WORKLOAD_SECONDS);
    }
    return -EINVAL;
}
