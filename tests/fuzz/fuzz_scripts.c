/*
 * fuzz_scripts.c - a fuzz target for script records (perfdata/scripts.h): the input is records, one behind the other, each with its size (2
 * bytes) before it.
 */
#include <stdlib.h>
#include <string.h>

#include "perfdata/scripts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct scripts *scripts = scripts_new();
    uint16_t length;
    if (!scripts)
        return 0;
    for (; size >= sizeof length; data += length, size -= length) {
        memcpy(&length, data, sizeof length);
        data += sizeof length;
        size -= sizeof length;
        length = length < size ? length : (uint16_t)size;
        uint8_t *raw = malloc(length + 1u); /* so that a read behind it is seen */
        if (!raw)
            break;
        memcpy(raw, data, length);
        const struct sample sample = {.pid = 1, .tid = 1 + (length & 1u), .raw = raw, .raw_size = length};
        const int taken = scripts_take(scripts, &sample, NULL);
        free(raw);
        const struct script_frame *frame = scripts_of(scripts, sample.tid);
        size_t depth = 0, sum = 0;
        for (; taken > 0 && frame; frame = frame->outer, depth++)
            sum += strlen(frame->code->name) + strlen(frame->code->file) + frame->line;
        if (depth > SCRIPT_CALLED_MAX || sum == SIZE_MAX)
            abort();
    }
    scripts_free(scripts);
    return 0;
}
