/* grown.c - see grown.h. */
#include "streams/runtime/grown.h"

#include <errno.h>

#include "base/raw.h"

#define WINDOW (1u << 20) /* bytes; of the file, mapped at a time */
#define STEP                                                                                                 \
    (1u                                                                                                      \
     << 16) /* bytes that get blocks at a time: what a process leaves unused that is killed, or calls exec() */
#define NUMBERS_MOST 1000u /* files of one stem */

/* More of the file gets blocks, so that a full disk is an error here and no signal later. */
static int allocate(struct grown *file)
{
    long rc = raw_call(SYS_fallocate, file->fd, 0, (long)file->most, STEP, 0, 0);
    if (rc == -EOPNOTSUPP)
        rc = raw_call(SYS_ftruncate, file->fd, (long)(file->most + STEP), 0, 0, 0, 0);
    if (raw_failed(rc))
        return (int)-rc;
    file->most += STEP;
    return 0;
}

static int map_window(struct grown *file, uint64_t start)
{
    long at = raw_call(SYS_mmap, 0, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, (long)start);
    if (raw_failed(at))
        return (int)-at;
    file->window = (uint8_t *)at;
    file->start = start;
    file->size = 0;
    return 0;
}

/* A file descriptor, or a negative errno. */
static int make(const char *directory, const char *stem, uint32_t number, const char *suffix)
{
    char path[4096];
    size_t at = raw_append(path, sizeof path, 0, directory);
    at = raw_append(path, sizeof path, at, stem);
    at = raw_append(path, sizeof path, at, "-");
    at = raw_append_number(path, sizeof path, at, number);
    raw_append(path, sizeof path, at, suffix);
    return (int)raw_call(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, 0, 0);
}

bool grown_open(struct grown *file, const char *directory, const char *stem, const char *suffix,
                uint32_t *number)
{
    *file = (struct grown){.fd = -EEXIST};
    for (uint32_t n = 0; n < NUMBERS_MOST && file->fd == -EEXIST; n++) {
        file->fd = make(directory, stem, n, suffix);
        *number = n;
    }
    if (file->fd < 0 || allocate(file) || map_window(file, 0)) {
        grown_close(file, 0);
        return false;
    }
    file->first = file->window;
    return true;
}

void grown_close(struct grown *file, uint64_t used)
{
    if (file->window && file->window != file->first)
        raw_munmap(file->window, WINDOW);
    if (file->first)
        raw_munmap(file->first, WINDOW);
    if (file->fd >= 0 && used)
        raw_call(SYS_ftruncate, file->fd, (long)used, 0, 0, 0, 0);
    if (file->fd >= 0)
        raw_close(file->fd);
    *file = (struct grown){.fd = -1};
}

int grown_room(struct grown *file, uint32_t bytes, uint64_t most, bool *moved)
{
    int error = 0;
    *moved = false;
    if (grown_end(file) + bytes > file->most)
        error = file->most + STEP > most ? EFBIG : allocate(file);
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
