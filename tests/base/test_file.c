/* Files as bytes in memory, while others cut and write them. */
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

static char path[64];

static void make_file(size_t size)
{
    strcpy(path, "/tmp/fathom-test-file.XXXXXX");
    int fd = mkstemp(path);
    uint8_t *bytes = malloc(size + 1);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(i * 7 >> 3);
    cr_assert(fd >= 0 && bytes && file_write_all(fd, bytes, size, path, NULL) == 0);
    close(fd);
    free(bytes);
}

static void remove_file(void)
{
    unlink(path);
}

static bool holds(const struct file_view *view, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (view->data[i] != (uint8_t)(i * 7 >> 3))
            return false;
    return true;
}

Test(file, is_read_where_it_is_needed, .fini = remove_file)
{
    struct file_view view;
    const size_t size = 5 * FILE_VIEW_PIECE + 100;
    make_file(size);
    cr_assert_eq(file_view_open(path, &view, NULL), 0);
    cr_expect_eq(view.size, size);
    cr_assert_eq(file_view_need(&view, 2 * FILE_VIEW_PIECE + 5, FILE_VIEW_PIECE, NULL), 0);
    cr_expect(holds(&view, 2 * FILE_VIEW_PIECE, 4 * FILE_VIEW_PIECE));
    cr_expect_eq(view.data[5], 0, "nobody asked for it");
    cr_assert_eq(file_view_need(&view, 0, size, NULL), 0);
    cr_expect(holds(&view, 0, size));
    cr_assert_eq(file_view_need(&view, size, 0, NULL), 0);
    file_view_close(&view);
    file_view_close(&view);
}

Test(file, does_not_change_with_the_file, .fini = remove_file)
{
    struct file_view view;
    const size_t size = 3 * FILE_VIEW_PIECE;
    make_file(size);
    cr_assert_eq(file_view_read(path, &view, NULL), 0);
    cr_assert_eq(truncate(path, 0), 0);
    cr_expect(holds(&view, 0, size));
    file_view_close(&view);
}

Test(file, that_is_cut_is_an_error, .fini = remove_file)
{
    struct file_view view;
    struct fathom_error err = {0};
    const size_t size = 3 * FILE_VIEW_PIECE;
    make_file(size);
    cr_assert_eq(file_view_open(path, &view, NULL), 0);
    cr_assert_eq(file_view_need(&view, 0, 1, NULL), 0);
    cr_assert_eq(truncate(path, 5000), 0);
    cr_expect_eq(file_view_need(&view, 0, 1, NULL), 0, "it is there");
    cr_expect_eq(file_view_need(&view, 0, size, &err), -EBADMSG);
    cr_expect_not_null(strstr(err.text, "was truncated to 5000 bytes while it was read"));
    file_view_close(&view);
}

static size_t resident_bytes(const struct file_view *view, size_t from, size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *in = malloc(size / page);
    size_t count = 0;
    cr_assert(in && mincore((void *)(uintptr_t)(view->data + from), size, in) == 0);
    for (size_t i = 0; i < size / page; i++)
        count += in[i] & 1;
    free(in);
    return count * page;
}

/* A program may have terabytes of nothing, which take no room on a disk. */
Test(file, holes_take_no_memory, .fini = remove_file)
{
    struct file_view view;
    struct fathom_error err = {0};
    const size_t part = (size_t)1 << 20, size = 64 * part;
    make_file(2 * part);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    cr_assert(fd >= 0 && pwrite(fd, "there", 5, (off_t)(32 * part + 3)) == 5 &&
              ftruncate(fd, (off_t)size) == 0);
    cr_assert_eq(file_view_open(path, &view, NULL), 0);
    cr_assert_eq(file_view_need(&view, 0, size, NULL), 0);
    cr_expect(holds(&view, 0, 2 * part));
    cr_expect_arr_eq(view.data + 32 * part, "\0\0\0there\0", 9);
    cr_expect_eq(view.data[2 * part] | view.data[size - 1], 0);
    cr_expect_lt(resident_bytes(&view, 2 * part, size - 2 * part), part);
    file_view_close(&view);
    cr_assert_eq(file_view_open(path, &view, NULL), 0);
    cr_assert_eq(ftruncate(fd, (off_t)(40 * part)), 0);
    cr_expect_eq(file_view_need(&view, 0, 40 * part, NULL), 0);
    cr_expect_eq(file_view_need(&view, 0, size, &err), -EBADMSG, "it ends in a hole, and too early");
    file_view_close(&view);
    close(fd);
}

Test(file, must_be_a_regular_one)
{
    struct file_view view;
    cr_expect_eq(file_view_open("/", &view, NULL), -ENOMSG);
    cr_expect_eq(file_view_open("/dev/null", &view, NULL), -ENOMSG);
    cr_expect_eq(file_view_open("/no such file", &view, NULL), -ENOENT);
}

Test(file, devices_and_pipes_are_not_opened, .fini = remove_file)
{
    struct file_view view;
    char event[4096];
    strcpy(path, "/tmp/fathom-test-pipe.XXXXXX");
    cr_assert_not_null(mkdtemp(path));
    rmdir(path);
    cr_assert_eq(mkfifo(path, 0600), 0);
    int watch = inotify_init1(IN_NONBLOCK);
    cr_assert(watch >= 0 && inotify_add_watch(watch, path, IN_OPEN) >= 0);
    cr_expect_eq(file_view_open(path, &view, NULL), -ENOMSG);
    cr_expect(read(watch, event, sizeof event) < 0, "it was opened");
    close(watch);
}

Test(file, of_unknown_size_is_read_to_its_end)
{
    char *text;
    size_t size;
    int fd = open("/proc/self/maps", O_RDONLY);
    cr_assert_eq(file_read_text(fd, 1 << 20, &text, &size), 0);
    cr_expect(size > 100 && strlen(text) == size && strstr(text, "test_file"));
    free(text);
    cr_assert_eq(lseek(fd, 0, SEEK_SET), 0);
    cr_expect_eq(file_read_text(fd, size / 2, &text, &size), -EFBIG);
    close(fd);
    cr_expect_eq(file_read_text(-1, 1, &text, &size), -EBADF);
}
