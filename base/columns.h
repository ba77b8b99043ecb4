/*
 * columns.h - a table that is written row by row and read in order, as often as needed, in little memory.
 *
 * Rows are kept in blocks, and in a block each column as offsets from its smallest value, in as many bytes as the
 * largest of them needs (frame of reference coding: Goldstein, Ramakrishnan, Shaft, "Compressing relations and indexes",
 * ICDE 1998). A column whose values are equal takes no room. Blocks beyond a limit of memory lie in a file without a name
 * (scratch_file()).
 */
#ifndef FATHOM_BASE_COLUMNS_H
#define FATHOM_BASE_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#define COLUMNS_MOST 32u

/* A file for the blocks of a table, and of others after it is freed. Open it before the rights to do so are given up. */
struct columns_file;
struct columns_file *
columns_file_open(void); /* NULL: out of memory. If there cannot be one, tables find no room in it. */
void columns_file_close(struct columns_file *file); /* after the table is freed; NULL is allowed */

struct columns;

/* count: of the columns, at most COLUMNS_MOST. memory: bytes of blocks that are kept in memory; file, borrowed: for the others,
 * or NULL: all are kept in memory. NULL: out of memory. */
struct columns *columns_new(unsigned count, size_t memory, struct columns_file *file);
void columns_free(struct columns *columns);
/* Appends a row of `count` values, and bytes that belong to it. 0; -ENOMEM; -ENOSPC: there is no room in the file, and
 * the table takes no more rows, unless columns_stay() says that all others are to be kept in memory. */
int columns_append(struct columns *columns, const uint64_t *values, const void *bytes, size_t size);
int columns_stay(struct columns *columns); /* 0 or -ENOMEM */
/* Call after the last row, before it is read. The same results as columns_append(). */
int columns_end(struct columns *columns);
uint64_t columns_rows(const struct columns *columns);

struct columns_cursor;

/* Some of the rows, one after the other. */
#define COLUMNS_ROWS 256u
struct columns_block {
    uint32_t rows;          /* at most COLUMNS_ROWS */
    const uint64_t *values; /* of column i, from values[i * COLUMNS_ROWS] on */
    const uint64_t *sizes;  /* of the rows' bytes */
    const uint8_t *bytes;
};

/* Reads from the first row on. NULL: out of memory. */
struct columns_cursor *columns_read(const struct columns *columns);
void columns_cursor_free(struct columns_cursor *cursor);
/* The next rows: 1; 0: there are none; negative: a system error. *out is valid until the next call. */
int columns_next(struct columns_cursor *cursor, struct columns_block *out);

#endif
