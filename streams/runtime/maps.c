/* maps.c - copies the process's mappings, to find names of addresses later; see process.h. Requires the lock. */
#include "base/raw.h"
#include "streams/runtime/block.h"
#include "streams/runtime/process.h"

static size_t format_name(char *path, size_t size, uint32_t pid, uint32_t number)
{
    size_t at = raw_append(path, size, 0, trace_options.directory);
    at = raw_append_number(path, size, at, pid);
    at = raw_append(path, size, at, "-");
    at = raw_append_number(path, size, at, number);
    return raw_append(path, size, at, ".maps");
}

static bool copy_contents(int from, int to)
{
    static char piece[4096];
    long size;
    uint64_t all = 0;
    while ((size = raw_read(from, piece, sizeof piece)) > 0) {
        if (!grown_allowed(all += (uint64_t)size))
            return false;
        for (long done = 0, rc; done < size; done += rc) {
            rc = raw_call(SYS_write, to, (long)(piece + done), size - done, 0, 0, 0);
            if (rc <= 0)
                return false;
        }
    }
    return size == 0;
}

void maps_copy(uint32_t pid, uint32_t number)
{
    static char path[4096], fresh[4096]; /* stacks may be small */
    raw_append(fresh, sizeof fresh, format_name(fresh, sizeof fresh, pid, number), ".new");
    format_name(path, sizeof path, pid, number);
    int from = raw_open("/proc/self/maps", O_RDONLY),
        to = (int)raw_call(SYS_openat, AT_FDCWD, (long)fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600,
                           0, 0);
    bool whole = from >= 0 && to >= 0 && copy_contents(from, to);
    if (from >= 0)
        raw_close(from);
    if (to >= 0)
        raw_close(to);
    if (whole)
        raw_call(SYS_rename, (long)fresh, (long)path, 0, 0, 0, 0);
    else if (to >= 0)
        raw_call(SYS_unlinkat, AT_FDCWD, (long)fresh, 0, 0, 0, 0);
}
