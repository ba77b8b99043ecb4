/* Recordings with call chains: read again, they say what was put in. */
#include "recording.h"

#include <string.h>

#include "perfdata/chained.h"
#include "perfdata/host.h"

struct seen {
    uint32_t mappings, names, forks, exits, losses, samples, others;
    struct record last; /* of the samples */
    uint64_t chain[3];
    char path[64];
};

static int see(void *context, const struct record *r, struct fathom_error *err)
{
    struct seen *seen = context;
    (void)err;
    switch (r->kind) {
    case RECORD_MMAP:
        seen->mappings++;
        snprintf(seen->path, sizeof seen->path, "%s", r->mmap.path);
        cr_expect(r->mmap.executable && r->mmap.address == 0x400000 && r->mmap.length == 0x2000);
        cr_expect(r->mmap.offset == 0x1000 && r->mmap.build_id_size == 20 && r->mmap.build_id[19] == 7);
        cr_expect(r->pid == 10 && r->tid == 10 && r->time == 5);
        break;
    case RECORD_COMM:
        seen->names++;
        cr_expect(r->comm.exec && strcmp(r->comm.name, "a name") == 0 && r->tid == 11 && r->time == 6);
        break;
    case RECORD_FORK:
    case RECORD_EXIT:
        *(r->kind == RECORD_FORK ? &seen->forks : &seen->exits) += 1;
        cr_expect(r->pid == 12 && r->tid == 13 && r->fork.parent_pid == 10 && r->fork.parent_tid == 11);
        break;
    case RECORD_LOST:
        seen->losses++;
        cr_expect_eq(r->lost, 99);
        break;
    case RECORD_SAMPLE:
        seen->samples++;
        seen->last = *r;
        memcpy(seen->chain, r->sample.callchain,
               (r->sample.callchain_count < 3 ? r->sample.callchain_count : 3) * sizeof *seen->chain);
        break;
    default:
        seen->others++;
    }
    return 0;
}

/* An event with all that the samples will not have. */
static struct event rich_event(void)
{
    struct event e = {.name = "cpu-clock:u", .stacks = true};
    e.attr.type = PERF_TYPE_SOFTWARE;
    e.attr.size = sizeof e.attr;
    e.attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_READ | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |
                         PERF_SAMPLE_BRANCH_STACK;
    e.attr.sample_regs_user = 0x1c0;
    e.attr.sample_stack_user = 1024;
    e.attr.read_format = 7;
    e.attr.exclude_callchain_user = 1;
    return e;
}

/* Not this machine. */
static const struct host elsewhere = {
    .name = {.nodename = "there", .release = "5.4.3-two", .machine = "x86_64"},
    .cpu = "A processor",
    .cpuid = "GenuineIntel,6,1,2",
    .memory = 4711,
    .cpus_available = 77,
    .cpus_online = 76};

static struct chained *begin(const char *path)
{
    struct event event = rich_event();
    struct outfile *file;
    struct chained *chained;
    struct fathom_error err = {0};
    cr_assert_eq(outfile_open(path, &file, &err), 0, "%s", err.text);
    const struct chained_source source = {.event = &event,
                                          .command = "it 'is a' command",
                                          .host = &elsewhere,
                                          .tracing = "formats",
                                          .tracing_size = 7};
    cr_assert_eq(chained_new(file, &source, &chained, &err), 0, "%s", err.text);
    return chained;
}

static struct seen read_again(const char *path)
{
    struct seen seen = {0};
    struct reader *reader;
    struct fathom_error err = {0};
    const struct event *events;
    cr_assert_eq(reader_open(path, NULL, &reader, &err), 0, "%s", err.text);
    cr_expect_eq(reader_events(reader, &events), 1);
    cr_expect_str_eq(events[0].name, "cpu-clock:u");
    cr_expect_str_eq(reader_command(reader), "it 'is a' command");
    size_t tracing_size;
    const void *tracing = reader_tracing_data(reader, &tracing_size);
    cr_expect(tracing && tracing_size == 7 && memcmp(tracing, "formats", 7) == 0);
    const struct host *host = reader_host(reader);
    cr_expect_str_eq(host->name.nodename, "there");
    cr_expect_str_eq(reader_kernel(reader), "5.4.3-two");
    cr_expect_str_eq(host->name.machine, "x86_64");
    cr_expect_str_eq(host->cpu, "A processor");
    cr_expect_str_eq(host->cpuid, "GenuineIntel,6,1,2");
    cr_expect(host->memory == 4711 && host->cpus_available == 77 && host->cpus_online == 76);
    cr_assert_eq(reader_run(reader, see, &seen, &err), 0, "%s", err.text);
    struct reader_summary summary;
    reader_summary(reader, &summary);
    cr_expect(!summary.damaged && !summary.truncated);
    reader_close(reader);
    return seen;
}

