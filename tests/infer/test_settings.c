/* Where samples were taken: by processes made of records. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "infer/samples/settings.h"
#include "infer/samples/starts.h"

enum { PID = 10, BASE = 0x7f0000001000, LOW = 0x7f0000000000 };

struct scene {
    struct image_cache *images;
    struct processes *processes;
    struct origins *origins;
    struct settings *settings;
};

static struct scene begin(void)
{
    struct scene s = {.images = image_cache_new(NULL), .origins = origins_new(), .settings = settings_new()};
    s.processes = processes_new(s.images, NULL);
    cr_assert(s.images && s.processes && s.origins && s.settings);
    return s;
}

static void end(struct scene *s)
{
    settings_free(s->settings);
    origins_free(s->origins);
    processes_free(s->processes);
    image_cache_free(s->images);
}

static void apply(struct scene *s, const struct record *record)
{
    cr_assert_eq(processes_apply(s->processes, record, NULL), 0);
}

/* A file of this name, whose build-id begins with `build`; 0: it has none. */
static void map(struct scene *s, uint32_t pid, uint64_t address, const char *path, uint8_t build)
{
    struct record r = {.kind = RECORD_MMAP, .pid = pid, .tid = pid};
    r.mmap.address = address;
    r.mmap.length = 0x1000;
    r.mmap.executable = true;
    r.mmap.path = path;
    r.mmap.build_id_size = build ? 20 : 0;
    r.mmap.build_id[0] = build;
    apply(s, &r);
}

static void start(struct scene *s, uint32_t pid, uint32_t tid, uint32_t parent, uint32_t parent_tid,
                  uint64_t time)
{
    struct record r = {.kind = RECORD_FORK, .pid = pid, .tid = tid, .time = time};
    r.fork.parent_pid = parent;
    r.fork.parent_tid = parent_tid;
    apply(s, &r);
}

static void exec(struct scene *s, uint32_t pid, uint64_t time)
{
    struct record r = {.kind = RECORD_COMM, .pid = pid, .tid = pid, .time = time};
    r.comm.name = "other";
    r.comm.exec = true;
    apply(s, &r);
}

/* The setting of a sample of this thread on its own stack; `own` false: on one of no thread. */
static uint32_t number(struct scene *s, uint32_t pid, uint32_t tid, bool own)
{
    struct sample sample = {.pid = pid, .tid = tid, .sp = own ? LOW + 8 : 0x1000};
    struct process *process = process_find(s->processes, pid);
    uint32_t out;
    cr_assert(process);
    cr_assert_eq(process_set_stack(process, tid, LOW, BASE, NULL), 0);
    cr_assert_eq(settings_of(s->settings, s->origins, process, &sample, &out), 0);
    return out;
}

static struct setting setting(struct scene *s, uint32_t pid, uint32_t tid, bool own)
{
    return settings_at(s->settings, number(s, pid, tid, own));
}

Test(settings, stacks_begin_as_their_threads_do)
{
    struct scene s = begin();
    map(&s, PID, 0x1000, "/bin/program", 1);
    start(&s, PID, PID + 1, PID, PID, 5);
    cr_expect_eq(setting(&s, PID, PID, true).start, SETTING_START_PROGRAM);
    cr_expect_eq(setting(&s, PID, PID + 1, true).start, SETTING_START_THREAD);
    cr_expect_eq(setting(&s, PID, PID, false).start, SETTING_START_OTHER);
    /* a child runs on a copy of the stack of the thread that forked, and so does its own */
    start(&s, 20, 20, PID, PID + 1, 6);
    start(&s, 21, 21, 20, 20, 7);
    start(&s, 30, 30, PID, PID, 8);
    cr_expect_eq(setting(&s, 20, 20, true).start, SETTING_START_THREAD);
    cr_expect_eq(setting(&s, 21, 21, true).start, SETTING_START_THREAD);
    cr_expect_eq(setting(&s, 30, 30, true).start, SETTING_START_PROGRAM);
    exec(&s, 20, 9);
    map(&s, 20, 0x1000, "/bin/program", 1);
    cr_expect_eq(setting(&s, 20, 20, true).start, SETTING_START_PROGRAM, "an exec makes a new stack");
    end(&s);
}

Test(settings, files_are_those_mapped_at_that_time)
{
    struct scene s = begin();
    const struct build_id none = {0};
    map(&s, PID, 0x1000, "/bin/program", 1);
    uint32_t before = number(&s, PID, PID, true);
    map(&s, PID, 0x7000, "/lib/plugin.so", 2);
    uint32_t with = number(&s, PID, PID, true);
    map(&s, PID, 0x7000, "/lib/other.so", 3); /* where the plugin was */
    uint32_t instead = number(&s, PID, PID, true);
    cr_expect(before != with && with != instead && before != instead);
    uint32_t sets[] = {settings_at(s.settings, before).files, settings_at(s.settings, with).files,
                       settings_at(s.settings, instead).files};
    cr_expect_not(settings_set_has(s.settings, sets[0], "/lib/plugin.so", &none));
    cr_expect(settings_set_has(s.settings, sets[1], "/lib/plugin.so", &none));
    cr_expect_not(settings_set_has(s.settings, sets[2], "/lib/plugin.so", &none));
    cr_expect(settings_set_has(s.settings, sets[2], "/bin/program", &none));
    /* by build-id, wherever the file lies now */
    cr_expect(settings_set_has(s.settings, sets[1], "/moved/plugin.so", &(struct build_id){20, {2}}));
    cr_expect_not(settings_set_has(s.settings, sets[1], "/lib/plugin.so", &(struct build_id){20, {4}}));
    /* another process with the same files, another pass */
    map(&s, 20, 0x1000, "/bin/program", 1);
    cr_expect_eq(number(&s, 20, 20, true), before);
    settings_begin_pass(s.settings);
    cr_expect_eq(number(&s, PID, PID, true), instead);
    struct setting_file plugin = {"/lib/plugin.so", {20, {2}}}, other = {"/lib/other.so", {20, {3}}},
                        program = {"/bin/program", {20, {1}}}, unknown = {"/lib/unknown.so", {20, {9}}};
    cr_expect(settings_together(s.settings, &program, &plugin));
    cr_expect_not(settings_together(s.settings, &plugin, &other));
    cr_expect(settings_together(s.settings, &plugin, &unknown), "nothing is known of it");
    uint32_t wider, of_other;
    cr_assert_eq(settings_wider(s.settings, before, &wider), 0);
    cr_assert_eq(settings_wider(s.settings, with, &of_other), 0);
    cr_expect_eq(wider, of_other);
    uint32_t all = settings_at(s.settings, wider).files;
    cr_expect(settings_set_has(s.settings, all, "/lib/plugin.so", &none) &&
              settings_set_has(s.settings, all, "/lib/other.so", &none));
    end(&s);
}

