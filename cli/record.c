/* record.c - `fathom record`: samples of a command or of running processes into a perf.data file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "cli/events.h"
#include "cli/exit.h"
#include "cli/target.h"
#include "image/image.h"
#include "perfdata/writer.h"

#define AUDIT_HZ          10
#define AUDIT_STACK_BYTES 65528

struct record_options {
    struct target target;
    const char *output;
    uint64_t audit_hz, audit_stack;
    uint64_t ring_kib; /* 0: chosen by the collector */
    bool data, list_events;
};

struct recording {
    struct collector *collector;
    struct writer *writer;
    struct decoder *decoder;
    struct names *paths; /* of mapped files, for the build-id section */
    struct terminal *terminal;
};

/* Notes the files that are mapped: their build-ids go into the header for stock perf. */
static int note_mapping(struct recording *r, const void *data, size_t size)
{
    struct record record;
    if (decoder_decode(r->decoder, data, size, &record, NULL) == 0 && record.kind == RECORD_MMAP &&
        record.mmap.executable && record.mmap.path[0] == '/' &&
        names_intern(r->paths, record.mmap.path) == NAMES_NONE)
        return -ENOMEM;
    return 0;
}

static int record_sink(void *context, const void *records, size_t size, struct fathom_error *err)
{
    struct recording *r = context;
    const char *at = records, *end = at + size;
    while (at < end) {
        const struct perf_event_header *header = (const void *)at;
        if ((header->type == PERF_RECORD_MMAP || header->type == PERF_RECORD_MMAP2) &&
            note_mapping(r, at, header->size) < 0)
            return error_memory(err);
        at += header->size;
    }
    return writer_append(r->writer, records, size, err);
}

static void record_progress(void *context)
{
    struct recording *r = context;
    struct collector_summary summary;
    collector_summary(r->collector, &summary);
    terminal_progress(r->terminal, "%llu samples, %.1f MB", (unsigned long long)summary.samples,
                      (double)writer_size(r->writer) / 1e6);
}

static int write_build_ids(struct recording *r, struct fathom_error *err)
{
    for (uint32_t i = 0; i < names_count(r->paths); i++) {
        const char *path = names_text(r->paths, i);
        struct build_id id;
        if (image_read_build_id(path, &id, NULL) == 0 && id.size) {
            int rc = writer_build_id(r->writer, path, id.bytes, id.size, err);
            if (rc < 0)
                return rc;
        }
    }
    return 0;
}

/* Stock perf reads a recording of tracepoints only with their formats. */
static int write_tracing_data(struct recording *r, struct fathom_error *err)
{
    uint8_t *data;
    size_t size;
    int rc = collector_tracing_data(r->collector, &data, &size, err);
    if (rc == 0 && size)
        rc = writer_tracing_data(r->writer, data, size, err);
    if (rc == 0)
        free(data);
    return rc;
}

static void say_summary(struct recording *r, const struct record_options *options)
{
    struct collector_summary s;
    collector_summary(r->collector, &s);
    terminal_say(r->terminal, LOG_NOTE, "%llu samples and %llu audit samples in %s (%.1f MB)",
                 (unsigned long long)s.samples, (unsigned long long)s.audit_samples, options->output,
                 (double)writer_size(r->writer) / 1e6);
    if (s.lost)
        terminal_say(r->terminal, LOG_WARNING,
                     "%llu records were lost: sample less often or use a larger --ring",
                     (unsigned long long)s.lost);
    if (s.throttled)
        terminal_say(r->terminal, LOG_WARNING, "the kernel throttled the event %llu times",
                     (unsigned long long)s.throttled);
    if (s.bases_missing)
        terminal_say(r->terminal, LOG_NOTE, "%llu threads ended before their stack could be located",
                     (unsigned long long)s.bases_missing);
}

static int record_to_file(struct record_options *options, int argc, char **argv, struct terminal *terminal)
{
    struct recording r = {.terminal = terminal};
    struct fathom_error err = {0};
    int code = EXIT_OK;
    struct collector_options collect;
    target_collector(&options->target, terminal, &collect);
    collect.event.data_address = options->data;
    collect.audit_hz = options->audit_hz;
    collect.audit_stack_size = (uint32_t)options->audit_stack;
    collect.ring_bytes = options->ring_kib * 1024;

    int rc = collector_open(&collect, &r.collector, &err);
    if (rc < 0)
        goto out;
    const struct event *events;
    size_t count = collector_events(r.collector, &events);
    r.paths = names_new();
    rc = r.paths ? decoder_new(events, count, &r.decoder, &err) : error_memory(&err);
    if (rc < 0)
        goto out;
    rc = writer_open(options->output, events, count, &r.writer, &err);
    if (rc < 0)
        goto out;
    rc = writer_command(r.writer, argc, argv, &err);
    if (rc == 0)
        rc = write_tracing_data(&r, &err);
    enum target_end end = TARGET_ENDED;
    if (rc == 0)
        rc = target_run(&options->target, r.collector, record_sink, &r, record_progress, &end, &err);
    terminal_progress_end(terminal);
    if (rc == 0)
        rc = write_build_ids(&r, &err);
    /* Closed whatever happened: what was recorded so far stays readable. */
    int status = collector_status(r.collector);
    if (rc == 0)
        say_summary(&r, options);
    int closed = writer_close(r.writer, rc ? NULL : &err);
    if (rc == 0)
        rc = closed;
    if (rc == 0 && options->target.command && status >= 0)
        code = exit_code_of_status(status);
out:
    if (rc < 0) {
        terminal_error(terminal, &err);
        code = exit_code_of(&err);
    }
    decoder_free(r.decoder);
    names_free(r.paths);
    collector_close(r.collector);
    return code;
}

