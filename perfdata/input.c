/* input.c - see input.h. */
#include "perfdata/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "base/vec.h"
#include "perfdata/format.h"

#define SPOOL_START (1024 * 1024)

/* Reads fd to its end, doubling the buffer as needed. */
static int spool_input(int fd, const char *path, struct input *input, struct fathom_error *err)
{
    const uint64_t magic = FILE_MAGIC;
    size_t capacity = 0, size = 0;
    uint8_t *buffer = NULL;
    int rc = 0;
    for (;;) {
        if (size == capacity && !vec_reserve(buffer, size, capacity, SPOOL_START)) {
            rc = error_memory(err);
            break;
        }
        ssize_t n = read(fd, buffer + size, capacity - size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            rc = error_system(err, errno, "cannot read %s", path);
        if (n <= 0)
            break;
        size += (size_t)n;
        if (size >= sizeof magic && memcmp(buffer, &magic, 4) != 0 && memcmp(buffer + 4, &magic, 4) != 0) {
            rc = error_set(err, ENOMSG, "%s is not perf.data", path);
            break;
        }
    }
    if (rc < 0) {
        free(buffer);
        return rc;
    }
    *input = (struct input){
        .size = size, .spool = buffer, .capacity = capacity, .fd = -1, .data = buffer, .to = size};
    return 0;
}

int input_begin(struct input *input, struct fathom_error *err)
{
    *input = (struct input){.spool = malloc(SPOOL_START), .capacity = SPOOL_START, .fd = -1};
    input->data = input->spool;
    return input->spool ? 0 : error_memory(err);
}

int input_append(struct input *input, const void *data, size_t size, struct fathom_error *err)
{
    if (!vec_reserve(input->spool, input->size, input->capacity, size))
        return error_memory(err);
    memcpy(input->spool + input->size, data, size);
    input->size += size;
    input->data = input->spool;
    input->to = input->size;
    return 0;
}

static int open_file(const char *path, struct input *input, struct fathom_error *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_system(err, errno, "cannot open %s", text_name(path));
    int rc = 0;
    if (fstat(fd, &st) < 0)
        rc = error_system(err, errno, "cannot stat %s", path);
    else if (!S_ISREG(st.st_mode)) {
        rc = spool_input(fd, path, input, err);
        close(fd);
        return rc;
    }
    char *name = rc == 0 ? strdup(path) : NULL;
    if (rc == 0 && !name)
        rc = error_memory(err);
    if (rc < 0)
        close(fd);
    else
        *input = (struct input){.size = (size_t)st.st_size, .fd = fd, .path = name};
    return rc;
}

int input_open(const char *path, struct input *input, struct fathom_error *err)
{
    if (strcmp(path, "-") == 0)
        return spool_input(STDIN_FILENO, "standard input", input, err);
    return open_file(path, input, err);
}

static int read_at(const struct input *input, uint64_t offset, size_t size, uint8_t *out,
                   struct fathom_error *err)
{
    const size_t got = file_read_at(input->fd, out, size, offset);
    if (got == size)
        return 0;
    return errno ? error_system(err, errno, "cannot read %s", input->path)
                 : error_set(err, EBADMSG, "%s was truncated to %llu bytes while it was read", input->path,
                             (unsigned long long)(offset + got));
}

int input_read(const struct input *input, uint64_t offset, size_t size, void *out, struct fathom_error *err)
{
    if (!input->spool)
        return read_at(input, offset, size, out, err);
    if (size)
        memcpy(out, input->spool + offset, size);
    return 0;
}

/* The bytes start at an address with the alignment of their offset. */
struct input_block {
    struct input_block *next;
    uint64_t to; /* end of its bytes in the file */
    uint64_t bytes[(INPUT_BLOCK + INPUT_LARGEST) / 8 + 1];
};

static void reuse_blocks(struct input *input, struct input_block **list)
{
    while (*list) {
        struct input_block *block = *list;
        *list = block->next;
        block->next = input->unused;
        input->unused = block;
    }
}

void input_rewind(struct input *input)
{
    if (input->spool)
        return;
    reuse_blocks(input, &input->blocks);
    input->from = input->to = 0;
}

int input_fill(struct input *input, uint64_t offset, size_t size, struct fathom_error *err)
{
    if (input->spool || offset > input->size || size > input->size - offset || size > INPUT_LARGEST)
        return error_set(err, EBADMSG, "a read goes beyond the end of the recording");
    struct input_block *block = input->unused;
    if (block)
        input->unused = block->next;
    else if (!(block = malloc(sizeof *block)))
        return error_memory(err);
    uint8_t *start = (uint8_t *)block->bytes + offset % 8;
    size_t there = offset >= input->from && offset < input->to ? (size_t)(input->to - offset) : 0;
    uint64_t left = input->size - offset - there;
    size_t more = left < INPUT_BLOCK ? (size_t)left : INPUT_BLOCK;
    if (there)
        memcpy(start, input->data + (offset - input->from), there);
    int rc = read_at(input, offset + there, more, start + there, err);
    block->to = offset + there + more;
    struct input_block **list = rc < 0 ? &input->unused : &input->blocks;
    block->next = *list;
    *list = block;
    if (rc < 0)
        return rc;
    input->data = start;
    input->from = offset;
    input->to = block->to;
    return 0;
}

void input_pass(struct input *input, uint64_t offset)
{
    struct input_block *block = input->blocks;
    /* The newest is kept: the next read may begin in it. */
    while (block && block->next && block->next->to > offset)
        block = block->next;
    if (block)
        reuse_blocks(input, &block->next);
}

static void free_blocks(struct input_block *block)
{
    while (block) {
        struct input_block *next = block->next;
        free(block);
        block = next;
    }
}

void input_close(struct input *input)
{
    if (input->path)
        close(input->fd);
    free(input->path);
    free(input->spool);
    free_blocks(input->blocks);
    free_blocks(input->unused);
    *input = (struct input){.fd = -1};
}

bool input_is_directory(const char *path)
{
    struct stat st;
    return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int open_parts(const char *directory, struct input **parts, size_t *count, struct fathom_error *err)
{
    int rc = 0;
    size_t capacity = 0;
    bool there = true;
    while (rc == 0 && there) {
        struct stat st;
        char *path = NULL;
        if (asprintf(&path, "%s/data.%zu", directory, *count) < 0)
            return error_memory(err);
        there = stat(path, &st) == 0;
        if (there && !S_ISREG(st.st_mode))
            rc = error_set(err, ENOMSG, "%s is not a regular file", path);
        else if (there && !vec_reserve(*parts, *count, capacity, 1))
            rc = error_memory(err);
        else if (there)
            rc = input_open(path, &(*parts)[*count], err);
        *count += there && rc == 0;
        free(path);
    }
    return rc;
}

int input_open_directory(const char *path, struct input *data, struct input **parts, size_t *count,
                         struct fathom_error *err)
{
    struct stat st;
    char *name = NULL;
    if (asprintf(&name, "%s/data", path) < 0)
        return error_memory(err);
    int rc = stat(name, &st) == 0 && S_ISREG(st.st_mode)
                 ? input_open(name, data, err)
                 : error_set(err, ENOMSG,
                             "%s is a directory, but not one that perf record writes: it has no file 'data'",
                             path);
    free(name);
    return rc < 0 ? rc : open_parts(path, parts, count, err);
}
