/*
 * fuzz_made.c - a fuzz target for what names code made at run time. The first byte tells the format: a recording's own, a perf map or
 * a jitdump. What is read of the latter two is written and read again: all that stands has its name.
 */
#include <stdlib.h>
#include <string.h>

#include "image/image.h"
#include "image/made/code_names.h"
#include "image/made/jitdump.h"
#include "image/made/perf_map.h"
#include "image/run_time.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The address of a number of entries of a process, as they were written. */
static void look_up(const struct code_names *names, const uint8_t *data, size_t size, bool ours)
{
    struct code_names_head head;
    memcpy(&head, data, sizeof head);
    const size_t at = sizeof head + head.text + head.places * sizeof(struct code_names_place) +
                      head.past * sizeof(struct code_names_past) + sizeof(struct code_names_process);
    const struct code_set *set = code_names_of(names, 7, 0);
    for (size_t i = 0; set && i < 100 && at + (i + 1) * sizeof(struct code_names_entry) <= size; i++) {
        struct code_names_entry entry;
        memcpy(&entry, data + at + i * sizeof entry, sizeof entry);
        const uint64_t address = code_set_address(set, entry.address + entry.size - 1, UINT64_MAX);
        if (ours && (address == 0 || !code_names_place_at(names, address).function))
            abort();
        code_set_address(set, entry.address, code_set_change(set, 0) - 1);
    }
}

static void read_back(const uint8_t *data, size_t size, bool ours)
{
    struct code_names *names = code_names_new(data, size);
    struct image *image;
    if (!names || run_time_open(names, &image) < 0)
        abort();
    if (size >= sizeof(struct code_names_head))
        look_up(names, data, size, ours);
    image_close(image);
    code_names_free(names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *made;
    size_t made_size;
    if (!size)
        return 0;
    const uint8_t format = data[0] % 3;
    data++;
    size--;
    if (format == 0) {
        read_back(data, size, false);
        return 0;
    }
    struct code_namer *namer = code_namer_new();
    if (!namer || code_namer_begin(namer) < 0)
        abort();
    const struct jitdump_clock clock = {{1, 2}, {3, 5}};
    if (format == 1 ? perf_map_read(namer, (const char *)data, size)
                    : jitdump_read(namer, data, size, &clock))
        abort();
    if (code_namer_end(namer, 7, UINT64_MAX) < 0 || code_namer_write(namer, &made, &made_size) < 0)
        abort();
    if (made)
        read_back(made, made_size, true);
    free(made);
    code_namer_free(namer);
    return 0;
}
