/*
 * fuzz_bursts.c - a fuzz target for the traces of threads (streams/trace/burst_file.h): the input is what follows a right header.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "streams/trace/burst_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stream_header header = {
        .magic = STREAM_MAGIC, .version = STREAM_VERSION, .used = sizeof header + size};
    struct burst_file *file;
    struct burst_record record;
    char path[64];
    int fd = memfd_create("burst", 0);
    if (fd < 0 || write(fd, &header, sizeof header) != sizeof header ||
        write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (burst_file_open(path, &file, NULL) == 0) {
        uint64_t count = 0;
        while (burst_file_next(file, &record) > 0)
            count++;
        if (count > 16 * size) /* a byte says of 16 at most */
            abort();
        burst_file_close(file);
    }
    close(fd);
    return 0;
}
