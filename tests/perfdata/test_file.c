/* The writer and the reader on files: round trip, cuts, full disks, files that are none of ours. */
#include "recording.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static struct kept kept;

/* A recording of four records with out-of-order times, written to a new file. */
static char *small_recording(struct event *events)
{
    struct build b = {0};
    struct writer *writer = NULL;
    struct fathom_error err;
    char *path = temporary_file();
    two_events(events);
    put_comm(&b, "first", 0);
    put_sample(&b, 11, 2000, 0x1000);
    put_sample(&b, 21, 3000, 0x1001);
    put_round(&b);
    put_sample(&b, 12, 1000, 0x1002);
    cr_assert_eq(writer_open(path, events, 2, &writer, &err), 0, "%s", err.text);
    cr_assert_eq(writer_append(writer, b.bytes, b.size, &err), 0, "%s", err.text);
    cr_assert_eq(writer_size(writer), b.size);
    char *argv[] = {(char *)"fathom", (char *)"record", NULL};
    cr_assert_eq(writer_command(writer, 2, argv, &err), 0);
    cr_assert_eq(writer_build_id(writer, "/bin/true", (const uint8_t *)"01234567890123456789", 20, &err), 0);
    writer_code_names(writer, "names", 5);
    cr_assert_eq(writer_close(writer, &err), 0, "%s", err.text);
    return path;
}

Test(file, what_was_written_is_read)
{
    struct event events[2];
    const struct event *read;
    struct reader *reader = NULL;
    struct reader_summary summary;
    struct fathom_error err;
    char *path = small_recording(events);
    cr_assert_eq(reader_open(path, NULL, &reader, &err), 0, "%s", err.text);
    cr_assert_eq(reader_events(reader, &read), 2);
    for (int i = 0; i < 2; i++) {
        cr_assert_str_eq(read[i].name, events[i].name);
        cr_assert_eq(read[i].id_count, events[i].id_count);
        cr_assert_arr_eq(read[i].ids, events[i].ids, events[i].id_count * 8);
        cr_assert_eq(read[i].attr.sample_type, events[i].attr.sample_type);
        cr_assert_eq(read[i].attr.size, 128);
    }
    cr_assert(!read[0].audit);
    cr_assert(read[1].audit);
    cr_assert_str_eq(reader_command(reader), "fathom record");
    size_t names_size;
    const void *names = reader_code_names(reader, &names_size);
    cr_assert_eq(names_size, 5);
    cr_assert_eq(memcmp(names, "names", 5), 0);
    for (int pass = 0; pass < 2; pass++) {
        kept.count = 0;
        cr_assert_eq(reader_run(reader, keep, &kept, &err), 0);
        reader_summary(reader, &summary);
        cr_assert_eq(summary.records, 4);
        cr_assert_eq(summary.samples, 3);
        cr_assert(!summary.truncated && !summary.pipe && !summary.compressed);
        cr_assert_eq(kept.count, 4);
        const uint64_t times[] = {0, 1000, 2000, 3000}, ips[] = {0, 0x1002, 0x1000, 0x1001};
        for (size_t i = 0; i < 4; i++) {
            cr_assert_eq(kept.records[i].time, times[i]);
            cr_assert_eq(kept.records[i].tid, 101);
            if (i)
                cr_assert_eq(kept.records[i].ip, ips[i]);
        }
        cr_assert_eq(kept.records[3].event, 1);
    }
    reader_close(reader);
    unlink(path);
    free(path);
}

/* The bytes of the first feature section of a file that has one for this bit, lower than all others. */
static const uint8_t *first_section(const uint8_t *file, size_t size, unsigned bit, uint64_t *section_size)
{
    uint64_t data[2], bits, section[2];
    memcpy(data, file + 40, sizeof data);
    memcpy(&bits, file + 72, sizeof bits);
    if (!(bits >> bit & 1))
        return NULL;
    cr_assert_eq(bits & ((UINT64_C(1) << bit) - 1), 0);
    memcpy(section, file + data[0] + data[1], sizeof section);
    cr_assert(section[0] <= size && section[1] <= size - section[0]);
    *section_size = section[1];
    return file + section[0];
}

