/* test_known.c - what a server is known to have, in a file: kept, of one server, for an hour; damaged files know nothing. */
#include "store/known.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checksum.h"

#define URL "http://host:8123/fathom"

struct fixture {
    char file[64];
    struct fathom_error err;
};

static struct fixture begin(void)
{
    struct fixture f = {.file = "/tmp/fathom_known_XXXXXX"};
    int fd = mkstemp(f.file);
    cr_assert(fd >= 0);
    close(fd);
    unlink(f.file);
    return f;
}

static struct known *opened(struct fixture *f, const char *url)
{
    struct known *k = NULL;
    cr_assert_eq(known_open(f->file, url, &k, &f->err), 0, "%s", f->err.text);
    return k;
}

static void save(struct fixture *f, uint64_t from, uint64_t to)
{
    struct known *k = opened(f, URL);
    for (uint64_t i = from; i < to; i++)
        known_add(k, i * 0x9e3779b97f4a7c15u);
    cr_assert_eq(known_save(k, &f->err), 0, "%s", f->err.text);
    known_free(k);
}

static size_t count_of(struct fixture *f, const char *url)
{
    struct known *k = opened(f, url);
    const size_t count = known_count(k);
    known_free(k);
    return count;
}

Test(known, knows_what_was_saved)
{
    struct fixture f = begin();
    cr_assert_eq(count_of(&f, URL), 0);
    save(&f, 1, 5001);
    save(&f, 4001, 6001);
    struct known *k = opened(&f, URL);
    cr_assert_eq(known_count(k), 6000);
    cr_assert(known_has(k, 6000 * 0x9e3779b97f4a7c15u));
    cr_assert_not(known_has(k, 6001 * 0x9e3779b97f4a7c15u));
    known_add(k, 77);
    cr_assert_not(known_has(k, 77), "the server has not acknowledged it");
    cr_assert_eq(known_forget(k, &f.err), 0);
    cr_assert_eq(known_count(k), 0);
    known_free(k);
    unlink(f.file);
}

Test(known, is_of_one_server)
{
    struct fixture f = begin();
    save(&f, 1, 11);
    cr_assert_eq(count_of(&f, URL), 10);
    cr_assert_eq(count_of(&f, URL "2"), 0);
    unlink(f.file);
}

/* change AT: adds to the number there, makes the checksum good if asked to, and writes `count` numbers. */
static void change(struct fixture *f, size_t at, int64_t by, bool sums, size_t count)
{
    uint64_t numbers[14] = {0};
    FILE *file = fopen(f->file, "r+");
    cr_assert_eq(fread(numbers, sizeof *numbers, 14, file), 14);
    numbers[at] += (uint64_t)by;
    if (sums)
        numbers[count - 1] = checksum_of(numbers, (count - 1) * sizeof *numbers);
    rewind(file);
    fwrite(numbers, sizeof *numbers, 14, file);
    fclose(file);
    cr_assert_eq(truncate(f->file, (off_t)(count * sizeof *numbers)), 0);
}

Test(known, forgets_what_is_old_or_damaged)
{
    static const struct {
        size_t at;
        int64_t by;
        bool sums;
        size_t count, known;
    } cases[] = {{2, 0, true, 14, 10},   {2, -3500, true, 14, 10}, {2, -3601, true, 14, 0},
                 {2, 1000, true, 14, 0}, {5, 1, false, 14, 0},     {5, 0, false, 13, 0},
                 {5, 0, false, 3, 0},    {5, 0, false, 0, 0},      {5, 0, true, 13, 9},
                 {5, 0, true, 4, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f = begin();
        save(&f, 1, 11);
        change(&f, cases[i].at, cases[i].by, cases[i].sums, cases[i].count);
        cr_assert_eq(count_of(&f, URL), cases[i].known, "case %zu", i);
        unlink(f.file);
    }
}

Test(known, is_bounded)
{
    struct fixture f = begin();
    save(&f, 1, 1100000);
    cr_assert_eq(count_of(&f, URL), 1 << 20);
    unlink(f.file);
}

Test(known, a_file_that_cannot_be_written_is_told)
{
    struct known *k = NULL;
    struct fathom_error err;
    cr_assert_eq(known_open("/nowhere/known", URL, &k, &err), -ENOENT);
}

Test(known, what_is_something_else_is_left_as_it_is)
{
    static const char *const texts[] = {"x", "not a file of known hashes\n"};
    struct known *k = NULL;
    struct fixture f = begin();
    cr_assert_eq(known_open("/tmp", URL, &k, &f.err), -ENOMSG);
    cr_assert_eq(mkfifo(f.file, 0600), 0);
    cr_assert_eq(known_open(f.file, URL, &k, &f.err), -ENOMSG, "and does not wait for a writer");
    unlink(f.file);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char got[64] = "";
        FILE *file = fopen(f.file, "w+");
        fputs(texts[i], file);
        fflush(file);
        cr_assert_eq(known_open(f.file, URL, &k, &f.err), -ENOMSG);
        cr_assert(strstr(f.err.text, "something else"), "%s", f.err.text);
        rewind(file);
        cr_assert_eq(fread(got, 1, sizeof got, file), strlen(texts[i]));
        cr_assert_str_eq(got, texts[i]);
        fclose(file);
    }
    unlink(f.file);
}
