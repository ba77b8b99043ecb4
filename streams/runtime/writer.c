/* writer.c - writes the trace of one thread; see block.h and streams/wire.h. */
#include <errno.h>

#include "base/bytes.h"
#include "base/raw.h"
#include "streams/runtime/block.h"

#define RECORD_MOST 32u /* bytes of one record, and of one control */
#define RUN_MOST    15u

bool writer_open(struct writer *w, uint32_t pid, uint32_t tid, uint32_t process)
{
    char stem[32];
    uint32_t number;
    size_t at = raw_append_number(stem, sizeof stem, 0, pid);
    at = raw_append(stem, sizeof stem, at, "-");
    raw_append_number(stem, sizeof stem, at, tid);
    *w = (struct writer){.sites = raw_memory(STREAM_SITES * sizeof *w->sites)};
    if (!w->sites || !grown_open(&w->file, trace_options.directory, stem, ".burst", &number)) {
        writer_close(w, true);
        return false;
    }
    w->header = (struct stream_header *)w->file.first;
    *w->header = (struct stream_header){.magic = STREAM_MAGIC,
                                        .version = STREAM_VERSION,
                                        .pid = pid,
                                        .tid = tid,
                                        .used = sizeof *w->header,
                                        .checks0 = trace_options.checks0,
                                        .burst0 = trace_options.burst0,
                                        .process = process};
    w->file.size = sizeof *w->header;
    return true;
}

void writer_close(struct writer *w, bool whole)
{
    if (w->header)
        grown_close(&w->file, whole ? w->header->used : 0);
    if (w->sites)
        raw_munmap(w->sites, STREAM_SITES * sizeof *w->sites);
    *w = (struct writer){.file = {.fd = -1}};
}

bool writer_works(const struct writer *w)
{
    return w->header && !w->header->full;
}

/* Makes room for what is written at once; false: the trace has ended. */
static bool has_room(struct writer *w)
{
    bool moved;
    int error = grown_room(&w->file, RECORD_MOST, trace_options.most, &moved);
    if (error)
        w->header->full = error == EFBIG ? 1 : (uint32_t)error;
    if (moved)
        w->run = NULL;
    return !error;
}

static void publish_used(struct writer *w)
{
    __atomic_store_n(&w->header->used, grown_end(&w->file), __ATOMIC_RELEASE);
}

static void write_control(struct writer *w, enum stream_control what, uint64_t number)
{
    if (!writer_works(w) || !has_room(w))
        return;
    w->run = NULL;
    grown_byte(&w->file, (uint8_t)(STREAM_CONTROL | (unsigned)what << 4));
    grown_number(&w->file, number);
}

static void write_record(struct writer *w, uint64_t datum, uint64_t pc)
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
        uint64_t a = zigzag(own_distance), b = zigzag(distance);
        unsigned how = predicted ? STREAM_PREDICTED : a <= b ? STREAM_FROM_OWN : STREAM_FROM_LAST;
        w->run = &w->file.window[w->file.size];
        grown_byte(&w->file, (uint8_t)(next | how << 1));
        if (!next)
            grown_number(&w->file, zigzag(pc - w->pc));
        if (how != STREAM_PREDICTED)
            grown_number(&w->file, how == STREAM_FROM_OWN ? a : b);
    }
    own->stride = own_distance;
    own->datum = datum;
    w->pc = pc;
    w->datum = datum;
}

void writer_context(struct writer *w, uint32_t context)
{
    write_control(w, STREAM_CONTEXT, context);
}

void writer_burst(struct writer *w, uint64_t checks, uint32_t context)
{
    write_control(w, STREAM_BURST, checks);
    writer_context(w, context);
    if (!writer_works(w))
        return;
    w->header->bursts++;
    w->header->checks += checks;
    publish_used(w);
}

void writer_heap(struct writer *w, uint64_t position)
{
    if (position == w->heap)
        return;
    write_control(w, STREAM_HEAP, position - w->heap);
    w->heap = position;
}

void writer_take(struct writer *w, const uint8_t *log, uint32_t logged)
{
    uint32_t count = logged / WIRE_RECORD, most = WIRE_LOG_BYTES / WIRE_RECORD,
             lost = count > most ? count - most : 0;
    if (!writer_works(w) || !count)
        return;
    if (lost)
        write_control(w, STREAM_LOST, lost);
    for (uint32_t n = lost; n < count && writer_works(w); n++) {
        uint64_t words[2];
        uint32_t place = (WIRE_RECORD * (n + 1)) % WIRE_LOG_BYTES; /* the code advances before it writes */
        raw_copy(words, log - WIRE_RECORD + place, sizeof words);
        write_record(w, words[0], words[1]);
    }
    w->header->records += count - lost;
    w->header->lost += lost;
    publish_used(w);
}

void writer_end(struct writer *w)
{
    write_control(w, STREAM_END, 0);
    if (w->header)
        publish_used(w);
}
