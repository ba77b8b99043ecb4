/* What is at an address of data: this process's own memory. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "process/data.h"

static int initialised[1000] = {1};
static char zeros[100000];

struct world {
    struct image_cache *images;
    struct processes *processes;
};

static void apply(struct world *w, const struct record *record)
{
    struct fathom_error err = {0};
    cr_assert_eq(processes_apply(w->processes, record, &err), 0, "%s", err.text);
}

static void map(struct world *w, uint64_t start, uint64_t end, uint64_t offset, const char *path, bool code)
{
    struct record r = {.kind = RECORD_MMAP, .pid = 7, .tid = 7};
    r.mmap.address = start;
    r.mmap.length = end - start;
    r.mmap.offset = offset;
    r.mmap.executable = code;
    r.mmap.path = *path ? path : "//anon";
    apply(w, &r);
}

/* Maps what this process has mapped. */
static struct world world_open(void)
{
    struct world w = {.images = image_cache_new(NULL)};
    w.processes = processes_new(w.images, NULL);
    cr_assert(w.images && w.processes);
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4352], protection[5], path[4096];
    unsigned long start, end, offset;
    while (maps && fgets(line, sizeof line, maps)) {
        *path = 0;
        if (sscanf(line, "%lx-%lx %4s %lx %*s %*s %4095[^\n]", &start, &end, protection, &offset, path) >= 4)
            map(&w, start, end, offset, path, protection[2] == 'x');
    }
    fclose(maps);
    return w;
}

static void world_close(struct world *w)
{
    processes_free(w->processes);
    image_cache_free(w->images);
}

static struct data_place find(struct world *w, const void *at)
{
    struct data_place place;
    data_find(process_find(w->processes, 7), 7, (uintptr_t)at, &place);
    return place;
}

Test(data, is_of_a_kind)
{
    void *heap = sbrk(8192), *anonymous = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    FILE *file = fopen("/proc/self/exe", "r");
    void *mapped = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, fileno(file), 0);
    cr_assert(anonymous != MAP_FAILED && mapped != MAP_FAILED);
    struct world w = world_open();
    int local;
    cr_expect_eq(find(&w, heap).kind, DATA_HEAP);
    cr_expect_eq(find(&w, anonymous).kind, DATA_ANONYMOUS);
    cr_expect_eq(find(&w, NULL).kind, DATA_UNKNOWN);
    cr_expect_eq(find(&w, &local).kind, DATA_STACK, "by its name");
    struct fathom_error err;
    process_set_stack(process_find(w.processes, 7), 7, 0x10000, 0x20000, &err);
    cr_expect_eq(find(&w, (void *)0x18000).kind, DATA_STACK, "by its base");
    world_close(&w);
    fclose(file);
}

Test(data, of_images_has_their_addresses)
{
    struct world w = world_open();
    struct data_place a = find(&w, &initialised[500]), b = find(&w, zeros), c = find(&w, zeros + 99999);
    cr_assert_eq(a.kind, DATA_IMAGE);
    cr_assert_eq(b.kind, DATA_IMAGE, "zeros, which have no file");
    cr_assert_eq(c.kind, DATA_IMAGE);
    cr_expect_eq(c.address - b.address, 99999);
    cr_expect_eq(b.address - a.address, (uintptr_t)zeros - (uintptr_t)&initialised[500]);
    cr_expect_eq(a.image, b.image);
    world_close(&w);
}

/* madvise() and mprotect() split the mapping of the zeros. */
Test(data, zeros_in_several_mappings_are_of_the_image)
{
    uintptr_t page = (uintptr_t)(zeros + 8191) & ~(uintptr_t)4095;
    cr_assert_eq(mprotect((void *)page, 4096, PROT_READ), 0);
    struct world w = world_open();
    const uintptr_t at[] = {(uintptr_t)zeros, page, page + 4096};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        struct data_place place = find(&w, (const void *)at[i]);
        cr_expect_eq(place.kind, DATA_IMAGE, "%zu", i);
        cr_expect_eq(place.address - find(&w, zeros).address, at[i] - (uintptr_t)zeros);
    }
    world_close(&w);
}

/* Code that replaces data, data that replaces code, a fork, and an exec. */
Test(data, follows_the_process)
{
    struct world w = world_open();
    map(&w, 0x1000, 0x5000, 0, "/a", false);
    map(&w, 0x2000, 0x3000, 0, "[heap]", false);
    map(&w, 0x3000, 0x4000, 0, "/code", true);
    cr_expect_str_eq(find(&w, (void *)0x1000).path, "/a");
    cr_expect_eq(find(&w, (void *)0x2fff).kind, DATA_HEAP);
    cr_expect_str_eq(find(&w, (void *)0x3000).path, "/code");
    cr_expect_str_eq(find(&w, (void *)0x4000).path, "/a");
    map(&w, 0x3000, 0x4000, 0, "[heap]", false);
    cr_expect_eq(find(&w, (void *)0x3000).kind, DATA_HEAP);
    cr_expect_null(process_mapping(process_find(w.processes, 7), 0x3000));

    struct record r = {.kind = RECORD_FORK, .pid = 8, .tid = 8, .time = 5};
    r.fork.parent_pid = r.fork.parent_tid = 7;
    apply(&w, &r);
    map(&w, 0x2000, 0x3000, 0, "//anon", false); /* of the parent alone */
    struct data_place place;
    data_find(process_find(w.processes, 8), 8, 0x2000, &place);
    cr_expect_eq(place.kind, DATA_HEAP);
    r = (struct record){.kind = RECORD_COMM, .pid = 8, .tid = 8, .time = 6};
    r.comm.name = "new";
    r.comm.exec = true;
    apply(&w, &r);
    data_find(process_find(w.processes, 8), 8, 0x2000, &place);
    cr_expect_eq(place.kind, DATA_UNKNOWN);
    world_close(&w);
}
