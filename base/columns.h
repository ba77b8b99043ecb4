/*
 * columns.h - a table that is written row by row and read in order, any number of times, in little memory.
 * Rows are stored in blocks; in a block each column is stored as offsets from its smallest value, with as
 * many bytes as the largest offset needs (frame of reference coding: Goldstein, Ramakrishnan, Shaft,
 * "Compressing relations and indexes", ICDE 1998). A column with equal values takes no space. Blocks beyond a
 * memory limit are in an unnamed file (scratch_file()).
 */
#ifndef FATHOM_BASE_COLUMNS_H
#define FATHOM_BASE_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#define COLUMNS_MOST 32u

/* A file for the blocks of one table at a time. Open it before the privileges for that are dropped. */
struct columns_file;
struct columns_file *columns_file_open(
    void); /* NULL: out of memory. If the file cannot be made, appends to it fail with -ENOSPC. */
void columns_file_close(struct columns_file *file); /* after the table is freed; NULL is allowed */

struct columns;

/* count: number of columns, at most COLUMNS_MOST. memory: maximum bytes of blocks in memory; file, borrowed:
 * for the others, or NULL: all blocks stay in memory. NULL: out of memory. */
struct columns *columns_new(unsigned count, size_t memory, struct columns_file *file);
void columns_free(struct columns *columns);
/* Appends a row of `count` values, and bytes that belong to it. 0; -ENOMEM; -ENOSPC: the file is full, and
 * the table accepts no more rows, unless columns_stay() says to keep all others in memory. */
int columns_append(struct columns *columns, const uint64_t *values, const void *bytes, size_t size);
int columns_stay(struct columns *columns); /* 0 or -ENOMEM */
/* Call after the last row, before reading. Results as of columns_append(). */
int columns_end(struct columns *columns);
uint64_t columns_rows(const struct columns *columns);

struct columns_cursor;

/* Some consecutive rows. */
#define COLUMNS_ROWS 256u
struct columns_block {
    uint32_t rows;          /* at most COLUMNS_ROWS */
    const uint64_t *values; /* column i starts at values[i * COLUMNS_ROWS] */
    const uint64_t *sizes;  /* bytes of each row */
    const uint8_t *bytes;
};

/* Reads from the first row on. NULL: out of memory. */
struct columns_cursor *columns_read(const struct columns *columns);
void columns_cursor_free(struct columns_cursor *cursor);
/* The next rows: 1; 0: there are none; negative: a system error. *out is valid until the next call. */
int columns_next(struct columns_cursor *cursor, struct columns_block *out);

#endif
