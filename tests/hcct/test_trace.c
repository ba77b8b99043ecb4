/* test_trace.c - call traces: what is written is read, and what is damaged is refused. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/checksum.h"
#include "hcct/trace.h"

static uint8_t *data;
static size_t size;

/* Two threads: main calls f, which calls g and returns; then another stack; the other thread calls f. */
static void write_trace(unsigned calls)
{
    int fd = memfd_create("trace", MFD_CLOEXEC);
    struct trace_writer *w = trace_writer_new(fd, "a trace");
    static const struct trace_function functions[] = {
        {"/bin/a", "main", 0x1000}, {"/bin/a", "f", 0x2000}, {"/lib/b", "", 0x30}};
    for (size_t i = 0; i < 3; i++)
        cr_assert_eq(trace_write_function(w, &functions[i], NULL), 0);
    cr_assert_eq(trace_write_thread(w, 100, 100, NULL), 0);
    cr_assert_eq(trace_write_place(w, (struct trace_place){0, 0}, NULL), 0);
    cr_assert_eq(trace_write_event(w, TRACE_ENTER, 0, 0, NULL), 0);
    cr_assert_eq(trace_write_place(w, (struct trace_place){1, 0x1010}, NULL), 0);
    for (unsigned i = 0; i < calls; i++) {
        cr_assert_eq(trace_write_event(w, TRACE_ENTER, 1, 5ull << 30, NULL), 0);
        cr_assert_eq(trace_write_event(w, TRACE_EXIT, 1, 0, NULL), 0);
    }
    cr_assert_eq(trace_write_place(w, (struct trace_place){2, 0}, NULL), 0);
    cr_assert_eq(trace_write_event(w, TRACE_EXIT, 1, 0, NULL), 0);
    cr_assert_eq(trace_write_event(w, TRACE_RESUME, 2, 0, NULL), 0);
    cr_assert_eq(trace_write_event(w, TRACE_ENTER, 1, 7, NULL), 0);
    cr_assert_eq(trace_write_thread(w, 100, 101, NULL), 0);
    cr_assert_eq(trace_write_event(w, TRACE_ENTER, 1, 0, NULL), 0);
    cr_assert_eq(trace_writer_end(w, NULL), 0);
    trace_writer_free(w);
    size = (size_t)lseek(fd, 0, SEEK_END);
    data = malloc(size);
    cr_assert_eq(pread(fd, data, size, 0), (ssize_t)size);
    close(fd);
}

static void drop(void)
{
    free(data);
}

Test(trace, is_read_as_it_was_written, .fini = drop)
{
    struct trace t;
    struct fathom_error err = {0};
    write_trace(2);
    cr_assert_eq(trace_parse(data, size, "a trace", &t, &err), 0, "%s", err.text);
    cr_assert_eq(t.function_count, 3);
    cr_expect_str_eq(t.functions[2].image, "/lib/b");
    cr_expect_str_eq(t.functions[2].name, "");
    cr_expect_eq(t.functions[1].address, 0x2000);
    cr_assert_eq(t.place_count, 3);
    cr_expect_eq(t.places[1].function, 1);
    cr_expect_eq(t.places[1].site, 0x1010);
    static const uint32_t events[] = {0, 1, TRACE_RETURN, 1, TRACE_RETURN, TRACE_RETURN, TRACE_RESUMED | 2,
                                      1, 1};
    cr_assert_eq(t.event_count, 9);
    cr_expect_arr_eq(t.events, events, sizeof events);
    cr_expect_eq(t.ticks[1], UINT32_MAX, "the largest that there is");
    cr_expect_eq(t.ticks[7], 7);
    cr_expect_eq(t.entered, 5);
    cr_assert_eq(t.thread_count, 2);
    cr_expect_eq(t.threads[0].end, 8);
    cr_expect_eq(t.threads[1].first, 8);
    cr_expect_eq(t.threads[1].tid, 101);
    trace_free(&t);
}

/* More than one block of events. */
Test(trace, may_be_long, .fini = drop)
{
    struct trace t;
    write_trace(400000);
    cr_expect_gt(size, 2 * TRACE_BLOCK_MAX);
    cr_assert_eq(trace_parse(data, size, "a trace", &t, NULL), 0);
    cr_expect_eq(t.entered, 400003);
    trace_free(&t);
}

Test(trace, is_refused_if_cut_or_changed, .fini = drop)
{
    struct trace t;
    struct fathom_error err = {0};
    write_trace(2);
    for (size_t cut = 0; cut < size; cut++) {
        int rc = trace_parse(data, cut, "a trace", &t, &err);
        cr_expect_eq(rc, cut < TRACE_HEAD ? -ENOMSG : -EBADMSG, "%zu: %d", cut, rc);
        cr_expect_not_null(strstr(err.text, "a trace"));
    }
    for (size_t at = 0; at < size; at++) {
        data[at] ^= 0x10;
        int rc = trace_parse(data, size, "a trace", &t, &err);
        /* The head's last two bytes mean nothing. */
        cr_expect(rc == -EBADMSG || (at < TRACE_HEAD && (rc == -ENOMSG || rc == -ENOTSUP)) || at == 14 ||
                      at == 15,
                  "%zu: %d", at, rc);
        if (rc == 0)
            trace_free(&t);
        data[at] ^= 0x10;
    }
}

/* Blocks whose checksums are right, but what they say is not. */
static int parse_block(uint32_t kind, const char *payload, size_t length)
{
    uint8_t bytes[256] = TRACE_MAGIC "\x01";
    struct trace t;
    struct fathom_error err = {0};
    uint32_t head[2] = {kind, (uint32_t)length};
    uint64_t sum = checksum_of(payload, length);
    memcpy(bytes + TRACE_HEAD, head, sizeof head);
    memcpy(bytes + TRACE_HEAD + 8, &sum, sizeof sum);
    memcpy(bytes + TRACE_HEAD + 16, payload, length);
    int rc = trace_parse(bytes, TRACE_HEAD + 16 + length, "a trace", &t, &err);
    cr_expect_neq(rc, 0);
    cr_expect_eq(err.code, -rc);
    return rc;
}

Test(trace, is_refused_if_it_makes_no_sense)
{
    cr_expect_eq(parse_block(TRACE_FUNCTIONS, "a", 1), -EBADMSG, "not terminated");
    cr_expect_eq(parse_block(TRACE_PLACES, "\0\0", 2), -EBADMSG, "no such function");
    cr_expect_eq(parse_block(TRACE_THREAD, "\1", 1), -EBADMSG, "no thread ID");
    cr_expect_eq(parse_block(TRACE_EVENTS, "\4", 1), -EBADMSG, "of no thread");
    cr_expect_eq(parse_block(TRACE_END, "\1\0\0\0\0\0\0\0", 8), -EBADMSG, "another number");
    cr_expect_eq(parse_block(77, "", 0), -EBADMSG, "an unknown kind");
}