Test(file, formats_of_tracepoints_are_kept_for_stock_perf)
{
    struct event events[2];
    struct writer *writer = NULL;
    struct reader *reader = NULL;
    const struct event *read;
    struct fathom_error err;
    struct build b = {0};
    char *path = temporary_file();
    two_events(events);
    events[0].attr.type = PERF_TYPE_TRACEPOINT;
    events[0].attr.config = 305;
    put_sample(&b, 11, 2000, 0x1000);
    for (size_t count = 1; count <= 2; count++) {
        cr_assert_eq(writer_open(path, events, count, &writer, &err), 0, "%s", err.text);
        cr_assert_eq(writer_append(writer, b.bytes, b.size, &err), 0);
        cr_assert_eq(writer_tracing_data(writer, "an older one", 12, &err), 0);
        cr_assert_eq(writer_tracing_data(writer, "formats", 7, &err), 0);
        cr_assert_eq(writer_close(writer, &err), 0, "%s", err.text);

        size_t size;
        uint64_t section_size;
        uint8_t *file = get_file(path, &size);
        const uint8_t *section = first_section(file, size, 1, &section_size);
        cr_assert_not_null(section);
        cr_assert_eq(section_size, 7);
        cr_assert_arr_eq(section, "formats", 7);
        free(file);

        /* Tracepoints alone have an event beside them that counts nothing. */
        cr_assert_eq(reader_open(path, NULL, &reader, &err), 0, "%s", err.text);
        cr_assert_eq(reader_events(reader, &read), 2);
        cr_assert_eq(read[0].attr.config, 305);
        cr_assert_str_eq(read[1].name, count == 1 ? "dummy" : events[1].name);
        uint32_t event = 1;
        cr_assert_eq(reader_main_event(reader, NULL, &event, &err), 0);
        cr_assert_eq(event, 0);
        reader_close(reader);
        struct reader_summary summary;
        cr_assert_eq(read_file(path, &kept, &summary, &err), 0, "%s", err.text);
        cr_assert_eq(kept.count, 1);
        cr_assert_eq(kept.records[0].event, 0);
    }
    unlink(path);
    free(path);
}

/* Offset of the records in a file. */
static uint64_t data_offset(const uint8_t *file)
{
    uint64_t offset;
    memcpy(&offset, file + 40, 8);
    return offset;
}

/* Small pieces go through the writer's buffer, large ones past it: in the file they follow one another. */
Test(file, pieces_of_any_size_keep_their_order)
{
    static struct build b;
    struct event events[2];
    struct writer *writer = NULL;
    struct reader_summary summary;
    struct fathom_error err;
    char *path = temporary_file();
    two_events(events);
    cr_assert_eq(writer_open(path, events, 2, &writer, &err), 0, "%s", err.text);
    static const size_t pieces[] = {1, 900, 3, 1, 600, 7, 450, 20};
    uint64_t number = 0, bytes = 0;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        b.size = 0;
        for (size_t k = 0; k < pieces[i]; k++, number++)
            put_sample(&b, 11, 1000 + number, 0x1000 + number);
        bytes += b.size;
        cr_assert_eq(writer_append(writer, b.bytes, b.size, &err), 0, "%s", err.text);
        cr_assert_eq(writer_size(writer), bytes);
    }
    cr_assert_eq(writer_close(writer, &err), 0, "%s", err.text);
    size_t size;
    uint8_t *file = get_file(path, &size);
    const uint8_t *at = file + data_offset(file);
    for (uint64_t i = 0; i < number; i++, at += b.bytes[6]) {
        uint64_t ip;
        memcpy(&ip, at + 16, sizeof ip);
        cr_assert_eq(ip, 0x1000 + i);
    }
    free(file);
    cr_assert_eq(read_file(path, &kept, &summary, &err), 0, "%s", err.text);
    cr_assert_eq(kept.count, number);
    cr_assert_eq(summary.damaged, 0);
    unlink(path);
    free(path);
}

