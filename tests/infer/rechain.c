/*
 * rechain.c - makes of a recording with stack dumps one with call chains, as the kernel or the processor would have
 * recorded them at the same moments: "rechain fp|calls DEPTH regs|bare IN OUT". (pebs.c makes one of PEBS records.)
 *
 *   fp     the chain that following frame pointers gives (perf_callchain_user() in arch/x86/events/core.c)
 *   calls  the DEPTH innermost calls that have not returned, as branch stacks of call-stack mode hold them
 *   regs   with SP, IP and BP; bare: without
 *
 * Each sample's chain is also proved (infer/chains/proof.h) and compared with its unwound stack, frame by frame:
 * prints how many are proved whole, in part, not at all, and how many of them are wrong.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "infer/chains/proof.h"
#include "perfdata/reader.h"
#include "perfdata/writer.h"
#include "process/frame.h"
#include "process/unwind.h"
#include "tests/infer/rerecord.h"

#define FRAMES_MOST 4096
#define CHAIN_MOST  127 /* kernel.perf_event_max_stack */

struct rechain {
    enum chain_source source;
    uint32_t depth;
    bool regs;
    struct processes *processes;
    struct prover *prover;
    struct writer *writer;
    struct build b;
    struct unwind_frame truth[FRAMES_MOST], found[FRAMES_MOST];
    uint64_t chain[CHAIN_MOST + 1];
    uint8_t branches[CHAIN_MOST][SAMPLE_BRANCH];
    uint64_t samples, whole, part, none, wrong, unknown;
};

/* As perf_callchain_user() walks. */
static uint32_t follow_frames(struct rechain *r, const struct sample *sample)
{
    const struct frame frame = {sample, sample->sp, sample->bp, true};
    uint32_t count = 0;
    uint64_t bp = sample->bp, back, next;
    r->chain[count++] = (uint64_t)PERF_CONTEXT_USER;
    r->chain[count++] = sample->reg_ip;
    while (count < CHAIN_MOST && frame_read(&frame, bp, &next) && frame_read(&frame, bp + 8, &back)) {
        r->chain[count++] = back;
        bp = next;
    }
    return count;
}

static const struct call_site *site_of(struct image_calls *calls, const struct unwind_frame *frame)
{
    const struct calls *its = NULL;
    if (image_calls_of(calls, frame->place.image, &its) < 0)
        return NULL;
    return its ? calls_before(its, frame->place.address) : NULL;
}

/* The calls that led to the frames, from the innermost on. A call by a PLT leads to its stub. */
static uint32_t list_calls(struct rechain *r, struct image_calls *calls, size_t frames)
{
    uint32_t count = 0;
    for (size_t i = 1; i < frames && count < r->depth; i++) {
        const struct place *inner = &r->truth[i - 1].place;
        const struct call_site *site = site_of(calls, &r->truth[i]);
        if (!site || inner->function == IMAGE_NO_FUNCTION)
            break;
        const uint64_t from = r->truth[i].pc - (site->next - site->address);
        const uint64_t entry = image_function(inner->image, inner->function)->address;
        uint64_t to = r->truth[i - 1].pc - inner->address + entry;
        if (site->target && site->kind != CALL_INDIRECT)
            to = r->truth[i].pc - site->next + site->target;
        memset(r->branches[count], 0, SAMPLE_BRANCH);
        memcpy(r->branches[count], &from, sizeof from);
        memcpy(r->branches[count] + sizeof from, &to, sizeof to);
        count++;
    }
    return count;
}

