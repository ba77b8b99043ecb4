/* fuzz_part.c - a fuzz target for files with split debug information: takes one part out. Its number is in the last 8 bytes. */
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "image/lines/part.h"
#include "image/lines/sections.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_part(const struct part_file *file, uint64_t id)
{
    struct sections *part = part_file_extract(file, id);
    if (part && !part_file_has(file, id))
        abort();
    for (size_t i = 0; part && i < part->count; i++)
        if (!sections_bytes(part, &part->items[i]))
            abort();
    sections_close(part);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t id;
    char path[40];
    int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd < 0 || size < sizeof id || write(fd, data, size) != (ssize_t)size) {
        close(fd);
        return 0;
    }
    memcpy(&id, data + size - sizeof id, sizeof id);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct part_file *file = part_file_open(path);
    if (file) {
        part_file_has_any(file);
        check_part(file, id);
    }
    part_file_close(file);
    close(fd);
    return 0;
}
