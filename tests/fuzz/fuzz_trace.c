/*
 * fuzz_trace.c - a fuzz target for what reads call traces, and for the counters that are fed with them.
 *
 * Checksums would keep mutations out, so the input is packed: for each block, a byte for its kind, two for the length
 * of its payload, and the payload. The file made of them has right checksums; whatever follows is appended as it is.
 */
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "hcct/hcct.h"
#include "hcct/quality.h"
#include "hcct/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The file; the caller frees it. */
static uint8_t *unpack(const uint8_t *data, size_t size, size_t *out_size)
{
    uint8_t *file = malloc(TRACE_HEAD + 8 * size + 16);
    static const uint8_t head[TRACE_HEAD] = TRACE_MAGIC "\x01";
    size_t at = TRACE_HEAD;
    if (!file)
        abort();
    memcpy(file, head, sizeof head);
    while (size >= 3) {
        uint32_t block[2] = {data[0], (uint32_t)(data[1] | data[2] << 8)};
        if (block[1] > size - 3)
            break;
        uint64_t sum = checksum_of(data + 3, block[1]);
        memcpy(file + at, block, sizeof block);
        memcpy(file + at + 8, &sum, sizeof sum);
        memcpy(file + at + 16, data + 3, block[1]);
        at += 16 + block[1];
        data += 3 + block[1];
        size -= 3 + block[1];
    }
    memcpy(file + at, data, size);
    *out_size = at + size;
    return file;
}

/* Every kind of counter, as small as it can be. */
static void count(const struct trace *trace, enum hcct_kind kind)
{
    struct hcct_options options = {
        .kind = kind, .eps = 0.1, .phi = 0.2, .delta = 0.1, .metrics = 1, .seed = trace->event_count};
    struct hcct *h = hcct_new(&options);
    uint64_t total = 0;
    for (size_t i = 0; h && i < trace->thread_count; i++) {
        const struct trace_thread *t = &trace->threads[i];
        size_t done;
        hcct_rewind(h);
        if (hcct_feed(h, trace->events + t->first, i % 3 ? trace->ticks + t->first : NULL, t->end - t->first,
                      &done) < 0)
            abort();
        for (size_t e = t->first; e < t->end; e++)
            if (!(trace->events[e] & TRACE_RESUMED))
                total += i % 3 ? trace->ticks[e] : 1;
    }
    if (!h || hcct_total(h) != total)
        abort();
    struct cct *hot = hcct_query(h, 0.3);
    struct quality quality;
    if (hot && quality_of(hot, hot, 0.3, &quality) < 0)
        abort();
    cct_free(hot);
    hcct_free(h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fathom_error err = {0};
    struct trace trace;
    size_t file_size;
    uint8_t *file = unpack(data, size, &file_size);
    int rc = trace_parse(file, file_size, "the trace", &trace, &err);
    if (rc < 0 && (err.code != -rc || !err.text[0]))
        abort();
    if (rc == 0) {
        for (enum hcct_kind kind = 0; kind < HCCT_KINDS; kind++)
            count(&trace, kind);
        trace_free(&trace);
    }
    free(file);
    return 0;
}
