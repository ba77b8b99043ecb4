/*
 * fuzz_sites.c - a fuzz target for the lists of a duplicated file's places (streams/trace/site_list.h): the input is a list
 * without its checksum.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/checksum.h"
#include "streams/trace/site_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[] = "/tmp/fuzz-sites.XXXXXX";

static void clean_up(void)
{
    unlink(path);
}

static void write_file(const uint8_t *data, size_t size)
{
    uint64_t sum = checksum_of(data, size);
    FILE *file = fopen(path, "w");
    if (!file || fwrite(data, 1, size, file) != size || fwrite(&sum, sizeof sum, 1, file) != 1 ||
        fclose(file) != 0)
        abort();
}

/* What is found for an address is of that address. */
static void look_up(const struct site_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        size_t count;
        const struct duplicate_site *sites = site_list_at(list, list->list[i].pc, &count);
        if (!sites || !count || sites[count - 1].pc != list->list[i].pc)
            abort();
    }
    for (size_t i = 0; i < list->part_count; i++) {
        uint64_t entry;
        if (!site_list_function(list, list->parts[i].start, &entry))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool made;
    struct site_list list;
    if (!made) {
        int fd = mkstemp(path);
        if (fd < 0 || close(fd) < 0 || atexit(clean_up) != 0)
            abort();
        made = true;
    }
    write_file(data, size);
    if (site_list_read(path, &list, NULL) == 0)
        look_up(&list);
    site_list_clear(&list);
    return 0;
}
