/* fuzz_core.c - a fuzz target for the reader of cores. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "process/core_dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const struct core_dump *core)
{
    const struct core_thread *threads;
    const struct core_mapping *mappings;
    const size_t count = core_dump_mappings(core, &mappings);
    uint64_t start, end, base = core_dump_base(core);
    uint8_t bytes[256];
    if (base && !core_dump_segment(core, base, &start, &end))
        abort();
    for (size_t i = 0; i < count; i++) {
        if (mappings[i].end <= mappings[i].start ||
            core_dump_build_id(core, &mappings[i]).size > BUILD_ID_MAX)
            abort();
        core_dump_read(core, mappings[i].start, bytes, sizeof bytes);
    }
    for (size_t i = core_dump_threads(core, &threads); i-- > 0;)
        if (core_dump_read(core, threads[i].sp, bytes, sizeof bytes) > sizeof bytes)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct core_dump *core;
    struct fathom_error err = {0};
    int fd = memfd_create("core", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int rc = core_dump_open(path, &core, &err);
    if (rc < 0 && (err.code != -rc || !err.text[0]))
        abort();
    if (rc == 0)
        use(core);
    if (rc == 0)
        core_dump_close(core);
    close(fd);
    return 0;
}
