/* perf_clock.c - see perf_clock.h. */
#include "collector/rings/perf_clock.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "collector/events/open.h"
#include "collector/rings/ring.h"

#define TRIES 5u /* of which the shortest counts */

struct time_record {
    struct perf_event_header header;
    uint64_t time;
};

/* Touches a page that is not there, and sees the times before and after. */
static int fault(uint64_t *before, uint64_t *after)
{
    const size_t size = (size_t)sysconf(_SC_PAGESIZE);
    volatile uint8_t *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return -errno;
    *before = clock_ns();
    *page = 1;
    *after = clock_ns();
    munmap((void *)page, size);
    return 0;
}

/* The time of the only record since this position. false: it is another one, or none. */
static bool read_time(struct ring *ring, uint64_t position, uint64_t *time)
{
    struct time_record record, scratch;
    if (ring_head(ring) - position != sizeof record)
        return false;
    memcpy(&record, ring_view(ring, position, sizeof record, &scratch), sizeof record);
    *time = record.time;
    return record.header.type == PERF_RECORD_SAMPLE;
}

static int measure(struct ring *ring, int64_t *offset)
{
    uint64_t shortest = UINT64_MAX;
    for (unsigned i = 0; i < TRIES; i++) {
        const uint64_t position = ring_head(ring);
        uint64_t before = 0, after = 0, time;
        const int rc = fault(&before, &after);
        if (rc < 0)
            return rc;
        if (read_time(ring, position, &time) && after - before < shortest) {
            shortest = after - before;
            *offset = (int64_t)(time - (before + (after - before) / 2));
        }
        ring_release(ring, ring_head(ring));
    }
    return shortest == UINT64_MAX ? -EAGAIN : 0;
}

int perf_clock_offset(int64_t *offset)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .config = PERF_COUNT_SW_PAGE_FAULTS,
                                   .size = OPEN_ATTR_SIZE,
                                   .sample_period = 1,
                                   .sample_type = PERF_SAMPLE_TIME,
                                   .exclude_kernel = 1};
    struct ring ring = {0};
    const int fd = open_event(&attr, 0, -1);
    if (fd < 0)
        return fd;
    int rc = ring_map(&ring, fd, (size_t)sysconf(_SC_PAGESIZE));
    if (rc == 0) {
        rc = measure(&ring, offset);
        ring_unmap(&ring);
    }
    close(fd);
    return rc;
}
