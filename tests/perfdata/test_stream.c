/* Recordings that are streams: pipe mode, with payloads behind records, and zstd-compressed parts. */
#include "recording.h"

#include <errno.h>
#include <pthread.h>
#include <zstd.h>

static struct kept kept;
static struct build stream; /* zeroed: each test runs in a process of its own */

static void put_attr(struct build *b, const struct event *event)
{
    record_start(b, 64, 0);
    put(b, &event->attr, sizeof event->attr);
    put(b, event->ids, event->id_count * 8);
    record_end(b);
}

static void put_feature_text(struct build *b, uint64_t feature, const char *text)
{
    char padded[64] = {0};
    record_start(b, 80, 0);
    put64(b, feature);
    put32(b, sizeof padded);
    strncpy(padded, text, sizeof padded - 1);
    put(b, padded, sizeof padded);
    put32(b, 0); /* to a multiple of 8 */
    record_end(b);
}

static void start_pipe(struct build *b)
{
    struct event events[2];
    two_events(events);
    put(b, "PERFILE2", 8);
    put64(b, 16);
    put_attr(b, &events[0]);
    put_attr(b, &events[1]);
}

/* Reads `stream` as a file. */
static int read_stream(struct reader_summary *summary, struct fathom_error *err)
{
    char *path = temporary_file();
    put_file(path, stream.bytes, stream.size);
    int rc = read_file(path, &kept, summary, err);
    unlink(path);
    free(path);
    return rc;
}

Test(stream, a_pipe_tells_its_events_in_records)
{
    struct fathom_error err;
    struct reader *reader = NULL;
    const struct event *events;
    start_pipe(&stream);
    record_start(&stream, 78, 0); /* a name for the second event */
    put64(&stream, 2);
    put64(&stream, 21);
    put_text(&stream, "a-name");
    record_end(&stream);
    put_feature_text(&stream, 6, "x86_64");
    put_sample(&stream, 12, 5, 0x10);
    put_sample(&stream, 21, 4, 0x11);
    char *path = temporary_file();
    put_file(path, stream.bytes, stream.size);
    cr_assert_eq(reader_open(path, NULL, &reader, &err), 0, "%s", err.text);
    cr_assert_eq(reader_events(reader, &events), 2);
    cr_assert_str_eq(events[0].name, "cpu-clock:u"); /* by its attr */
    cr_assert_str_eq(events[1].name, "a-name");
    cr_assert_eq(events[0].id_count, 2);
    cr_assert_eq(events[0].ids[1], 12);
    cr_assert(events[1].audit);
    cr_assert_null(reader_command(reader));
    cr_assert_eq(reader_run(reader, keep, &kept, &err), 0);
    struct reader_summary summary;
    reader_summary(reader, &summary);
    cr_assert(summary.pipe && !summary.truncated);
    cr_assert_eq(summary.samples, 2);
    cr_assert_eq(kept.records[kept.count - 2].ip, 0x11);
    cr_assert_eq(kept.records[kept.count - 1].ip, 0x10);
    reader_close(reader);
    unlink(path);
    free(path);
}

Test(stream, payloads_behind_records_are_stepped_over)
{
    struct fathom_error err;
    struct reader_summary summary;
    start_pipe(&stream);
    record_start(&stream, 66, 0); /* tracing data: 12 bytes, then 13 padded to 16 */
    put32(&stream, 13);
    record_end(&stream);
    put(&stream, "\x09\0\0\0\0\0\0\0tracing-", 16);
    put_sample(&stream, 11, 5, 0x10); /* now on an address that is no multiple of 8 */
    record_start(&stream, 71, 0);     /* aux trace */
    put64(&stream, 24);
    for (int i = 0; i < 4; i++)
        put64(&stream, 0);
    record_end(&stream);
    put(&stream, "\x09\0\0\0\0\0\x10\0aux-trace-payload", 24);
    put_sample(&stream, 21, 4, 0x11);
    cr_assert_eq(read_stream(&summary, &err), 0, "%s", err.text);
    cr_assert_eq(summary.samples, 2);
    cr_assert_eq(summary.damaged, 0);
    cr_assert(!summary.truncated);

    stream.size -= 104; /* cut: the payload ends one byte early */
    stream.size -= 1;
    cr_assert_eq(read_stream(&summary, &err), 0);
    cr_assert_eq(summary.samples, 1);
    cr_assert(summary.truncated);
}

Test(stream, sizes_of_payloads_beyond_the_end)
{
    const uint64_t sizes[] = {UINT64_MAX, UINT64_MAX - 47, INT64_MAX, 1 << 20};
    for (size_t i = 0; i < 4; i++) {
        struct fathom_error err;
        struct reader_summary summary;
        stream.size = 0;
        start_pipe(&stream);
        put_sample(&stream, 11, 5, 0x10);
        record_start(&stream, 71, 0);
        put64(&stream, sizes[i]);
        for (int k = 0; k < 4; k++)
            put64(&stream, 0);
        record_end(&stream);
        put_sample(&stream, 11, 6, 0x10);
        cr_assert_eq(read_stream(&summary, &err), 0);
        cr_assert_eq(summary.samples, 1);
        cr_assert(summary.truncated);
    }
}

Test(stream, pipes_without_sense)
{
    struct fathom_error err;
    struct reader_summary summary;
    put(&stream, "PERFILE2", 8);
    put64(&stream, 16);
    cr_assert_eq(read_stream(&summary, &err), -EBADMSG); /* no events */
    start_pipe(&stream);
    put_feature_text(&stream, 6, "riscv64");
    cr_assert_eq(read_stream(&summary, &err), -EBADMSG); /* two headers: the second is no record */
    stream.size = 0;
    start_pipe(&stream);
    put_feature_text(&stream, 6, "riscv64");
    cr_assert_eq(read_stream(&summary, &err), -ENOTSUP);
}

