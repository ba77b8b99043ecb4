/* columns.c - see columns.h. */
#include "base/columns.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"
#include "base/scratch.h"
#include "base/vec.h"

#define BLOCK_BYTES (256u << 10) /* bytes of rows at which a block ends */
#define SPARE       8u           /* bytes behind a column that loads may touch */

/* The head of a block, before its columns. */
struct block_head {
    uint32_t rows;
    uint64_t bytes; /* of the rows, after the columns */
    uint64_t least[COLUMNS_MOST + 1];
    uint8_t width[COLUMNS_MOST + 1]; /* bytes per offset from the smallest value */
};

#define IN_MEMORY (UINT32_C(1) << 31) /* flag in a block's size */

struct columns_file {
    int fd; /* negative: none */
    uint64_t end;
    unsigned tables;
};

struct columns_file *columns_file_open(void)
{
    struct columns_file *f = calloc(1, sizeof *f);
    if (f)
        f->fd = scratch_file();
    return f;
}

void columns_file_close(struct columns_file *f)
{
    if (!f)
        return;
    if (f->fd >= 0)
        close(f->fd);
    free(f);
}

struct columns {
    unsigned count; /* columns, including an extra one for the size of a row's bytes */
    size_t memory;  /* bytes that may still be used */
    struct columns_file *file;
    uint32_t *sizes; /* of the blocks, in bytes; with IN_MEMORY */
    size_t block_count, block_capacity;
    uint8_t **kept; /* those in memory, in order */
    size_t kept_count, kept_capacity;
    uint64_t file_start, file_end; /* where the others are, contiguous */
    uint64_t rows;
    /* The block being filled. */
    uint32_t filled;
    uint64_t *values; /* by column, COLUMNS_ROWS each */
    uint8_t *bytes;
    size_t byte_count, byte_capacity;
    uint8_t *coded;
    size_t coded_capacity;
};

struct columns *columns_new(unsigned count, size_t memory, struct columns_file *file)
{
    struct columns *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    *c = (struct columns){.count = count + 1, .memory = file ? memory : SIZE_MAX, .file = file};
    if (file)
        file->tables++;
    c->values = malloc((size_t)c->count * COLUMNS_ROWS * sizeof *c->values);
    if (!c->values) {
        columns_free(c);
        return NULL;
    }
    return c;
}

void columns_free(struct columns *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->kept_count; i++)
        free(c->kept[i]);
    if (c->file && --c->file->tables == 0 && c->file->end && ftruncate(c->file->fd, 0) == 0)
        c->file->end = 0;
    free(c->sizes);
    free(c->kept);
    free(c->values);
    free(c->bytes);
    free(c->coded);
    free(c);
}

uint64_t columns_rows(const struct columns *c)
{
    return c->rows;
}

static uint8_t width_of(uint64_t range)
{
    return range ? (uint8_t)((64 - (unsigned)__builtin_clzll(range) + 7) / 8) : 0;
}

/* Chooses a column's encoding; returns its size. */
static size_t choose_code(const uint64_t *values, uint32_t rows, uint64_t *least, uint8_t *width)
{
    uint64_t low = values[0], high = values[0];
    for (uint32_t i = 1; i < rows; i++) {
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
    }
    *least = low;
    *width = width_of(high - low);
    return (size_t)*width * rows;
}

static uint8_t *encode_column(uint8_t *to, const uint64_t *values, uint32_t rows, uint64_t least,
                              uint8_t width)
{
    for (uint32_t i = 0; width && i < rows; i++, to += width) {
        const uint64_t offset = values[i] - least;
        memcpy(to, &offset, sizeof offset); /* the next one overwrites the excess */
    }
    return to;
}

static void decode_column(const uint8_t *from, uint64_t *values, uint32_t rows, uint64_t least, uint8_t width)
{
    const uint64_t mask = width == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * width) - 1;
    for (uint32_t i = 0; width == 0 && i < rows; i++)
        values[i] = least;
    for (uint32_t i = 0; width && i < rows; i++, from += width) {
        uint64_t offset;
        memcpy(&offset, from, sizeof offset);
        values[i] = least + (offset & mask);
    }
}

/* Writes to the file, unless that would exceed the limit on file sizes, whose signal would end the
 * process. */
