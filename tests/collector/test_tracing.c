/* The formats of tracepoints for stock perf: the bytes, read back as perf reads them. */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "collector/events/event.h"
#include "collector/events/tracefs.h"
#include "collector/events/tracing.h"

static struct event parse(const char *name)
{
    struct event event;
    struct fathom_error err = {0};
    cr_assert_eq(event_parse(&(struct event_options){.name = name}, NULL, &event, &err), 0, "%s", err.text);
    return event;
}

/* A u64 size and that many bytes, among which is `word`. */
static void expect_file(struct bytes *b, const char *word)
{
    uint64_t size = bytes_u64(b);
    const uint8_t *text = bytes_take(b, size);
    cr_assert_not_null(text);
    cr_assert_not_null(memmem(text, size, word, strlen(word)), "no '%s'", word);
}

Test(tracing, the_formats_of_all_tracepoints)
{
    uint64_t id;
    if (tracefs_number("events/sched/sched_switch/id", &id) != 0)
        cr_skip_test("tracefs is neither mounted nor may we mount it");
    struct event events[3] = {parse("sched:sched_switch"), parse("cpu-clock"), parse("sched:sched_wakeup")};
    uint8_t *data;
    size_t size;
    struct fathom_error err;
    cr_assert_eq(tracing_data(events, 3, &data, &size, &err), 0);
    cr_assert_not_null(data);
    struct bytes b = bytes_of(data, size);
    cr_assert_arr_eq(bytes_take(&b, 14), "\x17\x08\x44tracing0.6", 14);
    cr_assert_eq(bytes_u8(&b), 0);
    cr_assert_eq(bytes_u8(&b), 8);
    cr_assert_eq(bytes_u32(&b), 4096);
    cr_assert_str_eq(bytes_string(&b), "header_page");
    expect_file(&b, "field: u64 timestamp");
    cr_assert_str_eq(bytes_string(&b), "header_event");
    expect_file(&b, "type_len");
    cr_assert_eq(bytes_u32(&b), 0);
    cr_assert_eq(bytes_u32(&b), 2);
    for (int i = 0; i < 2; i++) {
        cr_assert_str_eq(bytes_string(&b), "sched");
        cr_assert_eq(bytes_u32(&b), 1);
        expect_file(&b, i ? "name: sched_wakeup\n" : "name: sched_switch\n");
    }
    cr_assert_eq(bytes_u32(&b), 0);
    cr_assert_eq(bytes_u32(&b), 0);
    cr_assert_eq(bytes_u64(&b), 0);
    cr_assert(!b.failed && bytes_left(&b) == 0);
    free(data);
}

Test(tracing, nothing_without_tracepoints)
{
    struct event event = parse("cpu-clock");
    uint8_t *data = (uint8_t *)&event;
    size_t size = 1;
    cr_assert_eq(tracing_data(&event, 1, &data, &size, NULL), 0);
    cr_assert_null(data);
    cr_assert_eq(size, 0);
    /* One that is not there any more: recorded all the same. */
    event.attr.type = PERF_TYPE_TRACEPOINT;
    strcpy(event.name, "sched:no_such_tracepoint");
    cr_assert_eq(tracing_data(&event, 1, &data, &size, NULL), 0);
    cr_assert_null(data);
    strcpy(event.name, "without-a-system");
    cr_assert_eq(tracing_data(&event, 1, &data, &size, NULL), 0);
    cr_assert_null(data);
}
