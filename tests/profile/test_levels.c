/* Levels above functions: the words, and what each tells of a sample. */
#include <criterion/criterion.h>

#include <errno.h>
#include <string.h>

#include "profile/level_frames.h"

static void expect_refused(const char *by, const char *why)
{
    struct levels levels = {.count = 77};
    struct fathom_error err = {0};
    cr_expect_eq(levels_parse(by, &levels, &err), -EINVAL, "%s", by);
    cr_expect_not_null(strstr(err.text, why), "%s: %s", by, err.text);
    cr_expect_eq(levels.count, 77, "untouched");
}

Test(levels, words)
{
    struct levels levels;
    cr_assert_eq(levels_parse(NULL, &levels, NULL), 0);
    cr_expect_eq(levels.count, 0);
    cr_assert_eq(levels_parse("state,tid,pid,comm,exe,service,container,cgroup", &levels, NULL), 0);
    cr_assert_eq(levels.count, LEVEL_KEYS);
    for (unsigned i = 0; i < LEVEL_KEYS; i++)
        cr_expect_eq(levels.at[i], LEVEL_KEYS - 1 - i);
    levels_add_programs(&levels);
    cr_expect_eq(levels.at[LEVEL_KEYS], LEVEL_PROGRAMS);
    expect_refused("", "there is no ''");
    expect_refused("comm,", "there is no ''");
    expect_refused("comm,,pid", "there is no ''");
    expect_refused("com", "there is no 'com'");
    expect_refused("comm, pid", "there is no ' pid'");
    expect_refused("programs", "there is no 'programs'");
    expect_refused("comm,pid,comm", "'comm' is given twice");
}

struct world {
    struct image_cache *images;
    struct processes *processes;
    struct frames *frames;
};

static void apply(struct world *w, const struct record *record)
{
    cr_assert_eq(processes_apply(w->processes, record, &(struct fathom_error){0}), 0);
}

/* A process of another that executes a program. */
static void start(struct world *w, uint32_t pid, uint32_t parent, uint64_t time, const char *comm)
{
    struct record r = {.kind = RECORD_FORK, .pid = pid, .tid = pid, .time = time, .fork = {parent, parent}};
    apply(w, &r);
    r = (struct record){.kind = RECORD_COMM, .pid = pid, .tid = pid, .time = time + 1, .comm = {comm, true}};
    apply(w, &r);
}

/* A shell, 10, that started a server, 11, which has a thread, 12. */
static struct world world_open(void)
{
    struct world w = {.images = image_cache_new(NULL), .frames = frames_new()};
    w.processes = processes_new(w.images, NULL);
    cr_assert(w.images && w.processes && w.frames);
    struct record r = {.kind = RECORD_COMM, .pid = 10, .tid = 10, .time = 1, .comm = {"sh", true}};
    apply(&w, &r);
    start(&w, 11, 10, 2, "server");
    r = (struct record){.kind = RECORD_MMAP, .pid = 11, .tid = 11, .time = 3};
    r.mmap = (struct record_mmap){
        .address = 0x1000, .length = 0x1000, .executable = true, .path = "/usr/bin/server"};
    apply(&w, &r);
    r = (struct record){.kind = RECORD_FORK, .pid = 11, .tid = 12, .time = 4, .fork = {11, 11}};
    apply(&w, &r);
    r = (struct record){.kind = RECORD_COMM, .pid = 11, .tid = 12, .time = 5, .comm = {"worker", false}};
    apply(&w, &r);
    r = (struct record){.kind = RECORD_CGROUP,
                        .time = 1,
                        .cgroup = {"/system.slice/server.service/"
                                   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
                                   5}};
    apply(&w, &r);
    return w;
}

static void world_close(struct world *w)
{
    processes_free(w->processes);
    image_cache_free(w->images);
    frames_free(w->frames);
}