Test(file, every_cut_gives_the_records_before_it)
{
    struct event events[2];
    struct reader_summary summary;
    struct fathom_error err;
    char *path = small_recording(events);
    size_t size;
    uint8_t *file = get_file(path, &size);
    uint64_t start = data_offset(file);
    /* ends of the records that are delivered: comm, sample, audit sample, (round), sample */
    const uint64_t ends[] = {start + 48, start + 48 + 72, start + 48 + 72 + 104,
                             start + 48 + 72 + 104 + 8 + 72};
    for (size_t cut = 0; cut <= size; cut++) {
        put_file(path, file, cut);
        int rc = read_file(path, &kept, &summary, &err);
        if (cut < start) {
            cr_assert(rc == -EBADMSG || rc == -ENOMSG, "cut %zu: %d", cut, rc);
            continue;
        }
        cr_assert_eq(rc, 0, "cut %zu: %s", cut, err.text);
        size_t whole = 0;
        while (whole < 4 && ends[whole] <= cut)
            whole++;
        cr_assert_eq(kept.count, whole, "cut %zu: %zu of %zu", cut, kept.count, whole);
        cr_assert_eq(summary.truncated, cut < ends[3]);
    }
    free(file);
    unlink(path);
    free(path);
}

Test(file, a_file_that_was_never_closed_is_read_to_its_end)
{
    struct event events[2];
    struct reader_summary summary;
    struct fathom_error err;
    char *path = small_recording(events);
    size_t size;
    uint8_t *file = get_file(path, &size);
    uint64_t data_size;
    memcpy(&data_size, file + 48, 8);
    memset(file + 48, 0, 8);
    memset(file + 72, 0, 32); /* features */
    put_file(path, file, data_offset(file) + data_size);
    cr_assert_eq(read_file(path, &kept, &summary, &err), 0);
    cr_assert_eq(kept.count, 4);
    cr_assert(summary.truncated);
    /* zeros behind it, as a crashed file system leaves them */
    memset(file + data_offset(file) + data_size, 0, size - data_offset(file) - data_size);
    put_file(path, file, size);
    cr_assert_eq(read_file(path, &kept, &summary, &err), 0);
    cr_assert_eq(kept.count, 4);
    cr_assert(summary.truncated);
    free(file);
    unlink(path);
    free(path);
}

/* Writes until the limit of file size stops it. Returns the number of samples that were accepted. */
static uint64_t write_until_full(const char *path, rlim_t limit, bool compress, struct fathom_error *err)
{
    struct event events[2];
    struct writer *writer = NULL;
    struct build b = {0};
    uint64_t written = 0;
    int rc = 0;
    two_events(events);
    cr_assert_eq(writer_open(path, events, 2, &writer, err), 0);
    cr_assert_eq(compress ? writer_compress(writer, err) : 0, 0);
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){limit, limit}), 0);
    while (rc == 0 && written < 100000) {
        b.size = 0;
        put_sample(&b, 11, written + 1, written);
        rc = writer_append(writer, b.bytes, b.size, err);
        written += rc == 0;
    }
    cr_assert_eq(rc, -EFBIG);
    cr_assert_eq(writer_append(writer, b.bytes, b.size, err), -EFBIG); /* and stays so */
    cr_assert_eq(writer_close(writer, err), -EFBIG);
    return written;
}

/* The samples of write_until_full(): 1, 2, 3 ... */
static int count_in_order(void *context, const struct record *record, struct fathom_error *err)
{
    uint64_t *samples = context;
    (void)err;
    if (record->kind == RECORD_SAMPLE)
        cr_assert_eq(record->time, ++*samples);
    return 0;
}

Test(file, a_full_disk_leaves_a_readable_file)
{
    const rlim_t limit = 2000003;
    struct fathom_error err;
    char *path = temporary_file();
    uint64_t written = write_until_full(path, limit, false, &err);
    cr_assert_gt(written, 20000);

    size_t size;
    uint8_t *file = get_file(path, &size);
    uint64_t start = data_offset(file), data_size;
    memcpy(&data_size, file + 48, 8);
    cr_assert_eq(data_size % 72, 0);             /* whole records */
    cr_assert_gt(start + data_size + 72, limit); /* and no one lost that was on the disk */
    free(file);

    struct reader *reader = NULL;
    struct reader_summary summary;
    uint64_t samples = 0;
    cr_assert_eq(reader_open(path, NULL, &reader, &err), 0, "%s", err.text);
    cr_assert_eq(reader_run(reader, count_in_order, &samples, &err), 0);
    cr_assert_eq(samples, data_size / 72);
    reader_summary(reader, &summary);
    cr_assert(summary.truncated); /* the features found no room: it did end early */
    reader_close(reader);
    unlink(path);
    free(path);
}

