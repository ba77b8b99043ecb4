/* vdso.c - see vdso.h; vdso(7). */
#include "image/vdso.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"

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

/* The vDSO's bytes; NULL: there is none. */
static const void *own_vdso(size_t *size, struct fathom_error *err)
{
    uint64_t start = getauxval(AT_SYSINFO_EHDR), end = start ? mapping_end(start) : 0;
    if (end <= start) {
        error_set(err, ENOENT, "this process has no vDSO");
        return NULL;
    }
    *size = end - start;
    return (const void *)(uintptr_t)start;
}

int vdso_open(const struct image_options *options, struct image **out, struct fathom_error *err)
{
    size_t size;
    const void *bytes = own_vdso(&size, err);
    return bytes ? image_open_memory(VDSO_NAME, bytes, size, options, out, err) : -ENOENT;
}

int vdso_copy(uint64_t size, struct build_id *id, struct fathom_error *err)
{
    size_t own_size;
    const void *bytes = own_vdso(&own_size, err);
    if (!bytes)
        return -ENOENT;
    if (own_size != size)
        return error_set(err, ENOENT, "the recorded vDSO differs from this process's");
    int fd = memfd_create("vdso", MFD_CLOEXEC);
    if (fd < 0)
        return error_system(err, errno, "cannot create a memory file");
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int rc = file_write_all(fd, bytes, own_size, path, err);
    if (rc == 0)
        rc = build_id_read(path, id, err);
    if (rc == 0)
        return fd;
    close(fd);
    return rc;
}
