/* chained.c - see chained.h. Layouts: include/uapi/linux/perf_event.h, enum perf_event_type. */
#include "perfdata/chained.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/text.h"
#include "perfdata/layout.h"
#include "perfdata/writer.h"

#define SAMPLE_TYPE                                                                                          \
    (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD |     \
     PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_WEIGHT)
#define KERNEL_PID UINT32_MAX /* owner of the kernel's mappings */

struct chained {
    struct writer *writer;
    struct event event;
    uint64_t id;
    uint8_t record[RECORD_SIZE_MAX];
    size_t size; /* of the record being made */
};

/* The fields of SAMPLE_TYPE, as sample_id_all puts them at the end of records. */
struct trailer {
    __u32 pid, tid;
    __u64 time, id;
};

struct sample_fields { /* those before the chain */
    struct perf_event_header header;
    __u64 id, ip;
    __u32 pid, tid;
    __u64 time, period, chain_length;
};

struct mmap_fields { /* those before the path */
    struct perf_event_header header;
    __u32 pid, tid;
    __u64 address, length, offset;
    __u8 build_id_size, reserved[3], build_id[20]; /* or device and inode, which are unknown */
    __u32 protection, flags;
};

_Static_assert(sizeof(struct mmap_fields) == 72, "PERF_RECORD_MMAP2");
_Static_assert(sizeof(struct sample_fields) + 8 * (CHAIN_MAX + 1) <= RECORD_SIZE_MAX, "fits into a record");

static void event_of(const struct event *from, uint64_t *id, struct event *out)
{
    *out = *from;
    out->audit = out->stacks = false;
    out->ids = id;
    out->id_count = 1;
    struct perf_event_attr *attr = &out->attr;
    attr->sample_type = SAMPLE_TYPE;
    attr->read_format = 0;
    attr->sample_id_all = 1;
    attr->mmap2 = attr->build_id = 1;
    attr->branch_sample_type = 0;
    attr->sample_regs_user = attr->sample_regs_intr = 0;
    attr->sample_stack_user = 0;
    attr->exclude_callchain_kernel = attr->exclude_callchain_user = 0;
    attr->aux_output = 0;
    attr->aux_sample_size = attr->aux_watermark = 0;
}

static int set_command(struct chained *c, const char *command, struct fathom_error *err)
{
    size_t most = 1;
    for (const char *at = command; *at; at++)
        most += *at == ' ';
    char *line = strdup(command), **words = calloc(most, sizeof *words);
    int rc = line && words ? writer_command(c->writer, (int)text_words(line, words), words, err)
                           : error_memory(err);
    free(words);
    free(line);
    return rc;
}

int chained_new(struct outfile *file, const struct chained_source *source, struct chained **out,
                struct fathom_error *err)
{
    struct chained *c = calloc(1, sizeof *c);
    int rc = c ? 0 : error_memory(err);
    if (rc == 0) {
        c->id = 1;
        event_of(source->event, &c->id, &c->event);
        rc = writer_new(file, &c->event, 1, &c->writer, err);
    }
    if (rc < 0)
        outfile_close(file);
    if (rc == 0) {
        writer_only_whole(c->writer);
        writer_host(c->writer, source->host);
    }
    if (rc == 0 && source->command)
        rc = set_command(c, source->command, err);
    if (rc == 0 && source->tracing)
        rc = writer_tracing_data(c->writer, source->tracing, source->tracing_size, err);
    if (rc < 0) {
        chained_discard(c);
        return rc;
    }
    *out = c;
    return 0;
}

static void put_bytes(struct chained *c, const void *data, size_t size)
{
    memcpy(c->record + c->size, data, size);
    c->size += size;
}

/* Writes the text with its NUL, padded with zeros to a multiple of 8 bytes. */
static void put_text(struct chained *c, const char *text)
{
    size_t size = strlen(text) + 1;
    put_bytes(c, text, size);
    memset(c->record + c->size, 0, -size & 7);
    c->size += -size & 7;
}

static int append_record(struct chained *c, struct fathom_error *err)
{
    uint16_t size = (uint16_t)c->size;
    memcpy(c->record + offsetof(struct perf_event_header, size), &size, sizeof size);
    return writer_append(c->writer, c->record, c->size, err);
}