Test(file, a_full_disk_leaves_a_readable_compressed_file)
{
    struct fathom_error err;
    struct reader *reader = NULL;
    struct reader_summary summary;
    uint64_t samples = 0;
    char *path = temporary_file();
    cr_assert_gt(write_until_full(path, 100003, true, &err), 20000);
    cr_assert_eq(reader_open(path, NULL, &reader, &err), 0, "%s", err.text);
    cr_assert_geq(reader_run(reader, count_in_order, &samples, &err), 0, "%s", err.text);
    cr_assert_gt(samples, 10000);
    reader_summary(reader, &summary);
    cr_assert(summary.truncated && summary.compressed && !summary.damaged);
    reader_close(reader);
    unlink(path);
    free(path);
}

/* Of a type that is not read, as long as can be, of bytes that cannot be compressed. */
static void put_noise(struct build *b, uint64_t seed)
{
    record_start(b, 100, 0);
    while (b->size - b->start + 8 <= 65528)
        put64(b, seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u);
    record_end(b);
}

Test(file, compressed_records_are_read_of_any_size)
{
    struct event events[2];
    struct reader *reader = NULL;
    struct reader_summary summary;
    struct writer *writer = NULL;
    static struct build b;
    struct fathom_error err;
    char *path = temporary_file();
    uint64_t samples = 0;
    two_events(events);
    cr_assert_eq(writer_open(path, events, 2, &writer, &err), 0);
    cr_assert_eq(writer_compress(writer, &err), 0);
    for (uint64_t i = 1; i <= 2000; i++) {
        b.size = 0;
        put_sample(&b, 11, i, i);
        cr_assert_eq(writer_append(writer, b.bytes, b.size, &err), 0, "%s", err.text);
        b.size = 0;
        if (i % 50 == 0) {
            put_noise(&b, i);
            cr_assert_eq(writer_append(writer, b.bytes, b.size, &err), 0, "%s", err.text);
        }
        if (i % 300 == 0)
            cr_assert_eq(writer_flush(writer, &err), 0, "%s", err.text);
    }
    cr_assert_eq(writer_close(writer, &err), 0, "%s", err.text);
    cr_assert_eq(reader_open(path, NULL, &reader, &err), 0, "%s", err.text);
    cr_assert_eq(reader_run(reader, count_in_order, &samples, &err), 0, "%s", err.text);
    cr_assert_eq(samples, 2000);
    reader_summary(reader, &summary);
    cr_assert(!summary.truncated && summary.compressed && !summary.damaged);
    reader_close(reader);
    unlink(path);
    free(path);
}

/* As a writer leaves it that is killed: what was flushed, and a header that says so. */
Test(file, what_was_flushed_is_read_without_a_close)
{
    struct event events[2];
    struct reader_summary summary;
    struct writer *writer = NULL;
    struct build b = {0};
    struct fathom_error err;
    char *path = temporary_file();
    size_t size;
    two_events(events);
    cr_assert_eq(writer_open(path, events, 2, &writer, &err), 0);
    put_sample(&b, 11, 1, 1);
    put_sample(&b, 11, 2, 2);
    cr_assert_eq(writer_append(writer, b.bytes, b.size, &err), 0);
    free(get_file(path, &size));
    cr_assert_eq(size, 0); /* nothing is replaced before there is something to replace it by */
    cr_assert_eq(writer_flush(writer, &err), 0, "%s", err.text);
    cr_assert_eq(writer_append(writer, b.bytes, b.size, &err), 0);
    cr_assert_eq(read_file(path, &kept, &summary, &err), 0, "%s", err.text);
    cr_assert_eq(kept.count, 2);
    cr_assert(summary.truncated);
    cr_assert_eq(writer_close(writer, &err), 0, "%s", err.text);
    cr_assert_eq(read_file(path, &kept, &summary, &err), 0, "%s", err.text);
    cr_assert_eq(kept.count, 4);
    cr_assert(!summary.truncated);
    unlink(path);
    free(path);
}

