/* Files that commands write: what is replaced, what is refused, modes, links. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/outfile.h"

static char directory[512];
static struct fathom_error err;

static void enter(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(directory, sizeof directory, "%s/fathom-outfile.XXXXXX", base ? base : "/tmp");
    cr_assert(mkdtemp(directory) && chdir(directory) == 0);
    umask(022);
}

static void leave(void)
{
    char command[600];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    cr_assert(chdir("/") == 0 && system(command) == 0);
}

TestSuite(outfile, .init = enter, .fini = leave);

static int put(const char *path, const char *text)
{
    struct outfile *file = NULL;
    int rc = outfile_open(path, &file, &err);
    if (rc == 0)
        rc = outfile_put(file, text, strlen(text), &err);
    outfile_close(file);
    return rc;
}

static void make(const char *path, const char *text, mode_t mode)
{
    FILE *out = fopen(path, "w");
    cr_assert(out && fputs(text, out) >= 0 && fclose(out) == 0 && chmod(path, mode) == 0);
}

static void holds(const char *path, const char *text)
{
    char got[64] = "";
    FILE *in = fopen(path, "r");
    cr_assert(in, "%s", path);
    got[fread(got, 1, sizeof got - 1, in)] = 0;
    fclose(in);
    cr_assert_str_eq(got, text);
}

static mode_t mode_of(const char *path)
{
    struct stat status;
    cr_assert_eq(lstat(path, &status), 0);
    return status.st_mode;
}

/* The number of files here. */
static int count(void)
{
    FILE *list = popen("ls -A | wc -l", "r");
    int n = -1;
    cr_assert(list && fscanf(list, "%d", &n) == 1);
    pclose(list);
    return n;
}

Test(outfile, new_files_are_private_and_old_ones_keep_their_mode)
{
    cr_assert_eq(put("new", "a"), 0, "%s", err.text);
    holds("new", "a");
    cr_assert_eq(mode_of("new"), S_IFREG | 0600);
    make("shared", "x", 0664);
    cr_assert_eq(put("shared", "b"), 0, "%s", err.text);
    holds("shared", "b");
    cr_assert_eq(mode_of("shared"), S_IFREG | 0664);
    cr_assert_eq(count(), 2);
}

Test(outfile, what_is_not_published_leaves_what_was_there)
{
    struct outfile *file;
    int fd;
    make("old", "good", 0644);
    cr_assert_eq(outfile_open("old", &file, &err), 0);
    cr_assert_eq(outfile_begin(file, &fd, &err), 0);
    cr_assert_eq(write(fd, "bad", 3), 3);
    outfile_close(file);
    holds("old", "good");
    cr_assert_eq(outfile_open("none", &file, &err), 0);
    outfile_close(file);
    cr_assert_eq(count(), 1);
}

Test(outfile, the_old_one_is_kept)
{
    struct outfile *file;
    int fd;
    make("f", "1", 0600);
    make("f.old", "0", 0600);
    cr_assert_eq(outfile_open("f", &file, &err), 0);
    cr_assert_eq(outfile_begin(file, &fd, &err), 0);
    cr_assert_eq(outfile_publish(file, true, &err), 0, "%s", err.text);
    cr_assert_eq(write(fd, "2", 1), 1); /* goes on in its place */
    outfile_close(file);
    holds("f", "2");
    holds("f.old", "1");
    cr_assert_eq(count(), 2);
}

Test(outfile, what_is_no_file_is_refused_and_stays)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    cr_assert_eq(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd);
    cr_assert_eq(put("socket", "x"), -ENXIO);
    cr_assert(S_ISSOCK(mode_of("socket")));
    cr_assert_eq(mkdir("d", 0700), 0);
    cr_assert_eq(put("d", "x"), -EISDIR);
    cr_assert_eq(put("d/", "x"), -EISDIR);
    cr_assert_eq(put("", "x"), -EISDIR);
    cr_assert_eq(put("none/f", "x"), -ENOENT);
    cr_assert(strstr(err.text, "none/f"));
    if (geteuid() == 0 && mknod("block", S_IFBLK | 0600, makedev(7, 250)) == 0) {
        cr_assert_eq(put("block", "x"), -ENXIO);
        cr_assert(S_ISBLK(mode_of("block")));
    }
}

