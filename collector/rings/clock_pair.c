/* clock_pair.c - see clock_pair.h. Has the kernel record that this thread is given the name that it has, between two readings of the other clock. */
#include "collector/rings/clock_pair.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "collector/events/open.h"
#include "collector/rings/ring.h"

#define NAME_BYTES 16 /* with its NUL (prctl(2)) */

/* The time at the end of the ring's last record. 0 or -EIO. */
static int last_time(const struct ring *ring, uint64_t *time)
{
    uint64_t joined;
    const uint64_t head = ring_head(ring);
    if (head < sizeof(struct perf_event_header) + sizeof *time)
        return -EIO;
    memcpy(time, ring_view(ring, head - sizeof *time, sizeof *time, &joined), sizeof *time);
    return 0;
}

int clock_pair_read(uint64_t *monotonic, uint64_t *recording)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = OPEN_ATTR_SIZE,
                                   .config = PERF_COUNT_SW_DUMMY,
                                   .sample_type = PERF_SAMPLE_TIME,
                                   .exclude_kernel = 1,
                                   .comm = 1,
                                   .sample_id_all = 1};
    struct ring ring = {.page = NULL};
    char name[NAME_BYTES];
    const int fd = open_event(&attr, 0, -1);
    if (fd < 0)
        return fd;
    int rc = ring_map(&ring, fd, (size_t)sysconf(_SC_PAGESIZE));
    if (rc == 0 && prctl(PR_GET_NAME, name, 0, 0, 0) != 0)
        rc = -errno;
    const uint64_t before = clock_ns();
    if (rc == 0 && prctl(PR_SET_NAME, name, 0, 0, 0) != 0)
        rc = -errno;
    *monotonic = before + (clock_ns() - before) / 2;
    if (rc == 0)
        rc = last_time(&ring, recording);
    ring_unmap(&ring);
    close(fd);
    return rc;
}