Test(file, what_is_discarded_replaces_nothing)
{
    struct event events[2];
    struct writer *writer = NULL;
    struct build b = {0};
    struct fathom_error err;
    char *path = temporary_file(), old[512];
    struct stat status;
    put_file(path, "what was there", 14);
    two_events(events);
    put_sample(&b, 11, 1, 1);
    snprintf(old, sizeof old, "%s.old", path);
    cr_assert_eq(writer_open(path, events, 2, &writer, &err), 0);
    writer_keep_old(writer);
    cr_assert_eq(writer_append(writer, b.bytes, b.size, &err), 0);
    writer_discard(writer);
    cr_assert_eq(stat(path, &status), 0);
    cr_assert_eq(status.st_size, 14);
    cr_assert_neq(stat(old, &status), 0);

    cr_assert_eq(writer_open(path, events, 2, &writer, &err), 0);
    writer_keep_old(writer);
    cr_assert_eq(writer_append(writer, b.bytes, b.size, &err), 0);
    cr_assert_eq(writer_close(writer, &err), 0, "%s", err.text);
    cr_assert_eq(stat(old, &status), 0);
    cr_assert_eq(status.st_size, 14);
    cr_assert_eq(stat(path, &status), 0);
    cr_assert_gt(status.st_size, 14);
    unlink(path);
    unlink(old);
    free(path);
}

/* A pipe gets perf's pipe mode: names, command line and build-ids as records. */
Test(file, a_pipe_is_read_as_a_file)
{
    struct event events[2];
    const struct event *got;
    struct reader *reader = NULL;
    struct reader_summary summary;
    struct writer *writer = NULL;
    struct build b = {0};
    struct fathom_error err;
    char *path = temporary_file(), *argv[] = {(char *)"fathom", (char *)"record", NULL};
    unlink(path);
    cr_assert_eq(mkfifo(path, 0600), 0);
    int end = open(path, O_RDWR); /* so that the writer finds a reader */
    two_events(events);
    put_sample(&b, 11, 1, 1);
    put_sample(&b, 21, 2, 2);
    cr_assert_eq(writer_open(path, events, 2, &writer, &err), 0, "%s", err.text);
    cr_assert(writer_is_stream(writer));
    cr_assert_eq(writer_command(writer, 2, argv, &err), 0);
    cr_assert_eq(writer_append(writer, b.bytes, b.size, &err), 0);
    cr_assert_eq(writer_build_id(writer, "/bin/true", (const uint8_t *)"01234567890123456789", 20, &err), 0);
    cr_assert_eq(writer_close(writer, &err), 0, "%s", err.text);

    static uint8_t bytes[65536];
    ssize_t size = read(end, bytes, sizeof bytes);
    cr_assert_gt(size, 0);
    unlink(path);
    put_file(path, bytes, (size_t)size);
    cr_assert_eq(reader_open(path, NULL, &reader, &err), 0, "%s", err.text);
    cr_assert_eq(reader_events(reader, &got), 2);
    for (int i = 0; i < 2; i++) {
        cr_assert_str_eq(got[i].name, events[i].name);
        cr_assert_arr_eq(got[i].ids, events[i].ids, events[i].id_count * 8);
    }
    cr_assert_str_eq(reader_command(reader), "fathom record");
    kept.count = 0;
    cr_assert_eq(reader_run(reader, keep, &kept, &err), 0);
    reader_summary(reader, &summary);
    cr_assert_eq(summary.samples, 2);
    cr_assert(summary.pipe && !summary.truncated && !summary.damaged);
    reader_close(reader);
    close(end);
    unlink(path);
    free(path);
}

Test(file, outputs_that_cannot_be)
{
    struct event events[2];
    struct writer *writer = NULL;
    struct fathom_error err;
    two_events(events);
    cr_assert_eq(writer_open("/nonexistent/perf.data", events, 2, &writer, &err), -ENOENT);
    cr_assert(strstr(err.text, "/nonexistent/perf.data"));
    cr_assert_eq(writer_open("/tmp", events, 2, &writer, &err), -EISDIR);
    struct build b = {0};
    put_sample(&b, 11, 1, 1);
    cr_assert_eq(writer_open("/dev/full", events, 2, &writer, &err), 0);
    cr_assert_eq(writer_append(writer, b.bytes, b.size, &err), 0);
    cr_assert_eq(writer_close(writer, &err), -ENOSPC);
    writer = NULL;
    events[1].attr.sample_type &= ~(uint64_t)PERF_SAMPLE_IDENTIFIER;
    cr_assert_eq(writer_open("/dev/null", events, 2, &writer, &err), -ENOTSUP);
    cr_assert_null(writer);
}