Test(outfile, pipes_and_devices_are_written)
{
    char got[8] = "";
    cr_assert_eq(mkfifo("pipe", 0600), 0);
    int fd = open("pipe", O_RDWR);
    cr_assert_eq(put("pipe", "text"), 0, "%s", err.text);
    cr_assert_eq(read(fd, got, sizeof got), 4);
    cr_assert_str_eq(got, "text");
    cr_assert(S_ISFIFO(mode_of("pipe")));
    close(fd);
    cr_assert_eq(put("/dev/full", "x"), -ENOSPC);
    if (geteuid() != 0 || mknod("null", S_IFCHR | 0666, makedev(1, 3)) < 0)
        return;
    cr_assert_eq(put("null", "x"), 0, "%s", err.text);
    cr_assert(S_ISCHR(mode_of("null")));
    cr_assert_eq(symlink("null", "link"), 0);
    cr_assert_eq(put("link", "x"), 0, "%s", err.text);
    cr_assert(S_ISLNK(mode_of("link")));
    cr_assert(S_ISCHR(mode_of("null")));
    cr_assert_eq(count(), 3);
}

Test(outfile, own_links_are_followed)
{
    cr_assert_eq(mkdir("d", 0700), 0);
    make("d/file", "x", 0640);
    cr_assert_eq(symlink("file", "d/near"), 0);
    cr_assert_eq(symlink("d/near", "far"), 0);
    cr_assert_eq(put("far", "y"), 0, "%s", err.text);
    holds("d/file", "y");
    cr_assert_eq(mode_of("d/file"), S_IFREG | 0640);
    cr_assert(S_ISLNK(mode_of("far")) && S_ISLNK(mode_of("d/near")));
    cr_assert_eq(symlink("d/new", "dangling"), 0);
    cr_assert_eq(put("dangling", "z"), 0, "%s", err.text);
    holds("d/new", "z");
    cr_assert_eq(symlink("round", "round"), 0);
    cr_assert_eq(put("round", "z"), -ENXIO);
}

/* Where a directory is another user's link: in one like /tmp, and in one of our own. */
Test(outfile, directories_that_others_link_are_refused)
{
    if (geteuid() != 0)
        cr_skip_test("only root can make another user's link");
    cr_assert_eq(mkdir("shared", 0700), 0);
    cr_assert_eq(chmod("shared", 01777), 0);
    cr_assert_eq(mkdir("aim", 0700), 0);
    cr_assert_eq(symlink("../aim", "shared/way"), 0);
    cr_assert_eq(put("shared/way/file", "x"), 0, "%s", err.text); /* our own link */
    cr_assert_eq(lchown("shared/way", 65534, 65534), 0);
    cr_expect_eq(put("shared/way/file", "y"), -EPERM);
    cr_expect(strstr(err.text, "shared/way is another user's"), "%s", err.text);
    cr_expect_eq(put("shared//way/../aim/new", "y"), -EPERM);
    cr_assert_eq(symlink("shared/way", "near"), 0); /* ours leads to theirs */
    cr_expect_eq(put("near/file", "y"), -EPERM);
    cr_assert_eq(symlink("shared/way/deep", "last"), 0);
    cr_expect_eq(put("last", "y"), -EPERM);
    cr_assert_eq(chmod("shared", 0755), 0); /* only root could put it there */
    cr_expect_eq(put("near/file", "z"), 0, "%s", err.text);
    cr_assert_eq(chmod("shared", 01777), 0);
    cr_assert_eq(chown("shared", 65534, 65534), 0); /* as in the kernel: the directory's owner */
    cr_expect_eq(put("near/file", "z"), 0, "%s", err.text);
    cr_assert_eq(symlink("turn", "turn"), 0);
    cr_expect_neq(put("turn/file", "z"), 0);
}

