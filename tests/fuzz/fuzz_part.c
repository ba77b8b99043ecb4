/* fuzz_part.c - a fuzz target for files with split debug information: takes one part out. Its number is in the last 8 bytes. */
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "image/elf/elf_file.h"
#include "image/lines/part.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_part(const struct part_file *file, uint64_t id)
{
    int fd = part_file_extract(file, id);
    char path[40];
    struct elf_file elf;
    if (fd < 0)
        return;
    if (!part_file_has(file, id))
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (elf_file_open(&elf, path, ELF_HEADERS, NULL) == 0)
        elf_file_close(&elf);
    else
        abort();
    close(fd);
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