static bool write_file(struct columns_file *f, const uint8_t *data, size_t size)
{
    struct rlimit limit;
    if (f->fd < 0 || (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
                      f->end + size > limit.rlim_cur))
        return false;
    for (size_t done = 0; done < size;) {
        ssize_t n = pwrite(f->fd, data + done, size - done, (off_t)(f->end + done));
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static int keep_block(struct columns *c, size_t size)
{
    uint8_t *copy = malloc(size);
    if (!copy || !vec_push(c->kept, c->kept_count, c->kept_capacity, copy)) {
        free(copy);
        return -ENOMEM;
    }
    memcpy(copy, c->coded, size);
    c->memory -= size;
    return 0;
}

/* Nothing else may have been written to the file since the last block. */
static int spill_block(struct columns *c, size_t size)
{
    if (c->file_end == 0)
        c->file_start = c->file_end = c->file->end;
    if (c->file_end != c->file->end || !write_file(c->file, c->coded, size))
        return -ENOSPC;
    c->file_end = c->file->end += size;
    return 0;
}

static int store_block(struct columns *c, size_t size)
{
    const bool kept = size <= c->memory;
    if (size >= IN_MEMORY || !vec_reserve(c->sizes, c->block_count, c->block_capacity, 1))
        return -ENOMEM;
    int rc = kept ? keep_block(c, size) : spill_block(c, size);
    if (rc == 0)
        c->sizes[c->block_count++] = (uint32_t)size | (kept ? IN_MEMORY : 0);
    return rc;
}

int columns_end(struct columns *c)
{
    struct block_head head = {.rows = c->filled, .bytes = c->byte_count};
    size_t size = sizeof head + c->byte_count + SPARE;
    if (c->filled == 0)
        return 0;
    for (unsigned i = 0; i < c->count; i++)
        size += choose_code(c->values + (size_t)i * COLUMNS_ROWS, c->filled, &head.least[i], &head.width[i]);
    if (!vec_reserve(c->coded, 0, c->coded_capacity, size))
        return -ENOMEM;
    memcpy(c->coded, &head, sizeof head);
    uint8_t *to = c->coded + sizeof head;
    for (unsigned i = 0; i < c->count; i++)
        to = encode_column(to, c->values + (size_t)i * COLUMNS_ROWS, c->filled, head.least[i], head.width[i]);
    if (c->byte_count)
        memcpy(to, c->bytes, c->byte_count);
    memset(to + c->byte_count, 0, SPARE);
    int rc = store_block(c, size);
    if (rc < 0)
        return rc;
    c->filled = 0;
    c->byte_count = 0;
    return 0;
}

int columns_stay(struct columns *c)
{
    c->memory = SIZE_MAX;
    return columns_end(c);
}

int columns_append(struct columns *c, const uint64_t *values, const void *bytes, size_t size)
{
    if (!vec_reserve(c->bytes, c->byte_count, c->byte_capacity, size))
        return -ENOMEM;
    for (unsigned i = 0; i + 1 < c->count; i++)
        c->values[(size_t)i * COLUMNS_ROWS + c->filled] = values[i];
    c->values[(size_t)(c->count - 1) * COLUMNS_ROWS + c->filled] = size;
    if (size)
        memcpy(c->bytes + c->byte_count, bytes, size);
    c->byte_count += size;
    c->rows++;
    return ++c->filled == COLUMNS_ROWS || c->byte_count >= BLOCK_BYTES ? columns_end(c) : 0;
}

struct columns_cursor {
    const struct columns *columns;
    size_t next;      /* block */
    size_t next_kept; /* next of those in memory */
    uint64_t at;      /* position of the next of the others, in the file */
    uint64_t *values; /* of the block, by column */
    uint8_t *read;    /* a block of the file */
    size_t read_capacity;
};

struct columns_cursor *columns_read(const struct columns *c)
{
    struct columns_cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor)
        return NULL;
    cursor->columns = c;
    cursor->at = c->file_start;
    cursor->values = malloc((size_t)c->count * COLUMNS_ROWS * sizeof *cursor->values);
    if (!cursor->values) {
        free(cursor);
        cursor = NULL;
    }
    return cursor;
}

void columns_cursor_free(struct columns_cursor *cursor)
{
    if (!cursor)
        return;
    free(cursor->values);
    free(cursor->read);
    free(cursor);
}

/* Reads the file's next block. */
static int read_file(struct columns_cursor *cursor, size_t size)
{
    if (!vec_reserve(cursor->read, 0, cursor->read_capacity, size))
        return -ENOMEM;
    if (file_read_at(cursor->columns->file->fd, cursor->read, size, cursor->at) < size)
        return errno ? -errno : -EIO;
    cursor->at += size;
    return 0;
}

static void decode_block(struct columns_cursor *cursor, const uint8_t *from, struct columns_block *out)
{
    const unsigned count = cursor->columns->count;
    struct block_head head;
    memcpy(&head, from, sizeof head);
    from += sizeof head;
    for (unsigned i = 0; i < count; i++) {
        decode_column(from, cursor->values + (size_t)i * COLUMNS_ROWS, head.rows, head.least[i],
                      head.width[i]);
        from += (size_t)head.width[i] * head.rows;
    }
    *out = (struct columns_block){.rows = head.rows,
                                  .values = cursor->values,
                                  .sizes = cursor->values + (size_t)(count - 1) * COLUMNS_ROWS,
                                  .bytes = from};
}

int columns_next(struct columns_cursor *cursor, struct columns_block *out)
{
    const struct columns *c = cursor->columns;
    if (cursor->next == c->block_count)
        return 0;
    const uint32_t size = c->sizes[cursor->next++];
    if (size & IN_MEMORY) {
        decode_block(cursor, c->kept[cursor->next_kept++], out);
        return 1;
    }
    int rc = read_file(cursor, size);
    if (rc < 0)
        return rc;
    decode_block(cursor, cursor->read, out);
    return 1;
}
