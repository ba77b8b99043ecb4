/*
 * fuzz_process.c - a fuzz target for the histories of processes (streams/trace/process_file.h): the first byte says how much of the rest is
 * behind a right header of the parent; what is left is behind that of its child.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/bytes.h"
#include "streams/trace/process_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char directory[] = "/tmp/fuzz-process.XXXXXX";

static void path_of(char *path, size_t size, uint32_t pid)
{
    snprintf(path, size, "%s/%u-0.process", directory, pid);
}

static void clean_up(void)
{
    char path[64];
    for (uint32_t pid = 1; pid <= 2; pid++) {
        path_of(path, sizeof path, pid);
        unlink(path);
    }
    rmdir(directory);
}

static void write_file(uint32_t pid, uint32_t parent, uint64_t parent_used, const uint8_t *data, size_t size)
{
    struct process_header header = {.magic = PROCESS_MAGIC,
                                    .version = PROCESS_VERSION,
                                    .pid = pid,
                                    .parent = parent,
                                    .parent_used = parent_used,
                                    .used = sizeof header + size,
                                    .heap = 1};
    char path[64];
    path_of(path, sizeof path, pid);
    FILE *file = fopen(path, "w");
    if (!file || fwrite(&header, sizeof header, 1, file) != 1 || fwrite(data, 1, size, file) != size ||
        fclose(file) != 0)
        abort();
}

/* Each object that is found has the address, and each path is as deep as it can be. */
static void read_file(const uint8_t *data, size_t size)
{
    struct process_file *file;
    if (process_file_open(directory, 2, 0, &file, NULL) < 0)
        return;
    for (uint64_t id = 0; id < 300; id++) {
        const struct process_path *path = process_file_path(file, id);
        if (path && path->depth > PROCESS_FRAMES_MOST)
            abort();
    }
    for (size_t to = 0; to < size; to += 1 + size / 8) {
        if (process_file_advance(file, sizeof(struct process_header) + to, NULL) < 0)
            abort();
        struct bytes bytes = bytes_of(data + to, size - to);
        uint64_t address = unzigzag(bytes_uleb(&bytes));
        const struct process_object *object = process_file_find(file, address);
        if (object && address - object->start >= object->size && address != object->start)
            abort();
    }
    process_file_close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool made;
    if (!made && (!mkdtemp(directory) || atexit(clean_up) != 0))
        abort();
    made = true;
    size_t from = size > 0, first = size > 0 && data[0] < size ? data[0] : 0;
    write_file(1, 0, 0, data + from, first);
    write_file(2, 1, sizeof(struct process_header) + first, data + from + first, size - from - first);
    read_file(data, size);
    return 0;
}
