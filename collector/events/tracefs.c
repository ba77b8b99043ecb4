/* tracefs.c - files of the tracing file system; see tracefs.h. */
#include "collector/events/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/file.h"

#define SIZE_MAX_HERE (16u << 20) /* the list of all tracepoints is about 100 KiB */

/* A mount that is reachable only through its descriptor and ends with it (fsmount, Linux 5.2). */
static int private_mount(void)
{
    int fs = fsopen("tracefs", FSOPEN_CLOEXEC);
    if (fs < 0)
        return -errno;
    int mount = -1;
    if (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
        mount = fsmount(fs, FSMOUNT_CLOEXEC, 0);
    int code = errno;
    close(fs);
    return mount < 0 ? -code : mount;
}

int tracefs_open(const char *path, int flags)
{
    static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int dir = open(places[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir < 0)
            continue;
        int fd = openat(dir, path, flags | O_CLOEXEC);
        close(dir);
        if (fd >= 0)
            return fd;
    }
    int mount = private_mount();
    if (mount < 0)
        return mount;
    int fd = openat(mount, path, flags | O_CLOEXEC), code = errno;
    close(mount);
    return fd < 0 ? -code : fd;
}

int tracefs_read(const char *path, char **text, size_t *size)
{
    int fd = tracefs_open(path, O_RDONLY);
    if (fd < 0)
        return fd;
    int rc = file_read_text(fd, SIZE_MAX_HERE, text, size);
    close(fd);
    return rc;
}

int tracefs_number(const char *path, uint64_t *value)
{
    char *text, *end;
    size_t size;
    int rc = tracefs_read(path, &text, &size);
    if (rc)
        return rc;
    uint64_t number = strtoull(text, &end, 10);
    if (end == text)
        rc = -EINVAL;
    else
        *value = number;
    free(text);
    return rc;
}
