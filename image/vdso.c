/* vdso.c - see vdso.h; vdso(7). */
#include "image/vdso.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/auxv.h>

/* End of the mapping that starts at `start`, by /proc/self/maps; 0: unknown. */
static uint64_t mapping_end(uint64_t start)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps)
        return 0;
    char line[512];
    uint64_t low, high, end = 0;
    while (!end && fgets(line, sizeof line, maps))
        if (sscanf(line, "%" SCNx64 "-%" SCNx64, &low, &high) == 2 && low == start)
            end = high;
    fclose(maps);
    return end;
}

int vdso_open(const struct image_options *options, struct image **out, struct fathom_error *err)
{
    uint64_t start = getauxval(AT_SYSINFO_EHDR), end = start ? mapping_end(start) : 0;
    if (end <= start)
        return error_set(err, ENOENT, "this process has no vDSO to look code up in");
    return image_open_memory(VDSO_NAME, (const void *)(uintptr_t)start, end - start, options, out, err);
}
