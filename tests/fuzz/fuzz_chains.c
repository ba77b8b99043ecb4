/*
 * fuzz_chains.c - any call chain or stack of calls, in a process that has this program mapped: proved
 * (infer/chains/proof.h), and what that makes of it is read and unwound again.
 *
 * A byte of flags, SP and BP, then 4 bytes for each address: even numbers are return addresses of this program's calls
 * (so that seeds hold for every build), odd ones any address of its file.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "infer/chains/proof.h"
#include "process/unwind.h"

#define START 0x10000000u /* of the mapping */

enum { CALLS = 1, REGISTERS = 2, KERNEL = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct image_calls *calls;
static struct prover *prover;
static struct process *process;
static const struct call_site *sites;
static size_t site_count;
static uint64_t file_size;

static void set_up(void)
{
    static const struct log log;
    struct fathom_error err;
    struct stat st;
    struct image_cache *images = image_cache_new(&(struct image_options){.log = &log});
    struct processes *processes = images ? processes_new(images, &log) : NULL;
    struct place place;
    if (!processes || stat("/proc/self/exe", &st) < 0)
        abort();
    file_size = (uint64_t)st.st_size;
    const struct record mapping = {.kind = RECORD_MMAP,
                                   .pid = 1,
                                   .tid = 1,
                                   .mmap = {.address = START, .length = file_size, .executable = true}};
    struct record record = mapping;
    record.mmap.path = "/proc/self/exe";
    calls = image_calls_new();
    prover = prover_new(calls);
    if (processes_apply(processes, &record, &err) < 0 || !(process = process_find(processes, 1)) || !prover)
        abort();
    for (uint64_t at = 0; at < file_size && !site_count; at += 4096) {
        const struct calls *its;
        if (!process_place(process, START + at, &place) || place.function == IMAGE_NO_FUNCTION)
            continue;
        if (image_calls_of(calls, place.image, &its) < 0 || !its)
            abort();
        site_count = calls_all(its, &sites);
    }
}

static uint64_t address_of(uint32_t number)
{
    uint64_t offset;
    struct place place;
    if (number & 1 || !site_count || !process_place(process, START, &place))
        return START + number / 2 % (file_size + 4096);
    const struct call_site *site = &sites[number / 2 % site_count];
    return image_offset(place.image, site->next ? site->next : site->address, &offset) ? START + offset
                                                                                       : number;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint64_t chain[4096];
    static uint8_t branches[2048][SAMPLE_BRANCH];
    if (!prover)
        set_up();
    if (size < 21 || size > sizeof chain / 2)
        return 0;
    struct sample sample = {.pid = 1,
                            .tid = 1,
                            .mode = data[0] & KERNEL ? SAMPLE_MODE_KERNEL : SAMPLE_MODE_USER},
                  made;
    enum chain_source source = data[0] & CALLS ? CHAIN_CALLS : CHAIN_FRAMES;
    memcpy(&sample.sp, data + 1, 8);
    memcpy(&sample.bp, data + 9, 8);
    chain[sample.callchain_count++] = (uint64_t)PERF_CONTEXT_USER;
    for (size_t at = 17; at + 4 <= size; at += 4) {
        uint32_t number;
        memcpy(&number, data + at, sizeof number);
        chain[sample.callchain_count++] = address_of(number);
    }
    sample.ip = sample.reg_ip = chain[1];
    sample.has_regs = data[0] & REGISTERS;
    sample.callchain = chain;
    for (uint32_t i = 2; i + 1 < sample.callchain_count && source == CHAIN_CALLS; i += 2)
        memcpy(branches[sample.branch_count++], &chain[i], 2 * sizeof chain[i]);
    sample.branches = sample.branch_count ? branches[0] : NULL;
    if (prover_prove(prover, process, &sample, source, &made) == PROOF_NONE)
        return 0;
    static struct unwind_frame frames[UNWIND_MAX_FRAMES];
    enum unwind_end end;
    uint8_t *stack = malloc(made.stack_size + 1); /* of exactly its size */
    memcpy(stack, made.stack, made.stack_size);
    made.stack = stack;
    if (unwind_sample(process, &made, frames, UNWIND_MAX_FRAMES, &end) == 0 || frames[0].pc != sample.ip)
        abort();
    free(stack);
    return 0;
}
