/*
 * write.c - writes a small recording with two events for the test against stock perf: "write FILE".
 * 200 samples of the first event, 50 of the second with a dump of 16 bytes, at known addresses and times.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "build.h"
#include "perfdata/writer.h"

#define FIELDS                                                                                               \
    (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_INTR)

static struct build b;

static void put_trailer(uint64_t time, uint64_t id)
{
    put32(&b, 4000);
    put32(&b, 4000);
    put64(&b, time);
    put64(&b, id);
}

static void put_start(void)
{
    record_start(&b, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
    put32(&b, 4000);
    put32(&b, 4000);
    put_text(&b, "written");
    put_trailer(0, 0);
    record_end(&b);
    record_start(&b, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
    put32(&b, 4000);
    put32(&b, 4000);
    put64(&b, 0x400000);
    put64(&b, 0x10000);
    put64(&b, 0);
    put(&b, "\x14\0\0\0abcdefghijklmnopqrst", 24);
    put32(&b, PROT_READ | PROT_EXEC);
    put32(&b, MAP_PRIVATE);
    put_text(&b, "/nonexistent/written");
    put_trailer(0, 0);
    record_end(&b);
}

static void put_sample(uint64_t id, uint64_t number)
{
    record_start(&b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
    put64(&b, id);
    put64(&b, 0x401000 + 16 * number);
    put32(&b, 4000);
    put32(&b, 4000);
    put64(&b, 1000000000 + 1000 * number);
    if (id == 2) {
        put64(&b, 16);
        put64(&b, 1);
        put64(&b, 2);
        put64(&b, 16);
    }
    put64(&b, PERF_SAMPLE_REGS_ABI_64);
    put64(&b, 0x7ffc1000);
    put64(&b, 0x7ffc0000);
    put64(&b, 0x401000 + 16 * number);
    record_end(&b);
}

int main(int argc, char **argv)
{
    uint64_t ids[] = {1, 2};
    struct event events[2] = {{.attr = {.type = PERF_TYPE_SOFTWARE,
                                        .config = PERF_COUNT_SW_CPU_CLOCK,
                                        .sample_period = 1000000,
                                        .sample_type = FIELDS,
                                        .sample_regs_intr = 0x1c0,
                                        .exclude_kernel = 1,
                                        .sample_id_all = 1},
                               .name = "first-event:u",
                               .ids = &ids[0],
                               .id_count = 1}};
    events[1] = events[0];
    events[1].ids = &ids[1];
    events[1].attr.sample_type |= PERF_SAMPLE_STACK_USER;
    events[1].attr.sample_stack_user = 16;
    snprintf(events[1].name, sizeof events[1].name, "second-event:u");

    struct writer *writer = NULL;
    struct fathom_error err;
    if (argc != 2 || writer_open(argv[1], events, 2, &writer, &err) < 0) {
        fprintf(stderr, "write: %s\n", argc == 2 ? err.text : "which file?");
        return 1;
    }
    put_start();
    for (uint64_t i = 0; i < 250; i++)
        put_sample(i % 5 == 4 ? 2 : 1, i);
    char *command[] = {(char *)"fathom", (char *)"record", (char *)"two words"};
    int rc = writer_append(writer, b.bytes, b.size, &err);
    if (rc == 0)
        rc = writer_command(writer, 3, command, &err);
    if (rc == 0)
        rc = writer_build_id(writer, "/nonexistent/written", (const uint8_t *)"abcdefghijklmnopqrst", 20,
                             &err);
    int closed = writer_close(writer, rc < 0 ? NULL : &err);
    if (rc < 0 || closed < 0)
        fprintf(stderr, "write: %s\n", err.text);
    return rc < 0 || closed < 0;
}