/* An unwound stack of a thread whose outermost function called `called` there: this program's own code, in
 * which calls of both kinds stand. */
static void learn(struct scene *s, uint32_t tid, uint64_t height, struct place returned, uint32_t called)
{
    const struct unwind_frame outermost = {.place = returned, .cfa = BASE - height};
    cr_assert(origins_learn(s->origins, process_find(s->processes, PID), tid, &outermost, BASE, called));
}

static uint32_t called(struct scene *s, uint32_t tid)
{
    return origins_of(s->origins, process_find(s->processes, PID), tid).called;
}

/* The address after the first call of this kind in the image. */
static struct place after_call(struct image *image, uint8_t first)
{
    for (uint32_t f = 0; f < image_function_count(image); f++) {
        uint64_t address = image_function(image, f)->address;
        size_t size;
        const uint8_t *code = image_bytes(image, address, &size);
        for (size_t i = 0; code && i + 5 < image_function(image, f)->size && i + 5 < size; i++)
            if (code[i] == first)
                return (struct place){image, address + i + 5, f};
    }
    cr_assert_fail("no such byte");
    return (struct place){0};
}

Test(settings, a_thread_keeps_what_it_was_started_with)
{
    struct scene s = begin();
    struct image *image;
    cr_assert_eq(image_cache_get(s.images, "/proc/self/exe", NULL, &image, NULL), 0);
    struct place direct = after_call(image, 0xe8), pointer = after_call(image, 0x48);
    map(&s, PID, 0x1000, "/bin/program", 1);
    start(&s, PID, 11, PID, PID, 5);
    start(&s, PID, 12, PID, PID, 5);
    cr_expect_eq(called(&s, 11), ORIGIN_UNKNOWN);
    learn(&s, 11, 0, direct, 6);
    cr_expect_eq(called(&s, 11), ORIGIN_UNKNOWN, "its code calls that, whatever it was started with");
    learn(&s, 11, 0, pointer, 7);
    learn(&s, 11, 0, direct, 6);
    cr_expect_eq(called(&s, 11), 7u);
    cr_expect_eq(called(&s, 12), ORIGIN_UNKNOWN, "another thread");
    learn(&s, 12, 0, pointer, 7);
    learn(&s, 12, 0, pointer, 8);
    cr_expect_eq(called(&s, 12), ORIGIN_UNKNOWN, "they contradict each other");
    cr_expect_eq(setting(&s, PID, 11, true).called, 7u);
    start(&s, PID, 11, PID, PID, 50);
    cr_expect_eq(called(&s, 11), ORIGIN_UNKNOWN, "its TID is used again");
    /* where a stack begins is seen whatever the process tells */
    learn(&s, PID, 0, pointer, 7);
    cr_expect_eq(origins_of(s.origins, process_find(s.processes, PID), PID).start, STACK_START_THREAD);
    learn(&s, 11, 8, direct, 7);
    cr_expect_eq(origins_of(s.origins, process_find(s.processes, PID), 11).start, STACK_START_PROGRAM);
    end(&s);
}

/* Its first function stands where that of a thread does. */
Test(settings, a_stack_in_the_loader_is_a_programs)
{
    struct scene s = begin();
    struct image *loader;
    uint32_t first[STARTS_MAX];
    char line[4096], path[4096] = "";
    FILE *maps = fopen("/proc/self/maps", "r");
    cr_assert_not_null(maps);
    while (!path[0] && fgets(line, sizeof line, maps))
        if (strstr(line, "/ld-linux"))
            sscanf(strchr(line, '/'), "%4095[^\n]", path);
    fclose(maps);
    if (!path[0])
        cr_skip("no loader of this name");
    cr_assert_eq(image_cache_get(s.images, path, NULL, &loader, NULL), 0);
    size_t count = starts_loader(loader, first);
    cr_assert_gt(count, 0u);
    map(&s, PID, 0x1000, "/bin/program", 1);
    for (size_t i = 0; i < count; i++) {
        uint64_t address = image_function(loader, first[i])->address + 5;
        learn(&s, PID, 0, (struct place){loader, address, first[i]}, 7);
        cr_expect_eq(origins_of(s.origins, process_find(s.processes, PID), PID).start, STACK_START_PROGRAM);
        cr_expect_eq(called(&s, PID), ORIGIN_UNKNOWN);
    }
    uint32_t other = first[0] ? first[0] - 1 : first[0] + 1;
    learn(&s, PID, 0, (struct place){loader, image_function(loader, other)->address + 5, other}, 7);
    cr_expect_eq(origins_of(s.origins, process_find(s.processes, PID), PID).start, STACK_START_THREAD);
    end(&s);
}
