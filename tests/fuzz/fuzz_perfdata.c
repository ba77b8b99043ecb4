/*
 * fuzz_perfdata.c - any bytes as a recording: opened, run twice, every field that a record borrows is read.
 * The second run must deliver what the first did.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "perfdata/reader.h"
#include "perfdata/walks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t add_bytes(uint64_t sum, const void *data, size_t size)
{
    const uint8_t *at = data;
    for (size_t i = 0; i < size; i++)
        sum = sum * 31 + at[i];
    return sum;
}

static int touch(void *context, const struct record *record, struct fathom_error *err)
{
    uint64_t *sum = context;
    (void)err;
    *sum = *sum * 31 + record->time + record->tid;
    if (record->kind == RECORD_SAMPLE) {
        const struct sample *sample = &record->sample;
        *sum = add_bytes(*sum, sample->stack, sample->stack_size);
        *sum = add_bytes(*sum, sample->raw, sample->raw_size);
        *sum = *sum * 31 + sample->cgroup + sample->known + sample->compared + sample->stack_number +
               sample->checks_number;
        for (size_t i = 0; sample->walk && i < sample->walk->count; i++)
            *sum = *sum * 31 + sample->walk->frames[i].pc + sample->walk->frames[i].cfa +
                   sample->walk->frames[i].marks;
        *sum = add_bytes(*sum, sample->callchain, sample->callchain_count * sizeof(uint64_t));
        *sum = add_bytes(*sum, sample->branches, (size_t)sample->branch_count * SAMPLE_BRANCH);
    } else if (record->kind == RECORD_MMAP) {
        *sum = add_bytes(*sum, record->mmap.path, strlen(record->mmap.path));
        *sum = add_bytes(*sum, record->mmap.build_id, record->mmap.build_id_size);
    } else if (record->kind == RECORD_COMM) {
        *sum = add_bytes(*sum, record->comm.name, strlen(record->comm.name));
    } else if (record->kind == RECORD_CGROUP) {
        *sum = add_bytes(*sum + record->cgroup.id, record->cgroup.path, strlen(record->cgroup.path));
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct reader *reader;
    struct fathom_error err;
    if (reader_open(path, NULL, &reader, &err) == 0) {
        uint64_t first = 0, second = 0;
        int rc = reader_run(reader, touch, &first, &err);
        if (reader_run(reader, touch, &second, &err) != rc || first != second)
            abort();
        reader_close(reader);
    }
    close(fd);
    return 0;
}
