/*
 * pebs.c - makes of a recording with stack dumps one of PEBS records at the same moments, as large PEBS writes them:
 * "pebs IN OUT TRUTH". Two clocks alike (the same program, the same weight) have the same contexts.
 *
 *   late     an instruction's record has SP and BP as they are behind it: each sample's PC becomes that of the
 *            instruction before it or, at a function's entry, of the call that led there
 *   batches  the records of 50 samples come at once, behind records of later times, and rounds in between
 *   losses   some batches have LOST or LOST_SAMPLES, and THROTTLE, in their midst; a sample that is lost is not written
 *   groups   (adaptive records) ADDR, WEIGHT_STRUCT, DATA_SRC, TRANSACTION and PHYS_ADDR in each record
 *
 * TRUTH gets a line "function;function;..." for each sample that is written, from the outermost function on. Where the
 * record is of a call, the caller is the innermost. Prints how many samples, of which late, and what was lost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/code/code.h"
#include "perfdata/reader.h"
#include "perfdata/writer.h"
#include "process/unwind.h"
#include "tests/infer/rerecord.h"

#define FRAMES_MOST 4096
#define BATCH       50u
#define PERIOD      10007u
#define LOSE_EVERY  97u /* samples */

#define FIELDS                                                                                               \
    (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |       \
     PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_REGS_INTR |    \
     PERF_SAMPLE_PHYS_ADDR)

struct pebs {
    struct processes *processes;
    struct writer *writer;
    FILE *truth;
    struct build others, batch; /* other records; samples that the CPU still keeps */
    struct unwind_frame frames[FRAMES_MOST];
    uint32_t waiting, based; /* samples in the batch; the thread whose base was told last */
    uint64_t asked, samples, late, calls, lost, throttled;
};

/* The instruction of this function that ends at the PC, found by reading the function from its start. */
static bool before(const struct place *place, struct code_insn *out)
{
    size_t size;
    uint64_t at = image_function(place->image, place->function)->address;
    for (; at < place->address; at += out->length) {
        const uint8_t *code = image_bytes(place->image, at, &size);
        if (!code || !code_read(code, size, at, out))
            return false;
    }
    return at == place->address && out->address + out->length == at && out->kind == CODE_PLAIN;
}

/* The length of the call before a return address. */
static uint64_t call_length(const struct place *place)
{
    struct code_insn insn;
    uint64_t at = image_function(place->image, place->function)->address;
    for (insn.length = 0; at < place->address; at += insn.length) {
        size_t size;
        const uint8_t *code = image_bytes(place->image, at, &size);
        if (!code || !code_read(code, size, at, &insn))
            return 0;
    }
    return at == place->address && (insn.kind == CODE_CALL || insn.kind == CODE_CALL_INDIRECT) ? insn.length
                                                                                               : 0;
}

static void put_sample(struct pebs *p, const struct sample *s, uint64_t ip)
{
    struct build *b = &p->batch;
    record_start(b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP);
    put64(b, RERECORD_ID);
    put64(b, ip);
    put32(b, s->pid);
    put32(b, s->tid);
    put64(b, s->time);
    put64(b, s->sp + 64);                                  /* ADDR */
    put64(b, 35 + (p->samples & 3) + (UINT64_C(7) << 32)); /* WEIGHT_STRUCT: latency, 7 for the instruction */
    put64(b, 0x68100142);                                  /* DATA_SRC: a load that hit L1 */
    put64(b, 0);                                           /* TRANSACTION */
    put64(b, PERF_SAMPLE_REGS_ABI_64);
    put64(b, s->bp);
    put64(b, s->sp);
    put64(b, ip);
    put64(b, 0x1234000 + (s->sp & 4095)); /* PHYS_ADDR */
    record_end(b);
}

/* The stack's base, as our recorder writes it. */
static void put_base(struct pebs *p, const struct sample *s, size_t count)
{
    uint64_t base;
    char name[32];
    if (p->based == s->tid || unwind_base(p->frames, count, &base) != STACK_OWN)
        return;
    snprintf(name, sizeof name, "[stack:%u]", s->tid);
    p->based = s->tid;
    put_mapping(&p->others,
                &(struct record){.kind = RECORD_MMAP,
                                 .pid = s->pid,
                                 .tid = s->tid,
                                 .time = s->time,
                                 .mmap = {.address = base - 0x100000, .length = 0x100000, .path = name}});
}

static void write_truth(struct pebs *p, size_t count, size_t inner)
{
    uint64_t base;
    size_t outer = count; /* a thread's first function is called by clone3, which is above the base */
    if (unwind_base(p->frames, count, &base) == STACK_UNKNOWN)
        base = UINT64_MAX;
    for (size_t i = count; i-- > inner;) {
        const struct place *place = &p->frames[i].place;
        if (p->frames[i].cfa > base)
            continue;
        char name[256];
        image_function_format(place->image, place->function, name, sizeof name);
        fprintf(p->truth, "%s%s", outer-- == count ? "" : ";", name);
    }
    fprintf(p->truth, "\n");
}

