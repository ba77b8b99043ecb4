/* fed_rings.c - see fed_rings.h. Functions of counters.h and stackbase.h take the place of the collector's. */
#include "tests/collector/fed_rings.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collector/targets/stackbase.h"

#define RINGS_MOST 8

struct fed {
    struct ring *ring;
    uint64_t head, lost; /* lost: not told yet */
};

struct counters {
    const struct event *events;
    size_t event_count, ring_count, trailer_size;
    struct ring rings[RINGS_MOST];
    struct fed fed[RINGS_MOST];
    uint64_t lost;
};

struct counters *fed_rings_new(const struct event *events, size_t count, size_t rings, size_t ring_bytes,
                               size_t trailer_size)
{
    struct counters *c = calloc(1, sizeof *c);
    if (!c || rings > RINGS_MOST)
        return NULL;
    c->events = events;
    c->event_count = count;
    c->trailer_size = trailer_size;
    for (size_t i = 0; i < rings; i++) {
        int fd = memfd_create("ring", MFD_CLOEXEC);
        if (fd < 0 || ftruncate(fd, (off_t)ring_bytes + sysconf(_SC_PAGESIZE)) < 0 ||
            ring_map(&c->rings[i], fd, ring_bytes) < 0)
            return NULL;
        close(fd);
        c->fed[i].ring = &c->rings[i];
        c->ring_count++;
    }
    return c;
}

void fed_rings_free(struct counters *c)
{
    for (size_t i = 0; c && i < c->ring_count; i++)
        ring_unmap(&c->rings[i]);
    free(c);
}

static bool put(struct fed *fed, const void *record, size_t size)
{
    const struct ring *ring = fed->ring;
    uint64_t tail = __atomic_load_n(&ring->page->data_tail, __ATOMIC_ACQUIRE);
    if (ring->size - (fed->head - tail) < size)
        return false;
    uint8_t *data = (uint8_t *)ring->page + sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < size; i++)
        data[(fed->head + i) & (ring->size - 1)] = ((const uint8_t *)record)[i];
    fed->head += size;
    __atomic_store_n(&ring->page->data_head, fed->head, __ATOMIC_RELEASE);
    return true;
}

void fed_rings_put(struct counters *c, size_t ring, const void *record, size_t size)
{
    struct fed *fed = &c->fed[ring];
    struct {
        struct perf_event_header header;
        uint64_t id, lost;
        uint8_t trailer[64];
    } told = {.header = {PERF_RECORD_LOST, 0, (uint16_t)(24 + c->trailer_size)}, .lost = fed->lost};
    if (fed->lost && put(fed, &told, told.header.size))
        fed->lost = 0;
    if (fed->lost == 0 && put(fed, record, size))
        return;
    fed->lost++;
    c->lost++;
}

size_t counters_rings(const struct counters *c, struct ring **out)
{
    *out = ((struct counters *)(uintptr_t)c)->rings;
    return c->ring_count;
}

size_t counters_event(const struct counters *c, uint64_t id)
{
    for (size_t i = 0; i < c->event_count; i++)
        for (size_t k = 0; k < c->events[i].id_count; k++)
            if (c->events[i].ids[k] == id)
                return i;
    return c->event_count;
}

bool counters_unsettled(const struct counters *c)
{
    (void)c;
    return false;
}

void counters_settle(struct counters *c, uint64_t id, pid_t tid)
{
    (void)c, (void)id, (void)tid;
}

bool counters_twice(const struct counters *c, uint64_t id, pid_t tid)
{
    (void)c, (void)id, (void)tid;
    return false;
}

uint64_t counters_lost(const struct counters *c)
{
    return c->lost;
}

void counters_totals(const struct counters *c, size_t event, struct counters_totals *out)
{
    (void)c, (void)event;
    *out = (struct counters_totals){0};
}

/* The recorded processes are gone: the recording has the bases that were known. */
void stackbases_round(struct stackbases *bases, uint64_t floor)
{
    (void)bases, (void)floor;
}

int stackbases_fork(struct stackbases *bases, pid_t pid, pid_t tid, pid_t parent_tid, uint64_t time,
                    struct fathom_error *err)
{
    (void)bases, (void)pid, (void)tid, (void)parent_tid, (void)time, (void)err;
    return 0;
}

int stackbases_exec(struct stackbases *bases, pid_t pid, uint64_t time, const struct sideband *to,
                    struct fathom_error *err)
{
    (void)bases, (void)pid, (void)time, (void)to, (void)err;
    return 0;
}

/* Any base: samples of a thread like the one before are then passed on in runs. */
int stackbases_sample(struct stackbases *bases, const struct sample *sample, const struct sideband *to,
                      uint64_t *base, struct fathom_error *err)
{
    (void)bases, (void)to, (void)err;
    *base = sample->sp + 8;
    return 0;
}
