/* Tables in columns against a plain array: in memory, in a file, and without room. */
#include <criterion/criterion.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/columns.h"

enum { COLUMNS = 5, ROWS = 5000 };

static uint64_t seed;
static struct columns_file *file;

static void open_file(void)
{
    file = columns_file_open();
}

static void close_file(void)
{
    columns_file_close(file);
}

TestSuite(columns, .init = open_file, .fini = close_file);

static uint64_t next_random(void)
{
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return seed;
}

/* One column of each kind: equal, small, growing, of the whole range, of few bytes around a large value. */
static void make_row(uint64_t row, uint64_t *values)
{
    values[0] = 7;
    values[1] = next_random() >> 56;
    values[2] = row * 1000003;
    values[3] = next_random() ^ next_random() << 32;
    values[4] = UINT64_MAX - (next_random() >> 40);
}

/* Some rows have bytes; a few of them as many as end a block. */
static size_t make_bytes(uint64_t row, uint8_t *bytes)
{
    size_t size = row % 997 == 3 ? 300000 : row % 5 == 0 ? row % 60 : 0;
    memset(bytes, (int)row, size);
    return size;
}

static struct columns *fill_table(size_t memory, uint64_t rows)
{
    static uint8_t bytes[300000];
    uint64_t values[COLUMNS];
    struct columns *c = columns_new(COLUMNS, memory, file);
    seed = 1;
    for (uint64_t row = 0; row < rows; row++) {
        make_row(row, values);
        cr_assert_eq(columns_append(c, values, bytes, make_bytes(row, bytes)), 0);
    }
    cr_assert_eq(columns_end(c), 0);
    return c;
}

static void read_table(struct columns *c, uint64_t rows)
{
    static uint8_t bytes[300000];
    uint64_t values[COLUMNS], row = 0;
    struct columns_block block;
    struct columns_cursor *cursor = columns_read(c);
    seed = 1;
    cr_assert_eq(columns_rows(c), rows);
    while (columns_next(cursor, &block) == 1)
        for (uint32_t i = 0; i < block.rows; i++, row++) {
            make_row(row, values);
            for (unsigned column = 0; column < COLUMNS; column++)
                cr_assert_eq(block.values[column * COLUMNS_ROWS + i], values[column], "row %llu",
                             (unsigned long long)row);
            cr_assert_eq(block.sizes[i], make_bytes(row, bytes));
            cr_assert_arr_eq(block.bytes, bytes, block.sizes[i]);
            block.bytes += block.sizes[i];
        }
    cr_expect_eq(row, rows);
    cr_expect_eq(columns_next(cursor, &block), 0);
    columns_cursor_free(cursor);
}

Test(columns, rows_are_read_as_they_were_written_from_memory_and_a_file)
{
    static const size_t limits[] = {SIZE_MAX, 100000, 0};
    for (unsigned i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct columns *c = fill_table(limits[i], ROWS);
        read_table(c, ROWS);
        read_table(c, ROWS);
        columns_free(c);
    }
}

Test(columns, a_table_may_be_empty_or_end_with_a_block)
{
    static const uint64_t rows[] = {0, 1, COLUMNS_ROWS, 2 * COLUMNS_ROWS};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct columns *c = fill_table(SIZE_MAX, rows[i]);
        read_table(c, rows[i]);
        columns_free(c);
    }
}

static int append_until_full(void)
{
    static const uint64_t values[COLUMNS];
    static const uint8_t bytes[1000];
    struct columns *c = columns_new(COLUMNS, 0, file);
    int rc = 0;
    for (unsigned row = 0; row < ROWS && rc == 0; row++)
        rc = columns_append(c, values, bytes, sizeof bytes);
    columns_free(c);
    return rc;
}

Test(columns, rows_can_stay_in_memory_when_there_is_no_capacity)
{
    uint64_t values[COLUMNS];
    close_file();
    setenv("TMPDIR", "/nowhere", 1);
    open_file();
    struct columns *c = columns_new(COLUMNS, 0, file);
    for (uint64_t row = 0; row < 3000; row++) {
        for (unsigned i = 0; i < COLUMNS; i++)
            values[i] = row * i;
        int rc = columns_append(c, values, NULL, 0);
        cr_expect_eq(rc, row == COLUMNS_ROWS - 1 ? -ENOSPC : 0);
        if (rc < 0)
            cr_assert_eq(columns_stay(c), 0);
    }
    cr_assert_eq(columns_end(c), 0);
    struct columns_cursor *cursor = columns_read(c);
    struct columns_block block;
    uint64_t rows = 0;
    while (columns_next(cursor, &block) == 1)
        for (uint32_t i = 0; i < block.rows; i++, rows++)
            cr_expect_eq(block.values[3 * COLUMNS_ROWS + i], rows * 3);
    cr_expect_eq(rows, 3000u);
    columns_cursor_free(cursor);
    columns_free(c);
}

Test(columns, without_room_it_says_so)
{
    close_file();
    setenv("TMPDIR", "/nowhere", 1);
    open_file();
    cr_expect_eq(append_until_full(), -ENOSPC);
    close_file();
    unsetenv("TMPDIR");
    open_file();
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){1000000, 1000000}); /* whose signal would end the test */
    cr_expect_eq(append_until_full(), -ENOSPC);
}