/* Writes the stream to a pipe's end. */
static void *feed(void *context)
{
    int fd = *(int *)context;
    for (size_t at = 0; at < stream.size;) {
        size_t piece = stream.size - at < 1000 ? stream.size - at : 1000;
        cr_assert_eq(write(fd, stream.bytes + at, piece), (ssize_t)piece);
        at += piece;
    }
    close(fd);
    return NULL;
}

Test(stream, standard_input_can_be_read_twice)
{
    int ends[2];
    pthread_t thread;
    struct fathom_error err;
    struct reader *reader = NULL;
    start_pipe(&stream);
    for (uint64_t i = 0; i < 500; i++)
        put_sample(&stream, 11, 1000 - i, i);
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    cr_assert_eq(pthread_create(&thread, NULL, feed, &ends[1]), 0);
    cr_assert_eq(reader_open("-", NULL, &reader, &err), 0, "%s", err.text);
    for (int pass = 0; pass < 2; pass++) {
        kept.count = 0;
        cr_assert_eq(reader_run(reader, keep, &kept, &err), 0);
        cr_assert_eq(kept.count, 502); /* and two attrs */
        cr_assert_eq(kept.records[2].ip, 499);
    }
    reader_close(reader);
    pthread_join(thread, NULL);
}

/* A stream of samples, cut into compressed records of at most `piece` bytes of records each: these may be
 * split over two. */
static void put_compressed(const struct build *records, size_t piece, bool second_form)
{
    ZSTD_CStream *zstd = ZSTD_createCStream();
    cr_assert(zstd && !ZSTD_isError(ZSTD_initCStream(zstd, 1)));
    for (size_t at = 0; at < records->size; at += piece) {
        uint8_t bytes[8192];
        ZSTD_inBuffer in = {records->bytes + at, records->size - at < piece ? records->size - at : piece, 0};
        ZSTD_outBuffer out = {bytes, sizeof bytes, 0};
        cr_assert(!ZSTD_isError(ZSTD_compressStream(zstd, &out, &in)));
        cr_assert_eq(ZSTD_flushStream(zstd, &out), 0);
        record_start(&stream, second_form ? 83 : 81, 0);
        if (second_form)
            put64(&stream, out.pos);
        put(&stream, bytes, out.pos);
        while (second_form && stream.size % 8)
            put(&stream, "", 1);
        record_end(&stream);
    }
    ZSTD_freeCStream(zstd);
}

static struct build samples;

static void make_samples(uint64_t count)
{
    samples.size = 0;
    for (uint64_t i = 0; i < count; i++)
        put_sample(&samples, i % 5 ? 11 : 21, 1 + (i ^ 1), i);
}

Test(stream, compressed_records_split_anywhere)
{
    const size_t pieces[] = {1, 7, 72, 100, 4096, 65536};
    const uint64_t counts[] = {8, 60, 300, 300, 300, 300};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        for (int form = 0; form < 2; form++) {
            struct fathom_error err;
            struct reader_summary summary;
            make_samples(counts[i]);
            stream.size = 0;
            start_pipe(&stream);
            put_compressed(&samples, pieces[i], form);
            put_round(&stream);
            put_sample(&stream, 11, 100000, 0x4711); /* what is not compressed, behind it */
            cr_assert_eq(read_stream(&summary, &err), 0, "%s", err.text);
            cr_assert(summary.compressed && !summary.truncated);
            cr_assert_eq(summary.damaged, 0);
            cr_assert_eq(summary.samples, counts[i] + 1);
            for (size_t k = 2; k + 1 < kept.count; k++)
                cr_assert_eq(kept.records[k].ip, (k - 2) ^ 1, "piece %zu, record %zu", pieces[i], k);
            cr_assert_eq(kept.records[kept.count - 1].ip, 0x4711);
        }
    }
}

Test(stream, a_damaged_zstd_stream_ends_early)
{
    struct fathom_error err;
    struct reader_summary summary;
    make_samples(300);
    start_pipe(&stream);
    size_t start = stream.size;
    put_compressed(&samples, 4096, false);
    put_sample(&stream, 11, 100000, 0x4711);
    size_t end = stream.size;
    for (size_t at = start + 8; at < end; at += 13) {
        stream.bytes[at] ^= 0x55;
        cr_assert_eq(read_stream(&summary, &err), 0);
        cr_assert_leq(summary.samples, 301);
        stream.bytes[at] ^= 0x55;
    }
    stream.bytes[start + 8] ^= 0x55; /* the magic of zstd: nothing comes out, the rest is read */
    cr_assert_eq(read_stream(&summary, &err), 0);
    cr_assert_eq(summary.samples, 1);
    cr_assert(summary.truncated);
}

Test(stream, a_zstd_bomb_is_bounded_by_what_the_recording_says)
{
    struct fathom_error err;
    struct reader_summary summary;
    make_samples(300);
    start_pipe(&stream);
    record_start(&stream, 80, 0); /* HEADER_COMPRESSED: a piece holds 4096 bytes at most */
    put64(&stream, 27);
    put32(&stream, 1);
    put32(&stream, 1);
    put32(&stream, 1);
    put32(&stream, 5);
    put32(&stream, 4096);
    put32(&stream, 0);
    record_end(&stream);
    size_t start = stream.size;
    put_compressed(&samples, 4096, true);
    cr_assert_eq(read_stream(&summary, &err), 0);
    cr_assert_eq(summary.samples, 300);
    cr_assert(!summary.truncated);
    stream.size = start;
    put_compressed(&samples, 8192, true);
    cr_assert_eq(read_stream(&summary, &err), 0);
    cr_assert(summary.truncated);
    cr_assert_lt(summary.samples, 300);
}
