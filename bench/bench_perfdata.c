/*
 * bench_perfdata.c - records per second through reader_run(): 2 million samples of 72 bytes from two rings,
 * with a round every 20,000 samples, and the same without rounds.
 *
 * Prints "name TAB value TAB unit TAB limit" lines.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "perfdata/reader.h"
#include "perfdata/writer.h"

#define SAMPLES  2000000
#define PER_RING 10000 /* samples of one ring in one round */

struct sample72 { /* what `fathom record` writes for each sample */
    struct perf_event_header header;
    uint64_t identifier, ip;
    uint32_t pid, tid;
    uint64_t time, abi, bp, sp, reg_ip;
};
_Static_assert(sizeof(struct sample72) == 72, "the size of a sample");

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void die(const struct fathom_error *err)
{
    fprintf(stderr, "bench_perfdata: %s\n", err->text);
    exit(1);
}

static void write_recording(const char *path, bool rounds)
{
    uint64_t ids[] = {1, 2};
    struct event event = {.attr = {.type = PERF_TYPE_SOFTWARE,
                                   .config = PERF_COUNT_SW_CPU_CLOCK,
                                   .sample_period = 1000000,
                                   .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                                                  PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_INTR,
                                   .sample_regs_intr = 0x1c0,
                                   .sample_id_all = 1},
                          .name = "cpu-clock:u",
                          .ids = ids,
                          .id_count = 2};
    struct sample72 sample = {.header = {PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof sample},
                              .pid = 100,
                              .tid = 100,
                              .abi = PERF_SAMPLE_REGS_ABI_64};
    struct perf_event_header round = {68, 0, sizeof round};
    struct writer *writer;
    struct fathom_error err;
    if (writer_open(path, &event, 1, &writer, &err) < 0)
        die(&err);
    for (uint64_t at = 0; at < SAMPLES; at += 2 * PER_RING) {
        for (uint64_t ring = 0; ring < 2; ring++)
            for (uint64_t i = 0; i < PER_RING; i++) {
                sample.identifier = 1 + ring;
                sample.time = 1000 + (at + 2 * i + ring) * 50;
                sample.ip = sample.reg_ip = 0x401000 + i % 4096;
                sample.sp = sample.bp = 0x7ffc00000000 - i % 512 * 8;
                if (writer_append(writer, &sample, sizeof sample, &err) < 0)
                    die(&err);
            }
        if (rounds && writer_append(writer, &round, sizeof round, &err) < 0)
            die(&err);
    }
    if (writer_close(writer, &err) < 0)
        die(&err);
}

struct sum {
    uint64_t samples, last_time, ips;
};

static int add(void *context, const struct record *record, struct fathom_error *err)
{
    struct sum *sum = context;
    if (record->time < sum->last_time)
        return error_set(err, EBADMSG, "a record came out of order");
    sum->last_time = record->time;
    sum->samples += record->kind == RECORD_SAMPLE;
    sum->ips += record->sample.ip;
    return 0;
}

/* The best of five, the file in the page cache. */
static double read_recording(const char *path)
{
    double best = 1e9;
    for (int i = 0; i < 5; i++) {
        struct reader *reader;
        struct fathom_error err;
        struct sum sum = {0};
        double start = seconds();
        if (reader_open(path, NULL, &reader, &err) < 0 || reader_run(reader, add, &sum, &err) < 0)
            die(&err);
        reader_close(reader);
        double took = seconds() - start;
        if (sum.samples != SAMPLES) {
            fprintf(stderr, "bench_perfdata: %llu samples came back\n", (unsigned long long)sum.samples);
            exit(1);
        }
        best = took < best ? took : best;
    }
    return best;
}

int main(void)
{
    char path[] = "/tmp/fathom-bench.XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0) {
        perror("bench_perfdata");
        return 1;
    }
    close(fd);
    double start = seconds();
    write_recording(path, true);
    printf("perfdata_write\t%.1f\tns/record\t\n", (seconds() - start) / SAMPLES * 1e9);
    double took = read_recording(path);
    printf("perfdata_read\t%.2f\tmillion records/s\t3.3\n", SAMPLES / took / 1e6);
    printf("perfdata_read_time\t%.1f\tns/record\t300\n", took / SAMPLES * 1e9);
    write_recording(path, false);
    printf("perfdata_read_no_rounds\t%.1f\tns/record\t\n", read_recording(path) / SAMPLES * 1e9);
    unlink(path);
    return 0;
}