/* The records that the kernel writes when the CPU's buffer is taken out late. */
static void put_losses(struct pebs *p, const struct record *record)
{
    bool by_ring = p->lost % 2 == 0;
    record_start(&p->batch, by_ring ? PERF_RECORD_LOST : PERF_RECORD_LOST_SAMPLES, 0);
    if (by_ring)
        put64(&p->batch, RERECORD_ID);
    put64(&p->batch, 1);
    put_trailer(&p->batch, record);
    p->lost++;
    if (p->lost % 4)
        return;
    record_start(&p->batch, PERF_RECORD_THROTTLE, 0);
    put64(&p->batch, record->time);
    put64(&p->batch, RERECORD_ID);
    put64(&p->batch, RERECORD_ID);
    put_trailer(&p->batch, record);
    p->throttled++;
}

static void take_sample(struct pebs *p, const struct record *record)
{
    const struct sample *s = &record->sample;
    const struct process *process = process_find(p->processes, s->pid);
    enum unwind_end end;
    size_t count = unwind_sample(process, s, p->frames, FRAMES_MOST, &end);
    if (!count || end != UNWIND_ROOT || p->frames[0].place.function == IMAGE_NO_FUNCTION)
        return;
    put_base(p, s, count);
    if (++p->asked % LOSE_EVERY == 0) {
        put_losses(p, record);
        return;
    }
    const struct place *place = &p->frames[0].place;
    struct code_insn insn;
    uint64_t back;
    if (place->address == image_function(place->image, place->function)->address && count > 1 &&
        (back = call_length(&p->frames[1].place))) {
        put_sample(p, s, p->frames[1].pc - back);
        p->calls++;
    } else if (before(place, &insn)) {
        put_sample(p, s, s->reg_ip - insn.length);
        p->late++;
        back = 0;
    } else {
        return; /* behind a jump or a return: not known which */
    }
    write_truth(p, count, back ? 1 : 0);
    p->samples++;
    p->waiting++;
}

static int write_batch(struct pebs *p, struct fathom_error *err)
{
    record_start(&p->batch, 68, 0); /* FINISHED_ROUND */
    record_end(&p->batch);
    int rc = writer_append(p->writer, p->batch.bytes, p->batch.size, err);
    p->batch.size = 0;
    p->waiting = 0;
    return rc;
}

static int take(void *pebs, const struct record *record, struct fathom_error *err)
{
    struct pebs *p = pebs;
    int rc = record->kind == RECORD_SAMPLE ? 0 : processes_apply(p->processes, record, err);
    if (record->kind != RECORD_SAMPLE)
        put_other(&p->others, record);
    else if (record->sample.stack && record->sample.has_regs)
        take_sample(p, record);
    if (rc == 0 && p->others.size)
        rc = writer_append(p->writer, p->others.bytes, p->others.size, err);
    p->others.size = 0;
    return rc == 0 && p->waiting == BATCH ? write_batch(p, err) : rc;
}

static int run(struct pebs *p, const char *in, const char *out, struct fathom_error *err)
{
    static const struct log log;
    static uint64_t ids[] = {RERECORD_ID};
    const struct event event = {.attr = {.type = PERF_TYPE_RAW,
                                         .size = sizeof(struct perf_event_attr),
                                         .config = 0x20d1,
                                         .sample_period = PERIOD,
                                         .sample_type = FIELDS,
                                         .sample_regs_intr = 0x1c0,
                                         .precise_ip = 2,
                                         .exclude_kernel = 1,
                                         .sample_id_all = 1},
                                .name = "mem_load_retired.l3_miss:upp",
                                .ids = ids,
                                .id_count = 1};
    struct reader *reader = NULL;
    struct image_cache *images = image_cache_new(&(struct image_options){.log = &log});
    p->processes = images ? processes_new(images, &log) : NULL;
    int rc = p->processes ? reader_open(in, &log, &reader, err) : error_memory(err);
    if (rc == 0)
        rc = writer_open(out, &event, 1, &p->writer, err);
    if (rc == 0)
        rc = reader_run(reader, take, p, err);
    if (rc == 0)
        rc = write_batch(p, err);
    if (rc == 0)
        rc = writer_close(p->writer, err);
    processes_free(p->processes);
    reader_close(reader);
    image_cache_free(images);
    return rc;
}

int main(int argc, char **argv)
{
    struct fathom_error err;
    struct pebs *p = calloc(1, sizeof *p);
    if (!p || argc != 4 || !(p->truth = fopen(argv[3], "w"))) {
        fprintf(stderr, "usage: pebs IN OUT TRUTH\n");
        return 2;
    }
    int rc = run(p, argv[1], argv[2], &err);
    if (rc < 0)
        fprintf(stderr, "pebs: %s\n", err.text);
    fclose(p->truth);
    printf("samples %llu\nlate %llu\ncalls %llu\nlost %llu\nthrottled %llu\n", (unsigned long long)p->samples,
           (unsigned long long)p->late, (unsigned long long)p->calls, (unsigned long long)p->lost,
           (unsigned long long)p->throttled);
    free(p);
    return rc < 0;
}
