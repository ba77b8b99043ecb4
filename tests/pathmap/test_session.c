/* test_session.c - the session's directory and its mailbox, with the client's side played by a thread. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "pathmap/train/session.h"
#include "pathmap/train/session_directory.h"
#include "pathmap/wire/mail.h"

static struct image_cache *images;
static struct session *session;
static struct mail *mail;

static void begin(struct session_options options)
{
    char path[512];
    struct fathom_error err = {0};
    images = options.images = image_cache_new(NULL);
    cr_assert_eq(session_open(&options, &session, &err), 0, "%s", err.text);
    snprintf(path, sizeof path, "%s/" MAIL_NAME, session_directory(session));
    int fd = open(path, O_RDWR | O_CLOEXEC);
    cr_assert_geq(fd, 0);
    mail = mmap(NULL, MAIL_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    cr_assert_neq(mail, MAP_FAILED);
    cr_assert_eq(mail->magic, MAIL_MAGIC);
}

static void end(void)
{
    session_close(session);
    image_cache_free(images);
    munmap(mail, MAIL_SIZE);
}

static void ask(const char *path)
{
    snprintf(mail->path, sizeof mail->path, "%s", path);
    uint32_t request = __atomic_add_fetch(&mail->request_seq, 1, __ATOMIC_ACQ_REL);
    cr_assert(session_serve(session, 0));
    cr_assert_eq(mail->reply_seq, request);
}

/* The whole path of this program, which is none of those left out. */
static const char *self(char path[4096])
{
    ssize_t n = readlink("/proc/self/exe", path, 4095);
    cr_assert_gt(n, 0);
    path[n] = '\0';
    return path;
}

static struct plan read_answer(struct file_view *view)
{
    char path[512];
    struct plan plan;
    snprintf(path, sizeof path, "%s/%s", session_directory(session), mail->plan);
    cr_assert_eq(file_view_read(path, view, NULL), 0);
    cr_assert_eq(plan_read(view->data, view->size, &plan, NULL), 0);
    return plan;
}

/* What clients write there changes nothing of what they are told. */
Test(session, has_hooks_put_in_and_out)
{
    begin((struct session_options){.recording = {.on_request = 1}});
    cr_expect_eq(mail->turns, 0);
    session_hooks(session, false);
    cr_expect_eq(mail->turns, 0, "they are out");
    session_hooks(session, true);
    cr_expect_eq(mail->turns, 1);
    session_hooks(session, true);
    cr_expect_eq(mail->turns, 1);
    mail->turns = 1000;
    session_hooks(session, false);
    cr_expect_eq(mail->turns, 2);
    session_hooks(session, true);
    cr_expect_eq(mail->turns, 3);
    end();
}

Test(session, answers_with_a_plan_once_for_each_file)
{
    char path[4096], plan[sizeof mail->plan], other[64];
    struct file_view view;
    begin((struct session_options){0});
    cr_expect_not(session_serve(session, 0), "nobody asked");
    ask(self(path));
    cr_assert_eq(mail->status, MAIL_PLAN);
    cr_expect_gt(read_answer(&view).header->hook_count, 10);
    file_view_close(&view);
    strcpy(plan, mail->plan);
    cr_expect_not(session_serve(session, 0), "it was answered");
    snprintf(other, sizeof other, "/proc/%d/exe", (int)getpid());
    ask(other);
    cr_expect_eq(mail->status, MAIL_PLAN);
    cr_expect_str_eq(mail->plan, plan, "the same file by another name");
    cr_assert_eq(session_image_count(session), 1);
    cr_expect_str_eq(session_image(session, 0)->path, path);
    cr_expect_null(session_image(session, 0)->failure);
    end();
}

