/* What mapping records become on their way to a file: the build-id of the file that was mapped, or that it was not found. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "api/record/mapped_sink.h"
#include "image/elf/build_id.h"
#include "image/mapped_name.h"
#include "process/process.h"
#include "tests/perfdata/build.h"

#define ENDED   0x7ffffff0u /* a number that no process has */
#define ADDRESS 0x400000u
#define TIME    77u

static uint64_t ids[] = {1};
static const struct event events[] = {
    {.attr = {.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME, .sample_id_all = 1},
     .ids = ids,
     .id_count = 1}};

static struct mapped_sink *sink;
static struct decoder *decoder;
static struct log quiet;
static char own[4096]; /* this program's path: a file that was not changed lately */
static struct stat own_st;
/* Of the last mapping that was passed on. */
static char seen[4200];
static struct build_id seen_id;
static uint64_t seen_time;

static int note(void *context, const void *records, size_t size, struct fathom_error *err)
{
    struct perf_event_header header;
    struct record record;
    (void)context, (void)err;
    for (const uint8_t *at = records; size; at += header.size, size -= header.size) {
        memcpy(&header, at, sizeof header);
        cr_assert(header.size && header.size <= size);
        cr_assert_eq(decoder_decode(decoder, at, header.size, &record, NULL), 0);
        if (record.kind != RECORD_MMAP)
            continue;
        snprintf(seen, sizeof seen, "%s", record.mmap.path);
        seen_id = process_build_id(&record.mmap);
        seen_time = record.time;
    }
    return 0;
}

static void start(void)
{
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    const struct mapped_sink_input input = {
        .events = events, .count = 1, .log = &quiet, .names = &quiet, .next = note};
    cr_assert(length > 0 && stat(own, &own_st) == 0);
    cr_assert_eq(decoder_new(events, 1, &decoder, NULL), 0);
    cr_assert_eq(mapped_sink_new(&input, &sink, NULL), 0);
}

static void stop(void)
{
    mapped_sink_free(sink);
    decoder_free(decoder);
}

static void put_trailer(struct build *b, uint32_t pid)
{
    put32(b, pid);
    put32(b, pid);
    put64(b, TIME);
    put64(b, ids[0]);
    record_end(b);
}

static void pass(const struct build *b)
{
    cr_assert_eq(mapped_sink_add(sink, b->bytes, b->size, NULL), 0);
}

static void map(uint32_t pid, const char *path, const struct stat *st)
{
    static struct build b;
    b.size = 0;
    record_start(&b, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
    put32(&b, pid);
    put32(&b, pid);
    put64(&b, ADDRESS);
    put64(&b, 4096);
    put64(&b, 0);
    put32(&b, major(st->st_dev));
    put32(&b, minor(st->st_dev));
    put64(&b, st->st_ino);
    put64(&b, 0);
    put32(&b, PROT_READ | PROT_EXEC);
    put32(&b, MAP_PRIVATE);
    put_text(&b, path);
    put_trailer(&b, pid);
    pass(&b);
    cr_assert_eq(seen_time, TIME, "the fields behind the name");
}

static void expect_build_of(const char *file, const char *why)
{
    struct build_id id;
    cr_assert_eq(build_id_read(file, &id, NULL), 0);
    cr_assert(id.size, "%s has a build-id", file);
    cr_expect(build_id_equal(&id, &seen_id), "%s", why);
}

static void expect_not_found(const char *path, const char *why)
{
    char name[4200];
    snprintf(name, sizeof name, "%s" MAPPED_NOT_FOUND, path);
    cr_expect_str_eq(seen, name, "%s", why);
    cr_expect_eq(seen_id.size, 0, "%s", why);
}

static void copy_over(const char *from, const char *to)
{
    char bytes[65536];
    ssize_t count;
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0700);
    cr_assert(in >= 0 && out >= 0);
    while ((count = read(in, bytes, sizeof bytes)) > 0)
        cr_assert_eq(write(out, bytes, (size_t)count), count);
    close(in);
    close(out);
}

