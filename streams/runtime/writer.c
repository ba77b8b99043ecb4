/* writer.c - writes the trace of one thread; see block.h and streams/wire.h. */
#include <errno.h>

#include "base/raw.h"
#include "streams/runtime/block.h"

#define WINDOW      (1u << 20) /* bytes; of the file, mapped at a time */
#define RECORD_MOST 32u        /* bytes of one record, and of one control */
#define RUN_MOST    15u

static void put_text(char **at, const char *text)
{
    while (*text)
        *(*at)++ = *text++;
}

static void put_decimal(char **at, uint32_t value)
{
    char digits[10];
    unsigned n = 0;
    do
        digits[n++] = (char)('0' + value % 10);
    while (value /= 10);
    while (n)
        *(*at)++ = digits[--n];
}

/* The next window of the file. Its blocks are allocated, so that a full disk is an error here and no signal later. */
static int map_window(struct writer *w, uint64_t start)
{
    long rc = raw_call(SYS_fallocate, w->fd, 0, (long)start, WINDOW, 0, 0);
    if (rc == -EOPNOTSUPP)
        rc = raw_call(SYS_ftruncate, w->fd, (long)(start + WINDOW), 0, 0, 0, 0);
    if (raw_failed(rc))
        return (int)-rc;
    long at = raw_call(SYS_mmap, 0, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED, w->fd, (long)start);
    if (raw_failed(at))
        return (int)-at;
    w->window = (uint8_t *)at;
    w->start = start;
    w->size = 0;
    return 0;
}

bool writer_open(struct writer *w, uint32_t pid, uint32_t tid)
{
    char path[4096], *at = path;
    *w = (struct writer){.fd = -1};
    put_text(&at, trace_options.directory);
    put_decimal(&at, pid);
    *at++ = '-';
    put_decimal(&at, tid);
    *at++ = '-';
    char *number = at;
    for (uint32_t n = 0; n < 1000 && w->fd < 0; n++) { /* numbers of threads are used again */
        at = number;
        put_decimal(&at, n);
        put_text(&at, ".burst");
        *at = 0;
        w->fd = (int)raw_call(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600,
                              0, 0);
        if (w->fd < 0 && w->fd != -EEXIST)
            return false;
    }
    w->sites = raw_memory(STREAM_SITES * sizeof *w->sites);
    if (w->fd < 0 || !w->sites || map_window(w, 0)) {
        writer_close(w, true);
        return false;
    }
    w->header = (struct stream_header *)w->window;
    *w->header = (struct stream_header){.magic = STREAM_MAGIC,
                                        .version = STREAM_VERSION,
                                        .pid = pid,
                                        .tid = tid,
                                        .used = sizeof *w->header,
                                        .checks0 = trace_options.checks0,
                                        .burst0 = trace_options.burst0};
    w->size = sizeof *w->header;
    return true;
}

void writer_close(struct writer *w, bool whole)
{
    uint64_t used = w->header ? w->header->used : 0;
    if (w->window && w->window != (uint8_t *)w->header)
        raw_munmap(w->window, WINDOW);
    if (w->header)
        raw_munmap(w->header, WINDOW);
    if (w->sites)
        raw_munmap(w->sites, STREAM_SITES * sizeof *w->sites);
    if (w->fd >= 0 && used && whole)
        raw_call(SYS_ftruncate, w->fd, (long)used, 0, 0, 0, 0);
    if (w->fd >= 0)
        raw_close(w->fd);
    *w = (struct writer){.fd = -1};
}

bool writer_works(const struct writer *w)
{
    return w->header && !w->header->full;
}

/* Room for what is said at once; false: the trace has ended. */
static bool has_room(struct writer *w)
{
    if (w->size + RECORD_MOST <= WINDOW)
        return true;
    uint64_t next = (w->start + w->size) & ~(uint64_t)(RAW_PAGE - 1), keep = w->start + w->size - next;
    if (next + WINDOW > trace_options.most) {
        w->header->full = 1;
        return false;
    }
    struct writer old = *w;
    int error = map_window(w, next);
    if (error) {
        *w = old;
        w->header->full = (uint32_t)error;
        return false;
    }
    w->size = keep;
    w->run = NULL;
    if (old.window != (uint8_t *)old.header)
        raw_munmap(old.window, WINDOW);
    return true;
}

static void put_number(struct writer *w, uint64_t value)
{
    do {
        uint8_t byte = (value & 0x7f) | (value > 0x7f ? 0x80 : 0);
        w->window[w->size++] = byte;
        value >>= 7;
    } while (value);
}

static uint64_t folded(uint64_t distance)
{
    return distance << 1 ^ (uint64_t)((int64_t)distance >> 63);
}

static void publish(struct writer *w)
{
    __atomic_store_n(&w->header->used, w->start + w->size, __ATOMIC_RELEASE);
}

static void control(struct writer *w, enum stream_control what, uint64_t number)
{
    if (!writer_works(w) || !has_room(w))
        return;
    w->run = NULL;
    w->window[w->size++] = (uint8_t)(STREAM_CONTROL | (unsigned)what << 4);
    put_number(w, number);
}

static void record(struct writer *w, uint64_t datum, uint64_t pc)
{
    struct stream_site *last = &w->sites[stream_hash(w->pc)], *own = &w->sites[stream_hash(pc)];
    bool next = last->pc == w->pc && last->next == pc;
    if (last->pc != w->pc)
        *last = (struct stream_site){.pc = w->pc};
    last->next = pc;
    if (own->pc != pc)
        *own = (struct stream_site){.pc = pc};
    uint64_t own_distance = datum - own->datum, distance = datum - w->datum;
    bool predicted = own_distance == own->stride;
    if (next && predicted && w->run) {
        *w->run += 0x10;
        if (*w->run >> 4 == RUN_MOST)
            w->run = NULL;
    } else if (has_room(w)) {
        uint64_t a = folded(own_distance), b = folded(distance);
        unsigned how = predicted ? STREAM_PREDICTED : a <= b ? STREAM_FROM_OWN : STREAM_FROM_LAST;
        w->run = &w->window[w->size++];
        *w->run = (uint8_t)(next | how << 1);
        if (!next)
            put_number(w, folded(pc - w->pc));
        if (how != STREAM_PREDICTED)
            put_number(w, how == STREAM_FROM_OWN ? a : b);
    }
    own->stride = own_distance;
    own->datum = datum;
    w->pc = pc;
    w->datum = datum;
}

void writer_burst(struct writer *w, uint64_t checks)
{
    control(w, STREAM_BURST, checks);
    if (!writer_works(w))
        return;
    w->header->bursts++;
    w->header->checks += checks;
    publish(w);
}

void writer_take(struct writer *w, const uint8_t *log, uint32_t logged)
{
    uint32_t count = logged / WIRE_RECORD, most = WIRE_LOG_BYTES / WIRE_RECORD,
             lost = count > most ? count - most : 0;
    if (!writer_works(w) || !count)
        return;
    if (lost)
        control(w, STREAM_LOST, lost);
    for (uint32_t n = lost; n < count && writer_works(w); n++) {
        uint64_t words[2];
        uint32_t place = (WIRE_RECORD * (n + 1)) % WIRE_LOG_BYTES; /* the code counts first */
        raw_copy(words, log - WIRE_RECORD + place, sizeof words);
        record(w, words[0], words[1]);
    }
    w->header->records += count - lost;
    w->header->lost += lost;
    publish(w);
}

void writer_end(struct writer *w)
{
    control(w, STREAM_END, 0);
    if (w->header)
        publish(w);
}