Test(chained, all_kinds_of_records)
{
    char *path = temporary_file();
    struct chained *c = begin(path);
    struct record r = {.kind = RECORD_MMAP, .pid = 10, .tid = 10, .time = 5};
    r.mmap = (struct record_mmap){0x400000, 0x2000, 0x1000, true, 20, {[19] = 7}, "/a/path", 0, 0, 0};
    cr_expect_eq(chained_record(c, &r, NULL), 0);
    r = (struct record){.kind = RECORD_COMM, .pid = 10, .tid = 11, .time = 6, .comm = {"a name", true}};
    cr_expect_eq(chained_record(c, &r, NULL), 0);
    r = (struct record){.kind = RECORD_FORK, .pid = 12, .tid = 13, .time = 7, .fork = {10, 11}};
    cr_expect_eq(chained_record(c, &r, NULL), 0);
    r.kind = RECORD_EXIT;
    cr_expect_eq(chained_record(c, &r, NULL), 0);
    r = (struct record){.kind = RECORD_LOST, .time = 8, .lost = 99};
    cr_expect_eq(chained_record(c, &r, NULL), 0);
    r = (struct record){.kind = RECORD_THROTTLE, .time = 9};
    cr_expect_eq(chained_record(c, &r, NULL), 0);
    struct sample s = {
        .pid = 10, .tid = 11, .time = 12, .ip = 0x400010, .mode = SAMPLE_MODE_USER, .period = 77};
    cr_expect_eq(chained_sample(c, &s, (uint64_t[]){PERF_CONTEXT_USER, 0x400010, 0x400020}, 3, 85, NULL), 0);
    cr_assert_eq(chained_close(c, NULL), 0);
    struct seen seen = read_again(path);
    cr_expect(seen.mappings == 1 && seen.names == 1 && seen.forks == 1 && seen.exits == 1);
    cr_expect(seen.losses == 1 && seen.samples == 1 && seen.others == 0);
    cr_expect_str_eq(seen.path, "/a/path");
    const struct sample *got = &seen.last.sample;
    cr_expect(got->pid == 10 && got->tid == 11 && got->time == 12 && got->ip == 0x400010);
    cr_expect(got->mode == SAMPLE_MODE_USER && got->period == 77 && got->weight == 85);
    cr_expect(got->callchain_count == 3 && seen.chain[0] == PERF_CONTEXT_USER && seen.chain[2] == 0x400020);
    cr_expect(!got->has_regs && !got->stack);
    unlink(path);
    free(path);
}

/* A chain or a path that no record can hold. */
Test(chained, what_is_too_long)
{
    static uint64_t chain[CHAIN_MAX + 1000];
    static char name[65536];
    memset(name, 'x', sizeof name - 1);
    char *path = temporary_file();
    struct chained *c = begin(path);
    struct record r = {.kind = RECORD_MMAP, .time = 1, .mmap = {.length = 1, .path = name}};
    cr_expect_eq(chained_record(c, &r, NULL), 0);
    r = (struct record){.kind = RECORD_COMM, .time = 1, .comm = {.name = name}};
    cr_expect_eq(chained_record(c, &r, NULL), 0);
    struct sample s = {.time = 2};
    cr_expect_eq(chained_sample(c, &s, chain, CHAIN_MAX + 1000, 0, NULL), 0);
    cr_assert_eq(chained_close(c, NULL), 0);
    struct seen seen = read_again(path);
    cr_expect(seen.mappings == 0 && seen.names == 0 && seen.samples == 1);
    cr_expect_eq(seen.last.sample.callchain_count, CHAIN_MAX);
    unlink(path);
    free(path);
}
