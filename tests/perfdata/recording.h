/* recording.h - for the tests: temporary files, and a sink that keeps what the reader delivers. */
#ifndef FATHOM_TESTS_PERFDATA_RECORDING_H
#define FATHOM_TESTS_PERFDATA_RECORDING_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "build.h"
#include "perfdata/reader.h"
#include "perfdata/writer.h"

/* A new empty file; the caller removes it and frees the name. */
static inline char *temporary_file(void)
{
    const char *directory = getenv("TMPDIR");
    char *path = NULL;
    cr_assert(asprintf(&path, "%s/fathom-perfdata.XXXXXX", directory ? directory : "/tmp") > 0);
    int fd = mkstemp(path);
    cr_assert(fd >= 0);
    close(fd);
    return path;
}

static inline void put_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "w");
    cr_assert(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

/* The bytes of a file; the caller frees them. */
static inline uint8_t *get_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "r");
    cr_assert(file && fseek(file, 0, SEEK_END) == 0);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *data = malloc(*size + 1);
    cr_assert(data && fread(data, 1, *size, file) == *size);
    fclose(file);
    return data;
}

#define KEPT_MAX 4096

struct kept {
    size_t count;
    struct {
        uint32_t type, tid;
        uint64_t time, ip;
        uint32_t event;
    } records[KEPT_MAX];
};

static inline int keep(void *context, const struct record *record, struct fathom_error *err)
{
    struct kept *kept = context;
    (void)err;
    cr_assert_lt(kept->count, KEPT_MAX);
    kept->records[kept->count].type = record->type;
    kept->records[kept->count].tid = record->tid;
    kept->records[kept->count].time = record->time;
    if (record->kind == RECORD_SAMPLE) {
        kept->records[kept->count].ip = record->sample.ip;
        kept->records[kept->count].event = record->sample.event;
    }
    kept->count++;
    return 0;
}

/* Reads a whole file. 0, or what reader_open() said. */
static inline int read_file(const char *path, struct kept *kept, struct reader_summary *summary,
                            struct fathom_error *err)
{
    struct reader *reader = NULL;
    kept->count = 0;
    int rc = reader_open(path, NULL, &reader, err);
    if (rc < 0)
        return rc;
    cr_assert_eq(reader_run(reader, keep, kept, err), 0);
    reader_summary(reader, summary);
    reader_close(reader);
    return 0;
}

static uint64_t main_ids[] = {11, 12}, audit_ids[] = {21};

/* What `fathom record` has: a main event and a slow clock with dumps. */
static inline void two_events(struct event *events)
{
    events[0] =
        (struct event){.attr = {.type = PERF_TYPE_SOFTWARE,
                                .size = sizeof(struct perf_event_attr),
                                .config = PERF_COUNT_SW_CPU_CLOCK,
                                .sample_period = 1000000,
                                .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                                               PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_INTR,
                                .sample_regs_intr = 0x1c0,
                                .exclude_kernel = 1,
                                .sample_id_all = 1,
                                .mmap = 1,
                                .mmap2 = 1,
                                .comm = 1,
                                .task = 1},
                       .name = "first-event:u",
                       .ids = main_ids,
                       .id_count = 2};
    events[1] = events[0];
    events[1].attr.sample_type |= PERF_SAMPLE_STACK_USER;
    events[1].attr.sample_stack_user = 16;
    events[1].ids = audit_ids;
    events[1].id_count = 1;
    snprintf(events[1].name, sizeof events[1].name, "second-event:u");
}

static inline void put_sample(struct build *b, uint64_t id, uint64_t time, uint64_t ip)
{
    record_start(b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
    put64(b, id);
    put64(b, ip);
    put32(b, 100);
    put32(b, 101);
    put64(b, time);
    if (id == 21) {
        put64(b, 16);
        put64(b, 0x51ac);
        put64(b, 0x51ad);
        put64(b, 16);
    }
    put64(b, PERF_SAMPLE_REGS_ABI_64);
    put64(b, 0x7ffc0010);
    put64(b, 0x7ffc0000);
    put64(b, ip);
    record_end(b);
}

static inline void put_comm(struct build *b, const char *name, uint64_t time)
{
    record_start(b, PERF_RECORD_COMM, 0);
    put32(b, 100);
    put32(b, 101);
    put_text(b, name);
    put32(b, 100);
    put32(b, 101);
    put64(b, time);
    put64(b, time ? 11 : 0);
    record_end(b);
}

static inline void put_round(struct build *b)
{
    record_start(b, 68, 0);
    record_end(b);
}

#endif
