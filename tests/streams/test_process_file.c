/* The history of a process's heap: written here, replayed by the reader, and compared with a model that looks at each object. */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "streams/trace/process_file.h"

#define BYTES_MOST (1u << 20)
#define SLOTS      64u /* of 256 bytes; an object begins in one, and is at most as large */
#define SLOT_BYTES 256u

struct written {
    struct process_header header;
    uint8_t bytes[BYTES_MOST];
    uint8_t *at;
    uint64_t last;
};

static char directory[] = "/tmp/fathom-process.XXXXXX";

static struct written *begin(uint32_t pid)
{
    struct written *w = calloc(1, sizeof *w);
    w->header = (struct process_header){
        .magic = PROCESS_MAGIC, .version = PROCESS_VERSION, .pid = pid, .heap = 1, .used = sizeof w->header};
    w->at = w->bytes;
    return w;
}

static void path_of(char *path, size_t size, uint32_t pid)
{
    snprintf(path, size, "%s/%u-0.process", directory, pid);
}

static void finish(struct written *w)
{
    char path[64];
    path_of(path, sizeof path, w->header.pid);
    FILE *file = fopen(path, "w");
    cr_assert(file);
    w->header.used = sizeof w->header + (uint64_t)(w->at - w->bytes);
    cr_assert_eq(fwrite(&w->header, sizeof w->header, 1, file), 1);
    cr_assert(w->at == w->bytes || fwrite(w->bytes, (size_t)(w->at - w->bytes), 1, file) == 1);
    fclose(file);
}

static uint64_t position(const struct written *w)
{
    return sizeof w->header + (uint64_t)(w->at - w->bytes);
}

static void put(struct written *w, uint8_t what, uint64_t address)
{
    *w->at++ = what;
    w->at = bytes_put_uleb(w->at, zigzag(address - w->last));
    w->last = address;
}

static void allocated(struct written *w, uint64_t address, uint64_t size, uint64_t id)
{
    put(w, PROCESS_ALLOCATED, address);
    w->at = bytes_put_uleb(w->at, size);
    w->at = bytes_put_uleb(w->at, id);
}

static void context(struct written *w, uint64_t id, const uint64_t *pcs, uint32_t depth, bool cut)
{
    *w->at++ = PROCESS_CONTEXT;
    w->at = bytes_put_uleb(w->at, id);
    w->at = bytes_put_uleb(w->at, depth * 2 + cut);
    for (uint32_t i = 0; i < depth; i++)
        w->at = bytes_put_uleb(w->at, zigzag(pcs[i] - (i ? pcs[i - 1] : 0)));
}

static struct process_file *open_file(uint32_t pid)
{
    struct fathom_error err = {0};
    struct process_file *file = NULL;
    cr_assert_eq(process_file_open(directory, pid, 0, &file, &err), 0, "%s", err.text);
    return file;
}

static void make_directory(void)
{
    cr_assert(mkdtemp(directory));
}

static void remove_directory(void)
{
    char path[64];
    for (uint32_t pid = 1; pid < 4; pid++) {
        path_of(path, sizeof path, pid);
        unlink(path);
    }
    rmdir(directory);
}

TestSuite(process_file, .init = make_directory, .fini = remove_directory);

struct model { /* of a slot */
    bool live;
    uint64_t start, size, id, serial;
};

static void step(struct written *w, struct model *slots, uint64_t random, uint64_t *serial)
{
    uint32_t n = random % SLOTS;
    struct model *slot = &slots[n];
    if (slot->live) {
        put(w, PROCESS_FREED, slot->start);
        slot->live = false;
        return;
    }
    uint64_t from = random >> 8 & 127;
    *slot = (struct model){true, 0x7f0000000000 + n * SLOT_BYTES + from, random >> 16 & 127,
                           random >> 24 & 1023, (*serial)++};
    allocated(w, slot->start, slot->size, slot->id);
}

static void compare(const struct process_file *file, const struct model *slots)
{
    for (uint64_t a = 0; a < SLOTS * SLOT_BYTES; a += 13) {
        uint64_t address = 0x7f0000000000 + a;
        const struct model *slot = &slots[a / SLOT_BYTES];
        const struct process_object *object = process_file_find(file, address);
        bool in =
            slot->live && address >= slot->start && address < slot->start + (slot->size ? slot->size : 1);
        cr_assert_eq(object != NULL, in);
        cr_assert(!in || (object->start == slot->start && object->size == slot->size &&
                          object->path == slot->id && object->serial == slot->serial));
    }
}