Test(session, leaves_the_c_library_alone_unless_it_is_named)
{
    const char *libc = "/lib/x86_64-linux-gnu/libc.so.6";
    if (access(libc, R_OK) != 0)
        cr_skip_test("no libc at %s", libc);
    begin((struct session_options){0});
    ask(libc);
    cr_assert_eq(mail->status, MAIL_CALLS);
    struct file_view view;
    struct plan plan = read_answer(&view);
    cr_expect_eq(plan.header->hook_count, 0);
    cr_expect_gt(plan.header->call_count, 1000);
    file_view_close(&view);
    cr_expect_eq(session_image_count(session), 0);
    end();
    begin((struct session_options){.names = (const char *const[]){"nothing", "libc.so"}, .name_count = 2});
    ask(libc);
    cr_expect_eq(mail->status, MAIL_PLAN);
    char path[4096];
    ask(self(path));
    cr_expect_eq(mail->status, MAIL_CALLS, "not named");
    end();
}

Test(session, wants_by_name)
{
    struct session_options all = {0},
                           some = {.names = (const char *const[]){"libm.", "lua"}, .name_count = 2};
    cr_expect(session_wants(&all, "/usr/bin/lua5.4"));
    cr_expect_not(session_wants(&all, "/lib64/ld-linux-x86-64.so.2"));
    cr_expect_not(session_wants(&all, "/lib/x86_64-linux-gnu/libc.so.6"));
    cr_expect(session_wants(&all, "/usr/lib/libcrypt.so.1"));
    cr_expect_not(session_wants(&all, "/usr/lib/fathom/libfathom-probe.so"));
    cr_expect_not(session_wants(&all, "[vdso]"));
    cr_expect(session_wants(&some, "/usr/bin/lua5.4"));
    cr_expect(session_wants(&some, "/lib/libm.so.6"));
    cr_expect_not(session_wants(&some, "/lib/libmagic.so.1"));
}

Test(session, says_why_there_is_no_plan)
{
    begin((struct session_options){0});
    ask("/no/such/file");
    cr_expect_eq(mail->status, MAIL_FAILED);
    cr_expect_str_eq(mail->reason, "its file no longer exists");
    ask("/etc/passwd");
    cr_expect_eq(mail->status, MAIL_FAILED);
    cr_expect_neq(mail->reason[0], 0);
    cr_assert_eq(session_image_count(session), 1);
    cr_expect_str_eq(session_image(session, 0)->failure, mail->reason);
    memset(mail->path, 'x', sizeof mail->path); /* no end */
    __atomic_add_fetch(&mail->request_seq, 1, __ATOMIC_ACQ_REL);
    cr_expect(session_serve(session, 0));
    cr_expect_eq(mail->status, MAIL_FAILED);
    end();
}

Test(session, sleds_only_hooks_no_function_without_one)
{
    char path[4096];
    struct file_view view;
    begin((struct session_options){.sleds_only = true});
    ask(self(path));
    cr_assert_eq(mail->status, MAIL_PLAN);
    cr_expect_eq(read_answer(&view).header->hook_count, 0);
    file_view_close(&view);
    end();
}

static void *client(void *path)
{
    usleep(20000);
    snprintf(mail->path, sizeof mail->path, "%s", (char *)path);
    __atomic_add_fetch(&mail->request_seq, 1, __ATOMIC_ACQ_REL);
    syscall(202 /* futex */, &mail->request_seq, 1 /* wake */, 1, NULL, NULL, 0);
    return NULL;
}

Test(session, a_request_ends_the_wait, .timeout = 20)
{
    char path[] = "/no/such/file";
    pthread_t thread;
    begin((struct session_options){0});
    pthread_create(&thread, NULL, client, path);
    cr_expect(session_serve(session, 15000));
    pthread_join(thread, NULL);
    end();
}

Test(session, the_directory_is_private_and_goes)
{
    begin((struct session_options){0});
    char directory[512];
    struct stat st;
    snprintf(directory, sizeof directory, "%s", session_directory(session));
    cr_assert_eq(stat(directory, &st), 0);
    cr_expect_eq(st.st_mode & 07777, 0700);
    end();
    cr_expect_eq(stat(directory, &st), -1);
    cr_expect_eq(errno, ENOENT);
}

Test(session, who_still_runs_is_told_that_it_is_over)
{
    struct mail *kept;
    begin((struct session_options){0});
    kept = mail;
    session_close(session);
    cr_expect_neq(kept->magic, MAIL_MAGIC);
    image_cache_free(images);
}

