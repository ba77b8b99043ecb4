/*
 * vma.c - see vma.h. PROCMAP_QUERY (Linux 6.11, include/uapi/linux/fs.h) finds a mapping directly; on older
 * kernels the text is read.
 */
#include "pathmap/probe/vma.h"

#include <errno.h>
#include <sys/ioctl.h>

#include "pathmap/probe/maps.h"
#include "base/raw.h"

struct query {
    uint64_t size, flags, address;
    uint64_t start, end, vma_flags, page_size, offset, inode;
    uint32_t device_major, device_minor, name_size, build_id_size;
    uint64_t name, build_id;
};
_Static_assert(sizeof(struct query) == 104, "struct procmap_query");

#define QUERY _IOWR('f', 17, struct query)

static bool search_text(uint64_t address, uint64_t *start, uint64_t *end)
{
    struct maps maps;
    struct maps_line line;
    bool found = false;
    if (!maps_open(&maps))
        return false;
    while (!found && maps_next(&maps, &line) && line.start <= address)
        found = address < line.end;
    maps_close(&maps);
    if (found) {
        *start = line.start;
        *end = line.end;
    }
    return found;
}

bool vma_find(uint64_t address, uint64_t *start, uint64_t *end)
{
    struct query query = {.size = sizeof query, .address = address};
    int fd = raw_open(MAPS_FILE, O_RDONLY);
    if (fd < 0)
        return false;
    long r = raw_call(SYS_ioctl, fd, (long)QUERY, (long)&query, 0, 0, 0);
    raw_close(fd);
    if (r == -ENOENT)
        return false;
    if (r < 0)
        return search_text(address, start, end);
    *start = query.start;
    *end = query.end;
    return true;
}