Test(process_file, replays_as_a_model)
{
    enum { STEPS = 3000 };
    uint64_t state = 7, serial = 0, begun = state, ends[STEPS];
    struct model slots[SLOTS] = {{0}};
    struct written *w = begin(1);
    for (unsigned n = 0; n < STEPS; n++) {
        step(w, slots, hash_random(&state), &serial);
        ends[n] = position(w);
    }
    finish(w);
    struct process_file *file = open_file(1);
    struct written *again = begin(2);
    memset(slots, 0, sizeof slots);
    serial = 0;
    for (unsigned n = 0; n < STEPS; n++) {
        step(again, slots, hash_random(&begun), &serial);
        if (n % 7 == 0) {
            cr_assert_eq(process_file_advance(file, ends[n], NULL), 0);
            compare(file, slots);
        }
    }
    cr_assert(!process_file_damaged(file));
    process_file_close(file);
    free(again);
    free(w);
}

Test(process_file, follows_forks)
{
    static const uint64_t first[] = {0x401000, 0x400800, 0x7f1234567890}, second[] = {0x55},
                          third[] = {0x66, 0x77};
    struct written *parent = begin(1), *child = begin(2), *grandchild = begin(3);
    context(parent, 1, first, 3, true);
    allocated(parent, 0x1000, 32, 1);
    child->header.parent = 1;
    child->header.parent_used = position(parent);
    context(parent, 2, second, 1, false); /* the parent's alone */
    put(parent, PROCESS_FREED, 0x1000);
    allocated(child, 0x2000, 16, 2);
    context(child, 2, third, 2, false);
    grandchild->header.parent = 2;
    grandchild->header.parent_used = position(child);
    put(grandchild, PROCESS_FREED, 0x1000);
    finish(parent);
    finish(child);
    finish(grandchild);
    struct process_file *file = open_file(3);
    cr_assert(!process_file_damaged(file));
    cr_assert_eq(process_file_header(file)->pid, 3);
    const struct process_path *path = process_file_path(file, 1);
    cr_assert(path && path->depth == 3 && path->cut && memcmp(path->pcs, first, sizeof first) == 0);
    path = process_file_path(file, 2);
    cr_assert(path && path->depth == 2 && !path->cut && memcmp(path->pcs, third, sizeof third) == 0);
    cr_assert_null(process_file_path(file, 3));
    cr_assert_null(process_file_path(file, UINT64_MAX));
    cr_assert_eq(process_file_advance(file, sizeof file, NULL), 0);
    const struct process_object *object = process_file_find(file, 0x101f);
    cr_assert(object && object->start == 0x1000 && object->serial == 0);
    object = process_file_find(file, 0x2000);
    cr_assert(object && object->path == 2 && object->serial == 1);
    cr_assert_eq(process_file_advance(file, UINT64_MAX, NULL), 0);
    cr_assert_null(process_file_find(file, 0x1000));
    process_file_close(file);
    free(parent);
    free(child);
    free(grandchild);
}

Test(process_file, tells_what_is_not_known)
{
    struct written *w = begin(1);
    w->header.parent = 2; /* which is not there */
    allocated(w, 0x1000, 32, 0);
    uint64_t lost = position(w);
    w->header.heap_lost = lost;
    allocated(w, 0x2000, 32, 0);
    finish(w);
    struct process_file *file = open_file(1);
    cr_assert(process_file_damaged(file));
    cr_assert_eq(process_file_advance(file, lost, NULL), 0);
    cr_assert(process_file_find(file, 0x1000));
    cr_assert_eq(process_file_advance(file, lost + 1, NULL), 0);
    cr_assert_null(process_file_find(file, 0x1000));
    process_file_close(file);
    w->header.version++;
    finish(w);
    cr_assert_eq(process_file_open(directory, 1, 0, &file, NULL), -EINVAL);
    cr_assert_eq(process_file_open(directory, 3, 0, &file, NULL), -ENOENT);
    free(w);
}

Test(process_file, an_object_replaces_those_below)
{
    struct written *w = begin(1);
    for (uint64_t a = 0x1000; a < 0x1100; a += 16)
        allocated(w, a, 16, 0);
    allocated(w, 0x1018, 32, 0);
    finish(w);
    struct process_file *file = open_file(1);
    cr_assert_eq(process_file_advance(file, UINT64_MAX, NULL), 0);
    cr_assert_eq(process_file_find(file, 0x1018)->size, 32);
    cr_assert_null(process_file_find(file, 0x1010));
    cr_assert_null(process_file_find(file, 0x1038));
    cr_assert(process_file_find(file, 0x1040));
    process_file_close(file);
    free(w);
}
