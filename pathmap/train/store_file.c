/* store_file.c - see store_file.h. */
#include "pathmap/train/store_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

/* Reads at most size bytes; bytes past the end of the file are zeros. */
static int read_at(int fd, uint64_t offset, void *out, size_t size)
{
    const size_t got = file_read_at(fd, out, size, offset);
    memset((char *)out + got, 0, size - got);
    return got < size ? -errno : 0;
}

static int read_header(int fd, const char *path, struct store_header *h, struct fathom_error *err)
{
    int rc = read_at(fd, 0, h, sizeof *h);
    if (rc < 0)
        return error_system(err, -rc, "cannot read %s", path);
    if (h->magic != STORE_MAGIC)
        return error_set(err, ENOMSG, "%s is not a store of the probe runtime", path);
    if (h->version != STORE_VERSION)
        return error_set(err, ENOTSUP, "%s was written by another version of the probe runtime (%u, not %u)",
                         path, h->version, STORE_VERSION);
    if (h->image_count > STORE_IMAGES_MAX || h->function_count > STORE_FUNCTIONS_MAX)
        return error_set(err, EBADMSG, "%s is damaged: too many images or functions", path);
    return 0;
}

static int open_file(const char *path, struct fathom_error *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return error_system(err, errno, "cannot open %s", path);
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        return fd;
    close(fd);
    return error_set(err, ENOMSG, "%s is not a store of the probe runtime", path);
}

/* Determines the possible nodes: the assigned chunks, clipped to the file. */
static void bound_nodes(struct store_file *s)
{
    struct stat st;
    uint64_t size = fstat(s->fd, &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 0;
    uint64_t held = size > STORE_NODES_AT ? (size - STORE_NODES_AT) / sizeof(struct store_node) : 0;
    uint64_t first = (uint64_t)s->header.chunk_first * STORE_CHUNK_NODES;
    uint64_t end = (uint64_t)s->header.chunk_count * STORE_CHUNK_NODES;
    if (end > held)
        end = held;
    if (end > STORE_NODES_MAX)
        end = STORE_NODES_MAX;
    if (first > end)
        first = end;
    uint64_t space = size ? (uint64_t)st.st_blocks * 512 / sizeof(struct store_node) : 0;
    s->node_most = (uint32_t)(space < end - first ? space : end - first);
    s->node_first = (uint32_t)first;
    s->node_end = (uint32_t)end;
}

static int read_tables(struct store_file *s, const char *path, struct fathom_error *err)
{
    size_t images = s->header.image_count * sizeof *s->images;
    size_t functions = s->header.function_count * sizeof *s->functions;
    s->images = malloc(images ? images : 1);
    s->functions = malloc(functions ? functions : 1);
    s->buffer = malloc(STORE_CHUNK_SIZE);
    if (!s->images || !s->functions || !s->buffer)
        return error_memory(err);
    int rc = read_at(s->fd, STORE_IMAGES_AT, s->images, images);
    if (rc == 0)
        rc = read_at(s->fd, STORE_FUNCTIONS_AT, s->functions, functions);
    if (rc < 0)
        return error_system(err, -rc, "cannot read %s", path);
    for (uint32_t i = 0; i < s->header.image_count; i++) {
        s->images[i].path[sizeof s->images[i].path - 1] = '\0';
        s->images[i].summary.reason[sizeof s->images[i].summary.reason - 1] = '\0';
    }
    return 0;
}

int store_file_open(const char *path, struct store_file *out, struct fathom_error *err)
{
    struct store_file s = {0};
    s.fd = open_file(path, err);
    if (s.fd < 0)
        return s.fd;
    int rc = read_header(s.fd, path, &s.header, err);
    if (rc == 0)
        rc = read_tables(&s, path, err);
    if (rc < 0) {
        store_file_close(&s);
        return rc;
    }
    bound_nodes(&s);
    *out = s;
    return 0;
}

void store_file_close(struct store_file *s)
{
    close(s->fd);
    free(s->images);
    free(s->functions);
    free(s->buffer);
}

uint32_t store_file_next(struct store_file *s, uint32_t from, uint32_t *first)
{
    *first = s->node_end;
    if (from < s->node_first)
        from = s->node_first;
    if (from >= s->node_end)
        return s->node_end;
    off_t at = (off_t)(STORE_NODES_AT + (uint64_t)from * sizeof(struct store_node));
    off_t data = lseek(s->fd, at, SEEK_DATA);
    if (data < at && errno == ENXIO)
        return s->node_end; /* a hole up to the end */
    uint64_t number = data > at ? ((uint64_t)data - STORE_NODES_AT) / sizeof(struct store_node) : from;
    if (number >= s->node_end)
        return s->node_end;
    uint64_t end = number - number % STORE_CHUNK_NODES + STORE_CHUNK_NODES;
    if (end > s->node_end)
        end = s->node_end;
    s->buffer_count = 0;
    if (read_at(s->fd, STORE_NODES_AT + number * sizeof *s->buffer, s->buffer,
                (end - number) * sizeof *s->buffer) < 0)
        return s->node_end;
    s->buffer_first = *first = (uint32_t)number;
    s->buffer_count = (uint32_t)(end - number);
    return (uint32_t)end;
}

bool store_file_node(const struct store_file *s, uint32_t number, struct store_node *out)
{
    if (number < s->node_first || number >= s->node_end)
        return false;
    if (number - s->buffer_first < s->buffer_count)
        *out = s->buffer[number - s->buffer_first];
    else if (read_at(s->fd, STORE_NODES_AT + (uint64_t)number * sizeof *out, out, sizeof *out) < 0)
        return false;
    return out->function != 0;
}

bool store_image_has(const struct store_image *image, uint32_t site, uint64_t *address)
{
    uint64_t from_low = (uint32_t)(site - (uint32_t)image->low);
    *address = image->low + from_low - image->bias;
    return image->high > image->low && from_low < image->high - image->low;
}

const struct store_image *store_file_image(const struct store_file *s, uint32_t site, uint64_t *address)
{
    for (uint32_t i = 0; i < s->header.image_count; i++)
        if (store_image_has(&s->images[i], site, address))
            return &s->images[i];
    return NULL;
}

int store_file_stacks(const struct store_file *s, uint8_t **stacks, size_t *size)
{
    uint64_t used = s->header.stacks_used;
    if (used > STORE_STACKS_SIZE)
        used = STORE_STACKS_SIZE;
    uint8_t *bytes = malloc(used + 1);
    if (!bytes)
        return -ENOMEM;
    *stacks = bytes;
    *size = read_at(s->fd, STORE_STACKS_AT, bytes, used) < 0 ? 0 : used;
    return 0;
}