Test(outfile, links_of_others_are_refused)
{
    if (geteuid() != 0)
        cr_skip_test("only root can make another user's link");
    make("victim", "x", 0600);
    cr_assert_eq(symlink("victim", "link"), 0);
    cr_assert_eq(lchown("link", 65534, 65534), 0);
    cr_assert_eq(put("link", "y"), -EPERM);
    holds("victim", "x");
    /* another user's file is replaced by a private one */
    make("theirs", "x", 0666);
    cr_assert_eq(chown("theirs", 65534, 65534), 0);
    cr_assert_eq(put("theirs", "y"), 0, "%s", err.text);
    cr_assert_eq(mode_of("theirs"), S_IFREG | 0600);
}

Test(outfile, what_cannot_be_replaced_at_the_end_is_refused_at_the_start)
{
    if (geteuid() != 0)
        cr_skip_test("only root can make another user's file");
    make("theirs", "x", 0666);
    cr_assert_eq(chown("theirs", 65534, 65534), 0);
    make("ours", "x", 0600);
    cr_assert_eq(chown("ours", 1, 1), 0);
    cr_assert_eq(chmod(".", 01777), 0);
    cr_assert_eq(seteuid(1), 0);
    struct outfile *file;
    cr_expect_eq(outfile_open("theirs", &file, &err), -EPERM);
    cr_expect_eq(put("ours", "y"), 0, "%s", err.text);
    cr_expect_eq(put("new", "y"), 0, "%s", err.text);
    cr_assert_eq(seteuid(0), 0);
    holds("theirs", "x");
    holds("ours", "y");
}

Test(outfile, names_that_no_file_can_have_are_refused)
{
    char name[400] = "";
    make("file", "old", 0600);
    memset(name, 'n', 300);
    cr_assert_eq(put(name, "x"), -ENXIO);
    cr_assert(strstr(err.text, strerror(ENAMETOOLONG)), "%s", err.text);
    name[250] = 0; /* the name of the temporary file would be too long */
    cr_assert_eq(put(name, "x"), -ENXIO);
    name[200] = 0;
    cr_assert_eq(put(name, "x"), 0);
    cr_assert_eq(put("file/below", "x"), -ENXIO);
    cr_assert_eq(put("", "x"), -EISDIR);
    cr_assert(strstr(err.text, "''"), "%s", err.text);
}

/* Whether some moment has no file in the place while another process puts new ones there. */
Test(outfile, what_is_kept_as_old_is_never_missing)
{
    make("place", "first", 0600);
    make("place.old", "zeroth", 0600);
    pid_t pid = fork();
    for (int i = 0; pid == 0 && i < 2000; i++) {
        struct outfile *file = NULL;
        int fd;
        if (outfile_open("place", &file, &err) < 0 || outfile_begin(file, &fd, &err) < 0 ||
            write(fd, "later", 5) != 5 || outfile_publish(file, true, &err) < 0)
            _exit(1);
        outfile_close(file);
    }
    if (pid == 0)
        _exit(0);
    int missing = 0, status = 0;
    while (waitpid(pid, &status, WNOHANG) == 0)
        missing += (access("place", F_OK) != 0) + (access("place.old", F_OK) != 0);
    cr_assert_eq(status, 0);
    cr_assert_eq(missing, 0);
    holds("place.old", "later");
    cr_assert_eq(system("test \"$(ls | wc -l)\" = 2"), 0, "no other file is left");
}

Test(outfile, nothing_is_left_of_a_file_that_was_not_published)
{
    struct outfile *file = NULL;
    int fd;
    int nameless = open(".", O_TMPFILE | O_RDWR, 0600);
    if (nameless < 0)
        cr_skip_test("this file system has no files without names");
    close(nameless);
    cr_assert_eq(outfile_open("new", &file, &err), 0);
    cr_assert_eq(outfile_begin(file, &fd, &err), 0);
    cr_assert_eq(write(fd, "text", 4), 4);
    cr_expect_eq(system("test -z \"$(ls -A)\""), 0, "as when the process is killed now");
    cr_assert_eq(outfile_publish(file, false, &err), 0, "%s", err.text);
    cr_assert_eq(write(fd, " more", 5), 5);
    outfile_close(file);
    holds("new", "text more");
    cr_expect_eq(system("test \"$(ls -A)\" = new"), 0);
    cr_expect_eq(mode_of("new"), S_IFREG | 0600);
}
