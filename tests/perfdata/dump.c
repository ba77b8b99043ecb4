/*
 * dump.c - prints what the reader sees of a recording, for the tests against stock perf:
 * "dump FILE" a summary, "dump -r FILE" a line for each record too.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "perfdata/reader.h"

struct tally {
    bool records;
    const struct event *events;
    size_t event_count;
    uint64_t by_event[64];
    uint64_t with_registers, with_stack, cut, with_chain, maps, comms, forks, backwards, last_time;
};

static void print_record(const struct record *record, const struct tally *tally)
{
    printf("record %u pid %u tid %u time %" PRIu64, record->type, record->pid, record->tid, record->time);
    if (record->kind == RECORD_SAMPLE)
        printf(" sample %s ip %" PRIx64 " sp %" PRIx64 " bp %" PRIx64 " period %" PRIu64 " stack %u chain %u",
               tally->events[record->sample.event].name, record->sample.ip, record->sample.sp,
               record->sample.bp, record->sample.period, record->sample.stack_size,
               record->sample.callchain_count);
    else if (record->kind == RECORD_MMAP)
        printf(" mmap %" PRIx64 "+%" PRIx64 " at %" PRIx64 " %c build-id %u %s", record->mmap.address,
               record->mmap.length, record->mmap.offset, record->mmap.executable ? 'x' : '-',
               record->mmap.build_id_size, record->mmap.path);
    else if (record->kind == RECORD_COMM)
        printf(" comm %s%s", record->comm.name, record->comm.exec ? " exec" : "");
    putchar('\n');
}

static int count(void *context, const struct record *record, struct fathom_error *err)
{
    struct tally *tally = context;
    (void)err;
    if (tally->records)
        print_record(record, tally);
    if (record->time) {
        tally->backwards += record->time < tally->last_time;
        tally->last_time = record->time;
    }
    tally->maps += record->kind == RECORD_MMAP;
    tally->comms += record->kind == RECORD_COMM;
    tally->forks += record->kind == RECORD_FORK;
    if (record->kind == RECORD_SAMPLE) {
        if (record->sample.event < 64)
            tally->by_event[record->sample.event]++;
        tally->with_registers += record->sample.has_regs;
        tally->with_stack += record->sample.stack != NULL;
        tally->cut += record->sample.stack_cut;
        tally->with_chain += record->sample.callchain != NULL;
    }
    return 0;
}

static void warn(void *context, enum log_level level, const char *text)
{
    (void)context;
    (void)level;
    fprintf(stderr, "dump: %s\n", text);
}

int main(int argc, char **argv)
{
    struct tally tally = {.records = argc > 2 && strcmp(argv[1], "-r") == 0};
    const struct log log = {.sink = warn};
    struct reader *reader = NULL;
    struct fathom_error err;
    if (argc < 2 || reader_open(argv[argc - 1], &log, &reader, &err) < 0) {
        fprintf(stderr, "dump: %s\n", argc < 2 ? "which file?" : err.text);
        return 1;
    }
    tally.event_count = reader_events(reader, &tally.events);
    int rc = reader_run(reader, count, &tally, &err);
    if (rc < 0)
        fprintf(stderr, "dump: %s\n", err.text);
    struct reader_summary summary;
    reader_summary(reader, &summary);
    printf("command %s\n", reader_command(reader) ? reader_command(reader) : "");
    for (size_t i = 0; i < tally.event_count && i < 64; i++)
        printf("event %s ids %zu samples %" PRIu64 "%s\n", tally.events[i].name, tally.events[i].id_count,
               tally.by_event[i], tally.events[i].audit ? " audit" : "");
    printf("records %" PRIu64 "\nsamples %" PRIu64 "\nlost %" PRIu64 "\nthrottled %" PRIu64
           "\ndamaged %" PRIu64 "\ntruncated %d\ncompressed %d\npipe %d\n",
           summary.records, summary.samples, summary.lost, summary.throttled, summary.damaged,
           summary.truncated, summary.compressed, summary.pipe);
    printf("registers %" PRIu64 "\nstacks %" PRIu64 "\ncut %" PRIu64 "\nchains %" PRIu64 "\nmaps %" PRIu64
           "\ncomms %" PRIu64 "\nforks %" PRIu64 "\nbackwards %" PRIu64 "\n",
           tally.with_registers, tally.with_stack, tally.cut, tally.with_chain, tally.maps, tally.comms,
           tally.forks, tally.backwards);
    reader_close(reader);
    return rc < 0;
}