Test(file, records_of_a_wrong_size_are_refused)
{
    struct event events[2];
    struct writer *writer = NULL;
    struct fathom_error err;
    struct build b = {0};
    two_events(events);
    put_sample(&b, 11, 1, 1);
    cr_assert_eq(writer_open("/dev/null", events, 2, &writer, &err), 0);
    cr_assert_eq(writer_append(writer, b.bytes, b.size - 8, &err), -EINVAL);
    cr_assert_eq(writer_append(writer, b.bytes, 4, &err), -EINVAL);
    cr_assert_eq(writer_append(writer, b.bytes, b.size, &err), 0);
    cr_assert_eq(writer_close(writer, &err), 0, "%s", err.text);
}

/* Changes bytes of a good recording and reads it. */
static int read_changed(size_t at, const void *bytes, size_t count, struct fathom_error *err)
{
    struct event events[2];
    struct reader_summary summary;
    char *path = small_recording(events);
    size_t size;
    uint8_t *file = get_file(path, &size);
    memcpy(file + at, bytes, count);
    put_file(path, file, size);
    int rc = read_file(path, &kept, &summary, err);
    free(file);
    unlink(path);
    free(path);
    return rc;
}

Test(file, files_that_cannot_be_read_are_named_for_what_they_are)
{
    struct fathom_error err;
    struct reader_summary summary;
    cr_assert_eq(read_changed(0, "2ELIFREP", 8, &err), -ENOTSUP);
    cr_assert_eq(read_changed(0, "PERFFILE", 8, &err), -ENOTSUP);
    cr_assert_eq(read_changed(0,
                              "\x7f"
                              "ELF....",
                              8, &err),
                 -ENOMSG);
    const uint64_t sizes[] = {0, 8, 79, 5000, UINT64_MAX};
    for (size_t i = 0; i < 5; i++)
        cr_assert_eq(read_changed(16, &sizes[i], 8, &err), -EBADMSG);
    cr_assert_eq(read_changed(24, &sizes[4], 8, &err), -EBADMSG); /* attrs behind the end */
    cr_assert_eq(read_changed(40, &sizes[4], 8, &err), -EBADMSG); /* records behind the end */
    cr_assert_eq(read_file("/nonexistent", &kept, &summary, &err), -ENOENT);
    cr_assert_eq(read_file("/", &kept, &summary, &err), -ENOMSG);
    cr_assert_eq(read_file("/dev/null", &kept, &summary, &err), -ENOMSG);
}

Test(file, a_directory_is_read_with_all_its_parts)
{
    struct event events[2];
    struct build b = {.size = 0};
    struct fathom_error err;
    struct reader_summary summary;
    char *directory = temporary_file(), *path;
    two_events(events);
    cr_assert(unlink(directory) == 0 && mkdir(directory, 0700) == 0);
    cr_assert_eq(read_file(directory, &kept, &summary, &err), -ENOMSG); /* without "data" */

    cr_assert(asprintf(&path, "%s/data", directory) > 0);
    put_comm(&b, "a name", 0);
    put_sample(&b, 11, 50, 0x5);
    put_round(&b); /* says nothing of the other files */
    struct writer *writer;
    cr_assert_eq(writer_open(path, events, 2, &writer, &err), 0);
    cr_assert_eq(writer_append(writer, b.bytes, b.size, &err), 0);
    cr_assert_eq(writer_close(writer, &err), 0);
    for (unsigned part = 0; part < 3; part++) {
        char *name;
        b.size = 0;
        if (part != 1) { /* that one has nothing */
            put_sample(&b, 11, 40 + part, part);
            put_sample(&b, 12, 60 - part, part); /* several rings */
            put_sample(&b, 11, 55 + part, part);
        }
        cr_assert(asprintf(&name, "%s.%u", path, part) > 0);
        put_file(name, b.bytes, b.size - (part == 2 ? 8 : 0)); /* the last one is cut */
        free(name);
    }
    cr_assert_eq(read_file(directory, &kept, &summary, &err), 0);
    cr_assert_eq(summary.samples, 6);
    cr_assert(summary.truncated);
    const uint64_t times[] = {0, 40, 42, 50, 55, 58, 60};
    cr_assert_eq(kept.count, 7);
    for (size_t i = 0; i < 7; i++)
        cr_assert_eq(kept.records[i].time, times[i]);

    for (unsigned part = 0; part < 3; part++) {
        char *name;
        cr_assert(asprintf(&name, "%s.%u", path, part) > 0 && unlink(name) == 0);
        cr_assert(part || mkfifo(name, 0600) == 0);
        if (part == 0) { /* is not waited for */
            cr_assert_eq(read_file(directory, &kept, &summary, &err), -ENOMSG);
            unlink(name);
        }
        free(name);
    }
    unlink(path);
    rmdir(directory);
    free(path);
    free(directory);
}