static void put_mmap(struct chained *c, const struct record *r)
{
    const struct record_mmap *m = &r->mmap;
    struct mmap_fields f = {.header = {.type = PERF_RECORD_MMAP2},
                            .pid = r->pid,
                            .tid = r->tid,
                            .address = m->address,
                            .length = m->length,
                            .offset = m->offset,
                            .build_id_size = m->build_id_size,
                            .protection = PROT_READ | (m->executable ? PROT_EXEC : 0),
                            .flags = MAP_PRIVATE};
    f.header.misc = r->pid == KERNEL_PID ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
    if (!m->executable)
        f.header.misc |= PERF_RECORD_MISC_MMAP_DATA;
    if (m->build_id_size)
        f.header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
    memcpy(f.build_id, m->build_id, sizeof f.build_id);
    put_bytes(c, &f, sizeof f);
    put_text(c, m->path);
}

static void put_comm(struct chained *c, const struct record *r)
{
    struct {
        struct perf_event_header header;
        __u32 pid, tid;
    } f = {{.type = PERF_RECORD_COMM}, r->pid, r->tid};
    f.header.misc = r->comm.exec ? PERF_RECORD_MISC_COMM_EXEC : 0;
    put_bytes(c, &f, sizeof f);
    put_text(c, r->comm.name);
}

static void put_fork(struct chained *c, const struct record *r, uint32_t type)
{
    struct {
        struct perf_event_header header;
        __u32 pid, parent_pid, tid, parent_tid;
        __u64 time;
    } f = {{.type = type}, r->pid, r->fork.parent_pid, r->tid, r->fork.parent_tid, r->time};
    put_bytes(c, &f, sizeof f);
}

static void put_lost(struct chained *c, const struct record *r)
{
    struct {
        struct perf_event_header header;
        __u64 id, lost;
    } f = {{.type = PERF_RECORD_LOST}, c->id, r->lost};
    put_bytes(c, &f, sizeof f);
}

int chained_record(struct chained *c, const struct record *r, struct fathom_error *err)
{
    c->size = 0;
    switch (r->kind) {
    case RECORD_MMAP:
        if (strlen(r->mmap.path) <= RECORD_SIZE_MAX / 2)
            put_mmap(c, r);
        break;
    case RECORD_COMM:
        if (strlen(r->comm.name) <= RECORD_SIZE_MAX / 2)
            put_comm(c, r);
        break;
    case RECORD_FORK:
        put_fork(c, r, PERF_RECORD_FORK);
        break;
    case RECORD_EXIT:
        put_fork(c, r, PERF_RECORD_EXIT);
        break;
    case RECORD_LOST:
        put_lost(c, r);
        break;
    default:
        break;
    }
    if (!c->size)
        return 0;
    struct trailer trailer = {r->pid, r->tid, r->time, c->id};
    put_bytes(c, &trailer, sizeof trailer);
    return append_record(c, err);
}

int chained_sample(struct chained *c, const struct sample *s, const uint64_t *chain, size_t count,
                   uint64_t weight, struct fathom_error *err)
{
    static const uint16_t misc[] = {[SAMPLE_MODE_UNKNOWN] = PERF_RECORD_MISC_CPUMODE_UNKNOWN,
                                    [SAMPLE_MODE_KERNEL] = PERF_RECORD_MISC_KERNEL,
                                    [SAMPLE_MODE_USER] = PERF_RECORD_MISC_USER,
                                    [SAMPLE_MODE_OTHER] = PERF_RECORD_MISC_HYPERVISOR};
    count = count < CHAIN_MAX ? count : CHAIN_MAX;
    struct sample_fields f = {.header = {.type = PERF_RECORD_SAMPLE, .misc = misc[s->mode]},
                              .id = c->id,
                              .ip = s->ip,
                              .pid = s->pid,
                              .tid = s->tid,
                              .time = s->time,
                              .period = s->period,
                              .chain_length = count};
    c->size = 0;
    put_bytes(c, &f, sizeof f);
    put_bytes(c, chain, count * sizeof *chain);
    put_bytes(c, &weight, sizeof weight);
    return append_record(c, err);
}

int chained_close(struct chained *c, struct fathom_error *err)
{
    int rc = writer_close(c->writer, err);
    free(c);
    return rc;
}

void chained_discard(struct chained *c)
{
    if (c && c->writer)
        writer_discard(c->writer);
    free(c);
}
