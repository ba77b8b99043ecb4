/* grown.c - see grown.h. */
#include "streams/runtime/grown.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/raw.h"
#include "streams/runtime/block.h"

#define WINDOW           (1u << 20) /* bytes of the file mapped at a time */
#define STEP             (1u << 16) /* bytes allocated at a time: the rest is wasted on exec(), or if killed */
#define NUMBERS_MOST     1000u      /* files with one stem */
#define DESCRIPTOR_LEAST 700        /* if the process may have that many */
#define INTERRUPTS_MOST  1000u

/* Moves a descriptor away from the lowest numbers: programs close these, and expect files that they open to get
 * certain numbers. */
static int raise_descriptor(int fd)
{
    long high = fd < 0 ? -EBADF : raw_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, DESCRIPTOR_LEAST, 0, 0, 0);
    if (raw_failed(high))
        return fd;
    raw_close(fd);
    return (int)high;
}

static int open_name(const char *directory, const char *name, int flags)
{
    char path[4096];
    raw_append(path, sizeof path, raw_append(path, sizeof path, 0, directory), name);
    return raise_descriptor(
        (int)raw_call(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600, 0, 0));
}

static bool is_own(const struct grown *file, int fd)
{
    struct stat status;
    return fd >= 0 && raw_call(SYS_fstat, fd, (long)&status, 0, 0, 0, 0) == 0 &&
           status.st_dev == file->device && status.st_ino == file->inode;
}

/* The file's descriptor, or a negative errno. If the program closed it, the file is opened again; whatever has
 * its number now is left alone. */
static int descriptor_of(struct grown *file)
{
    if (is_own(file, file->fd))
        return file->fd;
    int fd = file->first ? open_name(trace_options.directory, file->name, O_NONBLOCK) : -EBADF;
    if (fd >= 0 && !is_own(file, fd)) {
        raw_close(fd);
        fd = -EBADF;
    }
    return file->fd = fd;
}

bool grown_allowed(uint64_t bytes)
{
    struct rlimit limit;
    return raw_call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit, 0, 0) != 0 || bytes <= limit.rlim_cur;
}

/* Allocates more of the file, so that a full disk is an error here and no signal later. */
static int allocate_step(struct grown *file)
{
    long rc = -EINTR, fd = descriptor_of(file);
    if (fd < 0 || !grown_allowed(file->most + STEP))
        return fd < 0 ? (int)-fd : EDQUOT;
    for (unsigned i = 0; i < INTERRUPTS_MOST && rc == -EINTR; i++)
        rc = raw_call(SYS_fallocate, fd, 0, (long)file->most, STEP, 0, 0);
    if (rc == -EOPNOTSUPP)
        rc = raw_call(SYS_ftruncate, fd, (long)(file->most + STEP), 0, 0, 0, 0);
    if (raw_failed(rc))
        return (int)-rc;
    file->most += STEP;
    return 0;
}

static int map_window(struct grown *file, uint64_t start)
{
    long fd = descriptor_of(file);
    long at =
        fd < 0 ? fd : raw_call(SYS_mmap, 0, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (long)start);
    if (raw_failed(at))
        return (int)-at;
    file->window = (uint8_t *)at;
    file->start = start;
    file->size = 0;
    return 0;
}

/* Makes a new file. */
static int make_file(struct grown *file, const char *directory, const char *stem, uint32_t number,
                     const char *suffix)
{
    struct stat status;
    size_t at = raw_append(file->name, sizeof file->name, 0, stem);
    at = raw_append(file->name, sizeof file->name, at, "-");
    at = raw_append_number(file->name, sizeof file->name, at, number);
    raw_append(file->name, sizeof file->name, at, suffix);
    file->fd = open_name(directory, file->name, O_CREAT | O_EXCL);
    if (file->fd >= 0 && raw_call(SYS_fstat, file->fd, (long)&status, 0, 0, 0, 0) == 0) {
        file->device = status.st_dev;
        file->inode = status.st_ino;
    }
    return file->fd;
}

bool grown_open(struct grown *file, const char *directory, const char *stem, const char *suffix,
                uint32_t *number)
{
    *file = (struct grown){.fd = -EEXIST};
    for (uint32_t n = 0; n < NUMBERS_MOST && file->fd == -EEXIST; n++) {
        make_file(file, directory, stem, n, suffix);
        *number = n;
    }
    if (file->fd < 0 || allocate_step(file) || map_window(file, 0)) {
        grown_close(file, 0);
        return false;
    }
    file->first = file->window;
    return true;
}

void grown_cut(struct grown *file, uint64_t used)
{
    int fd = file->first ? descriptor_of(file) : -EBADF;
    if (fd >= 0)
        raw_call(SYS_ftruncate, fd, (long)used, 0, 0, 0, 0);
}

void grown_close(struct grown *file, uint64_t used)
{
    if (file->window && file->window != file->first)
        raw_munmap(file->window, WINDOW);
    if (file->first)
        raw_munmap(file->first, WINDOW);
    if (used)
        grown_cut(file, used);
    if (is_own(file, file->fd))
        raw_close(file->fd);
    *file = (struct grown){.fd = -1};
}

int grown_room(struct grown *file, uint32_t bytes, uint64_t most, bool *moved)
{
    int error = 0;
    *moved = false;
    if (grown_end(file) + bytes > file->most)
        error = file->most + STEP > most ? EFBIG : allocate_step(file);
    if (error || file->size + bytes <= WINDOW)
        return error;
    uint64_t next = RAW_PAGE_DOWN(grown_end(file)), keep = grown_end(file) - next;
    struct grown old = *file;
    error = map_window(file, next);
    if (error) {
        *file = old;
        return error;
    }
    file->size = keep;
    *moved = true;
    if (old.window != old.first)
        raw_munmap(old.window, WINDOW);
    return 0;
}

void grown_byte(struct grown *file, uint8_t byte)
{
    file->window[file->size++] = byte;
}

void grown_number(struct grown *file, uint64_t value)
{
    for (; value > 0x7f; value >>= 7)
        grown_byte(file, (uint8_t)value | 0x80);
    grown_byte(file, (uint8_t)value);
}

uint64_t grown_end(const struct grown *file)
{
    return file->start + file->size;
}