Test(file, a_recording_of_another_architecture_is_refused)
{
    struct event events[2];
    struct reader_summary summary;
    struct fathom_error err;
    char *path = small_recording(events);
    size_t size;
    uint8_t *file = get_file(path, &size);
    uint8_t *arch = memmem(file, size, "x86_64\0", 7);
    while (arch && arch[-4] != 64) /* the string with its length, not a part of the kernel's release */
        arch = memmem(arch + 1, size - (size_t)(arch + 1 - file), "x86_64\0", 7);
    cr_assert(arch);
    memcpy(arch, "aarch64", 8);
    put_file(path, file, size);
    cr_assert_eq(read_file(path, &kept, &summary, &err), -ENOTSUP);
    cr_assert(strstr(err.text, "aarch64"));
    free(file);
    unlink(path);
    free(path);
}

Test(file, a_damaged_record_is_left_out_and_counted)
{
    struct event events[2];
    struct reader_summary summary;
    struct fathom_error err;
    char *path = small_recording(events);
    size_t size;
    uint8_t *file = get_file(path, &size);
    file[data_offset(file) + 48 + 8] = 99; /* the first sample's event ID */
    put_file(path, file, size);
    cr_assert_eq(read_file(path, &kept, &summary, &err), 0);
    cr_assert_eq(kept.count, 3);
    cr_assert_eq(summary.damaged, 1);
    cr_assert_eq(summary.samples, 2);
    free(file);
    unlink(path);
    free(path);
}