enum { RECORD_AUDIT = TARGET_OWN, RECORD_AUDIT_STACK, RECORD_RING, RECORD_DATA, RECORD_LIST };

static bool take_option(void *context, int option, struct terminal *terminal)
{
    struct record_options *o = context;
    switch (option) {
    case 'o':
        o->output = optarg;
        return true;
    case RECORD_AUDIT:
        return option_number(terminal, "--audit", optarg, 0, 20000, &o->audit_hz);
    case RECORD_AUDIT_STACK:
        return option_number(terminal, "--audit-stack", optarg, 64, 65528, &o->audit_stack);
    case RECORD_RING:
        return option_number(terminal, "--ring", optarg, 4, 1 << 20, &o->ring_kib);
    case RECORD_DATA:
        o->data = true;
        return true;
    case RECORD_LIST:
        o->list_events = true;
        return true;
    default:
        return false;
    }
}

static int record_run(int argc, char **argv, struct terminal *terminal)
{
    static const struct option longs[] = {
        TARGET_LONG,
        {"output", required_argument, NULL, 'o'},
        {"audit", required_argument, NULL, RECORD_AUDIT},
        {"audit-stack", required_argument, NULL, RECORD_AUDIT_STACK},
        {"ring", required_argument, NULL, RECORD_RING},
        {"data", no_argument, NULL, RECORD_DATA},
        {"list-events", no_argument, NULL, RECORD_LIST},
        {0},
    };
    struct record_options options = {
        .output = "perf.data", .audit_hz = AUDIT_HZ, .audit_stack = AUDIT_STACK_BYTES};
    struct target_parser parser = {&record_command, "+o:" TARGET_SHORT, longs, take_option, &options};
    int code = target_parse(&options.target, &parser, argc, argv, terminal);
    if (code < 0 && options.list_events)
        code = events_print();
    if (code < 0)
        code = target_complete(&options.target, &record_command, argc, argv, terminal);
    if (code < 0)
        code = record_to_file(&options, argc, argv, terminal);
    target_free(&options.target);
    return code;
}

const struct command record_command = {
    .name = "record",
    .summary = "sample a command or running processes into a perf.data file",
    .usage =
        "usage: fathom record [OPTIONS] -- COMMAND [ARG...]\n"
        "       fathom record [OPTIONS] -p PID[,PID...]\n"
        "       fathom record [OPTIONS] -t TID[,TID...]\n"
        "       fathom record --list-events\n"
        "\n"
        "Records thread, program counter and stack pointer of each sample; 'fathom report' infers the call\n"
        "paths. The file is a standard perf.data file.\n"
        "\n"
        "  -e, --event EVENT      what to sample: cpu-clock, page-faults, a tracepoint, any libpfm4 name\n"
        "                         (default: cycles, or cpu-clock where there is no PMU)\n"
        "      --list-events      print the events that can be sampled on this machine, and exit\n"
        "  -F, --frequency HZ     samples per second (default for clocks: 1000)\n"
        "  -c, --period N         one sample every N events (clocks: nanoseconds)\n"
        "  -p, --pid PID,...      attach to these processes, their threads and their children\n"
        "  -t, --tid TID,...      attach to these threads only\n"
        "  -o, --output FILE      default: perf.data\n"
        "      --duration S       stop after S seconds (a launched command is then ended)\n"
        "      --audit HZ         stack dumps per second that train the recording on itself\n"
        "                         (default: 10; 0: none)\n"
        "      --audit-stack N    bytes of stack in each (default: 65528, the kernel's maximum)\n"
        "      --ring KIB         ring buffer of each CPU (default: chosen from the event)\n"
        "      --data             record data addresses (page faults, memory events)\n"
        "  -q, --quiet            no progress, no notes\n"
        "  -v, --verbose          say more\n"
        "  -h, --help             this text\n"
        "\n"
        "The exit code is the command's own when the recording worked; see fathom-record(1).\n",
    .run = record_run,
};