Test(session, needs_a_directory_to_write_to)
{
    struct session_options options = {0};
    struct fathom_error err = {0};
    setenv("TMPDIR", "/no/such/place", 1);
    cr_expect_eq(session_open(&options, &session, &err), -ENOENT);
    cr_expect_neq(err.text[0], 0);
}

/* A session whose trainer is killed at once; the path of its directory. */
static char *die(const char *output)
{
    int ends[2];
    char *path = calloc(1, 512);
    cr_assert_eq(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct session_options options = {.output = output, .sleds_only = true};
        struct session *own;
        if (session_open(&options, &own, NULL) < 0)
            _exit(1);
        dprintf(ends[1], "%s", session_directory(own));
        kill(getpid(), SIGKILL);
    }
    close(ends[1]);
    cr_assert_gt(read(ends[0], path, 511), 0);
    close(ends[0]);
    siginfo_t info;
    cr_assert_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0, "it stays a zombie");
    return path;
}

Test(session, is_known_to_be_over_when_its_trainer_was_killed)
{
    char *path = die(NULL), name[600];
    snprintf(name, sizeof name, "%s/" MAIL_NAME, path);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    cr_assert_geq(fd, 0);
    struct mail left;
    cr_assert_eq(pread(fd, &left, sizeof left, 0), (ssize_t)sizeof left);
    close(fd);
    cr_expect_eq(left.magic, MAIL_MAGIC);
    cr_expect(left.trainer & FUTEX_OWNER_DIED);
    begin((struct session_options){0});
    cr_expect_eq(mail->trainer & FUTEX_TID_MASK, (uint32_t)gettid());
    cr_expect_not(mail->trainer & FUTEX_OWNER_DIED);
    end();

    struct session_directory directory;
    struct session_about about;
    struct fathom_error err = {0};
    cr_assert_eq(session_directory_adopt(path, &directory, &about, &err), 0, "%s", err.text);
    session_directory_remove(&directory);
    cr_expect_neq(access(path, F_OK), 0);
    free(path);
}

Test(session, is_recovered_by_one_at_a_time_and_not_while_it_runs)
{
    struct session_directory directory, other;
    struct session_about about;
    char *path = die("/some/where/out.fmap"), **paths;
    cr_assert_eq(session_directory_adopt(path, &directory, &about, NULL), 0);
    cr_expect_str_eq(about.output, "/some/where/out.fmap");
    cr_expect(about.partial);
    cr_expect_eq(session_directory_adopt(path, &other, &about, NULL), -EBUSY);
    session_directory_close(&directory);
    size_t count, found = 0;
    cr_assert_eq(session_directory_list(&paths, &count, NULL), 0);
    for (size_t i = 0; i < count; i++) {
        found += strcmp(paths[i], path) == 0;
        free(paths[i]);
    }
    free(paths);
    cr_expect_eq(found, 1);
    cr_assert_eq(session_directory_adopt(path, &directory, &about, NULL), 0);
    session_directory_remove(&directory);
    free(path);

    begin((struct session_options){0});
    cr_expect_eq(session_directory_adopt(session_directory(session), &other, &about, NULL), -EBUSY);
    end();
    cr_expect_eq(session_directory_adopt("/no/such", &other, &about, NULL), -ENOENT);
    cr_expect_eq(session_directory_adopt("/proc/self/fdinfo", &other, &about, NULL), -ENOMSG);
}

Test(session, is_swept_if_its_trainer_was_killed_before_the_mailbox)
{
    struct session_directory directory;
    struct session_about about = {.output = "/some/where/out.fmap"};
    char name[600];
    cr_assert_eq(session_directory_make(&directory, NULL), 0);
    cr_assert_eq(session_directory_describe(&directory, &about, NULL), 0);
    char *path = strdup(directory.path);
    session_directory_sweep(path);
    cr_expect_eq(access(path, F_OK), 0, "it is in use");
    session_directory_close(&directory);
    snprintf(name, sizeof name, "%s/kept", path);
    close(open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    session_directory_sweep(path);
    cr_expect_eq(access(name, F_OK), 0, "it has more in it");
    unlink(name);
    session_directory_sweep(path);
    cr_expect_neq(access(path, F_OK), 0);
    free(path);
}