static void put_sample(struct rechain *r, const struct sample *sample)
{
    struct build *b = &r->b;
    record_start(b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
    put64(b, RERECORD_ID);
    put64(b, sample->ip);
    put32(b, sample->pid);
    put32(b, sample->tid);
    put64(b, sample->time);
    put64(b, sample->period);
    put64(b, sample->callchain_count);
    put(b, sample->callchain, sample->callchain_count * sizeof *sample->callchain);
    if (r->source == CHAIN_CALLS) {
        put64(b, sample->branch_count);
        put(b, sample->branches, (size_t)sample->branch_count * SAMPLE_BRANCH);
    }
    if (r->regs) {
        put64(b, PERF_SAMPLE_REGS_ABI_64);
        put64(b, sample->bp);
        put64(b, sample->sp);
        put64(b, sample->reg_ip);
    }
    record_end(b);
}

/* Whether the proved stack has the true frames, the innermost ones if it is a part. */
static bool is_right(struct rechain *r, const struct process *process, const struct sample *made,
                     size_t frames, bool whole)
{
    enum unwind_end end;
    size_t count = unwind_sample(process, made, r->found, FRAMES_MOST, &end);
    if (count == 0 || count > frames + 1 || (whole && count + 1 < frames))
        return false;
    for (size_t i = 0; i < count && i < frames; i++)
        if (r->found[i].pc != r->truth[i].pc)
            return false;
    return true;
}

static void prove(struct rechain *r, struct image_calls *calls, const struct process *process,
                  const struct sample *dumped)
{
    enum unwind_end end;
    size_t frames = unwind_sample(process, dumped, r->truth, FRAMES_MOST, &end);
    if (end != UNWIND_ROOT || frames == 0) {
        r->unknown++;
        return;
    }
    struct sample sample = *dumped, made;
    sample.callchain = r->chain;
    sample.callchain_count = follow_frames(r, dumped);
    sample.stack = NULL;
    sample.stack_size = 0;
    if (r->source == CHAIN_CALLS) {
        sample.branch_count = list_calls(r, calls, frames);
        sample.branches = r->branches[0];
    }
    sample.has_regs = r->regs;
    put_sample(r, &sample);
    r->samples++;
    enum proof_extent extent = prover_prove(r->prover, process, &sample, r->source, &made);
    r->whole += extent == PROOF_WHOLE;
    r->part += extent == PROOF_PART;
    r->none += extent == PROOF_NONE;
    if (extent != PROOF_NONE && !is_right(r, process, &made, frames, extent == PROOF_WHOLE))
        r->wrong++;
}

struct context {
    struct rechain *r;
    struct image_calls *calls;
};

static int take(void *context, const struct record *record, struct fathom_error *err)
{
    struct context *c = context;
    struct rechain *r = c->r;
    int rc = 0;
    if (record->kind != RECORD_SAMPLE) {
        put_other(&r->b, record);
        rc = processes_apply(r->processes, record, err);
    } else if (record->sample.stack && record->sample.has_regs) {
        prove(r, c->calls, process_find(r->processes, record->sample.pid), &record->sample);
    }
    if (rc == 0 && r->b.size)
        rc = writer_append(r->writer, r->b.bytes, r->b.size, err);
    r->b.size = 0;
    return rc;
}

static struct event event_of(const struct rechain *r, const struct event *recorded)
{
    static uint64_t ids[] = {RERECORD_ID};
    struct event event = *recorded;
    event.ids = ids;
    event.id_count = 1;
    event.attr.exclude_callchain_user = 0; /* as with --call-graph fp, not dwarf */
    event.attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                             PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN;
    if (r->source == CHAIN_CALLS) {
        event.attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
        event.attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK;
    }
    if (r->regs) {
        event.attr.sample_type |= PERF_SAMPLE_REGS_INTR;
        event.attr.sample_regs_intr = 0x1c0;
    }
    event.attr.sample_stack_user = 0;
    event.attr.sample_regs_user = 0;
    event.attr.sample_id_all = 1;
    return event;
}

static int run(struct rechain *r, const char *in, const char *out, struct fathom_error *err)
{
    static const struct log log;
    struct reader *reader = NULL;
    struct image_cache *images = image_cache_new(&(struct image_options){.log = &log});
    struct context context = {r, image_calls_new()};
    const struct event *events;
    uint32_t main_event;
    if (!images || !context.calls)
        return error_memory(err);
    int rc = reader_open(in, &log, &reader, err);
    if (rc == 0)
        rc = reader_main_event(reader, NULL, &main_event, err);
    if (rc < 0)
        return rc;
    reader_events(reader, &events);
    struct event event = event_of(r, &events[main_event]);
    r->processes = processes_new(images, &log);
    r->prover = prover_new(context.calls);
    rc = r->processes && r->prover ? writer_open(out, &event, 1, &r->writer, err) : error_memory(err);
    if (rc == 0)
        rc = reader_run(reader, take, &context, err);
    if (rc == 0)
        rc = writer_close(r->writer, err);
    prover_free(r->prover);
    processes_free(r->processes);
    image_calls_free(context.calls);
    reader_close(reader);
    image_cache_free(images);
    return rc;
}

int main(int argc, char **argv)
{
    struct fathom_error err;
    struct rechain *r = calloc(1, sizeof *r);
    if (!r || argc != 6) {
        fprintf(stderr, "usage: rechain fp|calls DEPTH regs|bare IN OUT\n");
        return 2;
    }
    r->source = strcmp(argv[1], "calls") == 0 ? CHAIN_CALLS : CHAIN_FRAMES;
    r->depth = (uint32_t)strtoul(argv[2], NULL, 10);
    r->depth = r->depth < CHAIN_MOST ? r->depth : CHAIN_MOST;
    r->regs = strcmp(argv[3], "regs") == 0;
    int rc = run(r, argv[4], argv[5], &err);
    if (rc < 0)
        fprintf(stderr, "rechain: %s\n", err.text);
    printf("samples %llu\nwhole %llu\npart %llu\nnone %llu\nwrong %llu\nunknown %llu\n",
           (unsigned long long)r->samples, (unsigned long long)r->whole, (unsigned long long)r->part,
           (unsigned long long)r->none, (unsigned long long)r->wrong, (unsigned long long)r->unknown);
    free(r);
    return rc < 0;
}