Test(file, attrs_of_other_sizes)
{
    /* one event with an attr of 64 bytes (the first that Linux had) or of 200 (some later one) */
    const uint64_t sizes[] = {64, 200};
    for (size_t i = 0; i < 2; i++) {
        struct build b = {0};
        struct reader_summary summary;
        struct fathom_error err;
        struct perf_event_attr attr = {.size = (uint32_t)sizes[i],
                                       .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME};
        put(&b, "PERFILE2", 8);
        put64(&b, 104);
        put64(&b, sizes[i] + 16);
        put64(&b, 104);
        put64(&b, sizes[i] + 16);
        put64(&b, 104 + sizes[i] + 16);
        put64(&b, 24);
        b.size = 104;
        b.bytes[72] = 1 << 3; /* it was finished: it has features */
        memset(b.bytes + 104, 0xee, sizes[i]);
        put(&b, &attr, sizes[i] < sizeof attr ? sizes[i] : sizeof attr);
        b.size = 104 + sizes[i];
        put64(&b, 0);
        put64(&b, 0);
        record_start(&b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
        put64(&b, 0xabc);
        put64(&b, 5);
        record_end(&b);
        char *path = temporary_file();
        put_file(path, b.bytes, b.size);
        cr_assert_eq(read_file(path, &kept, &summary, &err), 0, "%s", err.text);
        cr_assert_eq(kept.count, 1);
        cr_assert_eq(kept.records[0].ip, 0xabc);
        cr_assert(!summary.truncated);
        unlink(path);
        free(path);
    }
}

/* Which event is reported of two, the first of which has `samples` of its own. */
static uint32_t main_event_of(bool samples_of_first, bool samples_of_second)
{
    struct event events[2];
    struct writer *writer = NULL;
    struct reader *reader = NULL;
    struct fathom_error err;
    struct build b = {0};
    char *path = temporary_file();
    uint32_t event = UINT32_MAX;
    two_events(events);
    events[1] = events[0];
    events[1].ids = audit_ids;
    events[1].id_count = 1;
    snprintf(events[1].name, sizeof events[1].name, "second-event:u");
    put_comm(&b, "first", 0);
    for (int i = 0; i < 3; i++) {
        if (samples_of_second)
            put_sample(&b, 21, 1000 + i, 0x1000);
        if (samples_of_first)
            put_sample(&b, 12, 2000 + i, 0x1000);
    }
    cr_assert_eq(writer_open(path, events, 2, &writer, &err), 0, "%s", err.text);
    cr_assert_eq(writer_append(writer, b.bytes, b.size, &err), 0, "%s", err.text);
    cr_assert_eq(writer_close(writer, &err), 0, "%s", err.text);
    cr_assert_eq(reader_open(path, NULL, &reader, &err), 0, "%s", err.text);
    cr_assert_eq(reader_main_event(reader, NULL, &event, &err), 0, "%s", err.text);
    reader_close(reader);
    unlink(path);
    free(path);
    return event;
}

Test(file, the_first_event_with_samples_is_the_main_one)
{
    cr_expect_eq(main_event_of(true, true), 0);
    cr_expect_eq(main_event_of(false, true), 1);
    cr_expect_eq(main_event_of(true, false), 0);
    cr_expect_eq(main_event_of(false, false), 0);
}

/* Counts the samples, whose times must ascend, and cuts the file at the first of a pass. */
struct cutting {
    const char *path;
    off_t size; /* to cut it to; -1: not at all */
    uint64_t samples, last;
};

static int count_and_cut(void *context, const struct record *record, struct fathom_error *err)
{
    struct cutting *c = context;
    (void)err;
    if (record->kind != RECORD_SAMPLE)
        return 0;
    if (c->samples++ == 0 && c->size >= 0)
        cr_assert_eq(truncate(c->path, c->size), 0);
    cr_assert_gt(record->time, c->last);
    cr_assert_eq(record->sample.ip, record->time + 7);
    c->last = record->time;
    return 0;
}

/* Rounds of several sizes, of which the reader has to keep some while it reads on. */
static uint64_t write_long(const char *path, struct event *events)
{
    struct writer *writer = NULL;
    uint64_t time = 1000, written = 0;
    two_events(events);
    cr_assert_eq(writer_open(path, events, 2, &writer, NULL), 0);
    for (int round = 0; round < 60; round++) {
        static struct build b;
        int count = round % 10 == 9 ? 8000 : 700;
        for (int i = 0; i < 2 * count; i++) {
            uint64_t at = time + (uint64_t)(i < count ? 2 * i : 2 * (i - count) + 1);
            put_sample(&b, 11, at, at + 7);
            if (i % 200 == 199) {
                cr_assert_eq(writer_append(writer, b.bytes, b.size, NULL), 0);
                b.size = 0;
            }
        }
        put_round(&b);
        time += 2 * (uint64_t)count;
        written += 2 * (uint64_t)count;
        cr_assert_eq(writer_append(writer, b.bytes, b.size, NULL), 0);
        b.size = 0;
    }
    cr_assert_eq(writer_close(writer, NULL), 0);
    return written;
}

Test(file, a_long_recording_is_read_in_blocks)
{
    struct event events[2];
    struct fathom_error err = {0};
    struct reader *reader = NULL;
    struct cutting c = {.size = -1};
    char *path = temporary_file();
    uint64_t written = write_long(path, events);
    cr_assert_eq(reader_open(path, NULL, &reader, &err), 0, "%s", err.text);
    for (int pass = 0; pass < 2; pass++) {
        c.samples = c.last = 0;
        cr_assert_eq(reader_run(reader, count_and_cut, &c, &err), 0, "%s", err.text);
        cr_expect_eq(c.samples, written);
    }
    reader_close(reader);
    unlink(path);
    free(path);
}

Test(file, a_recording_that_is_cut_while_it_is_read_is_an_error)
{
    static const off_t sizes[] = {0, 100, 1 << 20, 3 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct event events[2];
        struct fathom_error err = {0};
        struct reader *reader = NULL;
        char *path = temporary_file();
        struct cutting c = {.path = path, .size = sizes[i]};
        write_long(path, events);
        cr_assert_eq(reader_open(path, NULL, &reader, &err), 0, "%s", err.text);
        cr_expect_eq(reader_run(reader, count_and_cut, &c, &err), -EBADMSG);
        cr_expect_not_null(strstr(err.text, "while it was read"), "%s", err.text);
        reader_close(reader);
        unlink(path);
        free(path);
    }
}