/* "a;b" */
static const char *text_of(struct world *w, enum level level, uint32_t pid, uint32_t tid, uint64_t cgroup)
{
    static char text[1024];
    uint32_t items[LEVEL_FRAMES];
    const struct sample sample = {.pid = pid, .tid = tid, .cgroup = cgroup};
    int count = level_frames(level, w->frames, process_find(w->processes, pid), &sample, items);
    cr_assert_gt(count, 0);
    text[0] = 0;
    for (int i = 0; i < count; i++) {
        const struct frame *frame = frames_at(w->frames, items[i]);
        cr_expect(frame->kind == FRAME_LEVEL && level_of(frame) == level && !*frame->image);
        strcat(strcat(text, i ? ";" : ""), frame->name);
    }
    return text;
}

Test(levels, of_a_sample)
{
    struct world w = world_open();
    cr_expect_str_eq(text_of(&w, LEVEL_EXE, 11, 12, 0), "/usr/bin/server");
    cr_expect_str_eq(text_of(&w, LEVEL_COMM, 11, 12, 0), "worker");
    cr_expect_str_eq(text_of(&w, LEVEL_COMM, 11, 11, 0), "server");
    cr_expect_str_eq(text_of(&w, LEVEL_PID, 11, 12, 0), "server/11");
    cr_expect_str_eq(text_of(&w, LEVEL_TID, 11, 12, 0), "worker/12");
    cr_expect_str_eq(text_of(&w, LEVEL_PROGRAMS, 11, 12, 0), "sh;server");
    cr_expect_str_eq(text_of(&w, LEVEL_CONTAINER, 11, 12, 5), "0123456789ab");
    cr_expect_str_eq(text_of(&w, LEVEL_SERVICE, 11, 12, 5), "server.service");
    const char *cgroup = text_of(&w, LEVEL_CGROUP, 11, 12, 5);
    cr_expect_eq(strncmp(cgroup, "/system.slice/server.service/0123", 33), 0, "%s", cgroup);
    world_close(&w);
}

Test(levels, that_are_not_known)
{
    struct world w = world_open();
    cr_expect_str_eq(text_of(&w, LEVEL_CGROUP, 11, 11, 0), "[unknown cgroup]");
    cr_expect_str_eq(text_of(&w, LEVEL_CONTAINER, 11, 11, 6), "[unknown cgroup]");
    struct record r = {.kind = RECORD_CGROUP, .time = 1, .cgroup = {"/", 7}};
    apply(&w, &r);
    cr_expect_str_eq(text_of(&w, LEVEL_CGROUP, 11, 11, 7), "/");
    cr_expect_str_eq(text_of(&w, LEVEL_CONTAINER, 11, 11, 7), "[no container]");
    cr_expect_str_eq(text_of(&w, LEVEL_SERVICE, 11, 11, 7), "[no service]");
    cr_expect_str_eq(text_of(&w, LEVEL_EXE, 10, 10, 0), "[unknown]");
    cr_expect_str_eq(text_of(&w, LEVEL_COMM, 99, 99, 0), "[unknown]");
    cr_expect_str_eq(text_of(&w, LEVEL_PID, 99, 99, 0), "[unknown]/99");
    cr_expect_str_eq(text_of(&w, LEVEL_PROGRAMS, 99, 99, 0), "[unknown]");
    cr_expect_str_eq(text_of(&w, LEVEL_COMM, 0, 0, 0), "[idle]");
    world_close(&w);
}

/* A view folds what is the same item twice in a row. */
Test(levels, of_one_text_differ)
{
    struct world w = world_open();
    uint32_t sh[LEVEL_FRAMES], comm[LEVEL_FRAMES], again[LEVEL_FRAMES];
    const struct sample sample = {.pid = 10, .tid = 10};
    const struct process *process = process_find(w.processes, 10);
    level_frames(LEVEL_PROGRAMS, w.frames, process, &sample, sh);
    level_frames(LEVEL_COMM, w.frames, process, &sample, comm);
    cr_expect_neq(sh[0], comm[0]);
    start(&w, 20, 10, 6, "sh");
    cr_expect_eq(level_frames(LEVEL_PROGRAMS, w.frames, process_find(w.processes, 20), &sample, again), 2);
    cr_expect(again[0] == sh[0] && again[1] != sh[0]);
    world_close(&w);
}