/* A file of its own: *at, whose build is this program's. */
static struct stat new_file(char *at)
{
    struct stat st;
    int fd = mkstemp(at);
    cr_assert(fd >= 0);
    close(fd);
    copy_over(own, at);
    cr_assert_eq(stat(at, &st), 0);
    return st;
}

TestSuite(mapped, .init = start, .fini = stop);

Test(mapped, a_file_is_that_of_a_process_that_ended_if_its_inode_is_recorded)
{
    map(ENDED, own, &own_st);
    cr_expect_str_eq(seen, own);
    expect_build_of(own, "the same file");
    struct stat other = own_st;
    other.st_ino++;
    map(ENDED, own, &other);
    expect_not_found(own, "another inode");
    other = own_st;
    other.st_dev = makedev(major(own_st.st_dev), minor(own_st.st_dev) + 1);
    map(ENDED, own, &other);
    expect_not_found(own, "another device");
    map(ENDED, own, &own_st);
    expect_build_of(own, "the same file again");
}

Test(mapped, a_file_that_is_not_there_has_no_second_suffix)
{
    char path[4200];
    snprintf(path, sizeof path, "%s (deleted)", own);
    map(ENDED, path, &own_st);
    cr_expect_str_eq(seen, path);
}

Test(mapped, a_file_that_was_changed_lately_may_be_another_now)
{
    char path[] = "/tmp/fathom-mapped.XXXXXX";
    struct stat st = new_file(path);
    for (int i = 0; i < 50 && !strstr(seen, "not found");
         i++) { /* on a busy machine it may be long ago by now */
        unlink(path);
        strcpy(path, "/tmp/fathom-mapped.XXXXXX");
        st = new_file(path);
        map(ENDED, path, &st);
    }
    expect_not_found(path, "just now");
    map((uint32_t)getpid(), path, &st);
    expect_build_of(own, "the process is there");
    map(ENDED, path, &st);
    expect_build_of(own, "not changed since it was seen");
    unlink(path);
}

Test(mapped, a_build_written_over_another_is_told_apart)
{
    char path[] = "/tmp/fathom-mapped.XXXXXX";
    struct stat st = new_file(path);
    map((uint32_t)getpid(), path, &st);
    expect_build_of(own, "the first");
    copy_over("/bin/true", path);
    map((uint32_t)getpid(), path, &st);
    cr_expect_str_eq(seen, path);
    expect_build_of("/bin/true", "the second");
    copy_over(own, path);
    map((uint32_t)getpid(), path, &st);
    expect_build_of(own, "the first again");
    unlink(path);
}

/* What runs in a root directory of its own, at the same path. */
Test(mapped, the_process_that_started_it_knows_the_file)
{
    if (geteuid() != 0)
        cr_skip_test("changing the root directory is for root");
    char root[] = "/tmp/fathom-mapped.XXXXXX", file[64], byte;
    struct stat st;
    int told[2];
    cr_assert(mkdtemp(root) && pipe(told) == 0);
    snprintf(file, sizeof file, "%s/true", root);
    copy_over("/bin/true", file);
    cr_assert_eq(stat(file, &st), 0);
    nanosleep(&(struct timespec){.tv_nsec = 400000000}, NULL);
    pid_t parent = fork();
    if (parent == 0) {
        bool moved = chroot(root) == 0 && write(told[1], "", 1) == 1;
        while (moved)
            pause();
        _exit(1);
    }
    cr_assert_eq(read(told[0], &byte, 1), 1);
    map(ENDED, "/true", &st);
    expect_not_found("/true", "who started it is not known");
    static struct build b;
    record_start(&b, PERF_RECORD_FORK, 0);
    put32(&b, ENDED);
    put32(&b, (uint32_t)parent);
    put32(&b, ENDED);
    put32(&b, (uint32_t)parent);
    put64(&b, TIME);
    put_trailer(&b, ENDED);
    pass(&b);
    map(ENDED, "/true", &st);
    kill(parent, SIGKILL);
    expect_build_of(file, "as its parent sees it");
    unlink(file);
    rmdir(root);
}
