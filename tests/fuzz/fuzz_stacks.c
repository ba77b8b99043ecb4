/*
 * fuzz_stacks.c - a fuzz target for files of kept stacks: reads one, asks for all its stacks and frames, writes it and reads that.
 *
 * The first byte is a flag: odd, and the checksum of what follows is mended first, so that fuzzing gets behind it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "infer/live/kept_stacks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SUM_AT 8u
#define SUMMED 16u
/* So that a stamp in the file can be it. */
static uint64_t trust_all(const struct numbered_file *file)
{
    return file->path[0];
}

#define ASKED 64u /* stacks, so that no input takes long */

static void ask(struct kept_stacks *kept)
{
    static struct kept_frame frames[UNWIND_MAX_FRAMES];
    struct known_stack stack;
    size_t callee;
    struct file_numbers *numbers = file_numbers_new();
    if (!numbers || kept_stacks_number(kept, numbers) < 0)
        abort();
    for (size_t i = 0; i < kept_stacks_count(kept) && i < ASKED; i++) {
        if (!kept_stacks_at(kept, i, &stack, &callee) || (callee >= i && callee != KEPT_STACKS_MOST))
            abort();
        if (kept_stacks_frames(kept, i, frames) == 0)
            abort();
        kept_stacks_use(kept, i);
    }
    file_numbers_free(numbers);
}

static void write_again(const struct kept_stacks *kept)
{
    struct kept_stacks *again;
    void *data;
    size_t size, written;
    if (kept_stacks_write(kept, trust_all, &data, &size, &written) < 0 ||
        kept_stacks_read(data, size, trust_all, &again) < 0 ||
        kept_stacks_count(again) > kept_stacks_count(kept))
        abort();
    kept_stacks_free(again);
    free(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct kept_stacks *kept;
    if (!size)
        return 0;
    uint8_t *file = malloc(size);
    if (!file)
        return 0;
    memcpy(file, data + 1, size - 1);
    if (data[0] & 1 && size - 1 >= SUMMED) {
        const uint64_t sum = checksum_of(file + SUMMED, size - 1 - SUMMED);
        memcpy(file + SUM_AT, &sum, sizeof sum);
    }
    const int rc = kept_stacks_read(file, size - 1, trust_all, &kept);
    if (rc < 0 && rc != -EBADMSG && rc != -ESTALE && rc != -ENOMEM)
        abort();
    if (rc == 0) {
        ask(kept);
        write_again(kept);
        kept_stacks_free(kept);
    }
    free(file);
    return 0;
}
