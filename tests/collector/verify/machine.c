/* machine.c - see machine.h. The program itself is compiled in here. */
#include "tests/collector/verify/machine.h"

#include <bpf/bpf_helpers.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The program's own names for the kernel's parts. */
int verify_read_pages(__u32 cpu, __u64 sp, __u32 size);
int verify_block(__u32 index, __u32 cpu, __u64 base, __u64 bp, __u64 depth_and_reach);
int verify_fits(__u32 index, __u32 cpu, __u64 base, __u64 bp, __u64 depth_and_reach);
struct bpf_perf_event_data;
int verify_user(struct bpf_perf_event_data *ctx);
int verify_kernel(struct bpf_perf_event_data *ctx);
int verify_tracepoint(void *ctx);
struct new_task;
int verify_task(const struct new_task *task);
#define VERIFY_CONSTANT
#include "collector/verify/verify.bpf.c"

/* A hash map: entries in no order. */
struct entry {
    uint8_t key[32];
    void *value;
};
struct hash {
    const void *of; /* the program's name for it */
    size_t key_size, value_size;
    struct entry *entries;
    size_t count, room;
};

enum { FOLLOWED, SPACES, THREADS, KNOWN, TOLD, HASHES };
static struct hash hashes[HASHES];
static struct machine *machine;
static struct machine_sample now;
static struct buffer cpu_buffers[MACHINE_CPUS];
static uint32_t cpu_numbers[MACHINE_CPUS];
static int64_t cpu_rooms[MACHINE_CPUS];
static int words_fd = -1;
static struct rule_words *word_blocks;

static size_t words_bytes(void)
{
    return ((size_t)VERIFY_BLOCKS * sizeof *word_blocks + 4095) / 4096 * 4096;
}

static struct hash *hash_of(const void *map)
{
    for (size_t i = 0; i < HASHES; i++)
        if (hashes[i].of == map)
            return &hashes[i];
    abort();
}

static struct entry *hash_find(const struct hash *hash, const void *key)
{
    for (size_t i = 0; i < hash->count; i++)
        if (memcmp(hash->entries[i].key, key, hash->key_size) == 0)
            return &hash->entries[i];
    return NULL;
}

/* Copies the value, if there is one. */
static bool hash_get(const struct hash *hash, const void *key, void *value)
{
    const struct entry *entry = hash_find(hash, key);
    if (entry)
        memcpy(value, entry->value, hash->value_size);
    return entry;
}

static void hash_put(struct hash *hash, const void *key, const void *value)
{
    struct entry *entry = hash_find(hash, key);
    if (!entry) {
        if (hash->count == hash->room) {
            hash->room = hash->room ? hash->room * 2 : 64;
            hash->entries = realloc(hash->entries, hash->room * sizeof *hash->entries);
        }
        entry = &hash->entries[hash->count++];
        memcpy(entry->key, key, hash->key_size);
        entry->value = malloc(hash->value_size);
    }
    memcpy(entry->value, value, hash->value_size);
}

static long hash_drop(struct hash *hash, const void *key)
{
    struct entry *entry = hash_find(hash, key);
    if (!entry)
        return -ENOENT;
    free(entry->value);
    *entry = hash->entries[--hash->count];
    return 0;
}

/* The program's helpers ------------------------------------------------------------------------------------- */

void *machine_lookup(const void *map, const void *key)
{
    uint32_t index;
    memcpy(&index, key, sizeof index);
    if (map == &buffers)
        return index < MACHINE_CPUS ? &cpu_buffers[index] : NULL;
    if (map == &numbers)
        return index == 0 ? &cpu_numbers[now.cpu] : NULL;
    if (map == &rooms)
        return &cpu_rooms[now.cpu];
    if (map == &words)
        return index < VERIFY_BLOCKS ? &word_blocks[index] : NULL;
    struct entry *entry = hash_find(hash_of(map), key);
    return entry ? entry->value : NULL;
}

long machine_update(const void *map, const void *key, const void *value)
{
    if (map == &told && machine->told_full && machine->told_full(machine->context))
        return -ENOMEM;
    hash_put(hash_of(map), key, value);
    return 0;
}

long machine_delete(const void *map, const void *key)
{
    return hash_drop(hash_of(map), key);
}

long machine_output(const void *data, uint64_t size)
{
    struct machine_record *record = &machine->records[machine->record_count];
    if (machine->record_count == sizeof machine->records / sizeof *machine->records ||
        size < sizeof record->head)
        abort();
    if (machine->ring_full && machine->ring_full(machine->context, size))
        return -ENOSPC;
    memcpy(&record->head, data, sizeof record->head);
    record->stack = malloc(size);
    memcpy(record->stack, (const uint8_t *)data + sizeof record->head, size - sizeof record->head);
    machine->record_count++;
    return 0;
}

/* All or nothing, but what it could not read is left as zeros, as the kernel does. */
long machine_read(void *to, uint32_t size, const void *from)
{
    const uint64_t at = (uintptr_t)from;
    for (size_t i = 0; i < machine->memory_count; i++) {
        const struct machine_memory *m = &machine->memory[i];
        if (at >= m->start && at - m->start < m->size && size <= m->size - (at - m->start)) {
            memcpy(to, m->bytes + (at - m->start), size);
            return 0;
        }
    }
    memset(to, 0, size);
    return -EFAULT;
}

uint64_t machine_now(void)
{
    return machine->now;
}

uint32_t machine_cpu(void)
{
    return now.cpu;
}

uint64_t machine_task(void)
{
    return (uint64_t)now.pid << 32 | now.tid;
}

/* The system calls of known_stacks.c, in place of libbpf's. A descriptor is 100 + the hash. ----------------- */

#undef bpf_map_lookup_elem
#undef bpf_map_update_elem
#undef bpf_map_delete_elem
__attribute__((visibility("default"))) int bpf_map_lookup_elem(int fd, const void *key, void *value);
__attribute__((visibility("default"))) int bpf_map_update_elem(int fd, const void *key, const void *value,
                                                               __u64 flags);
__attribute__((visibility("default"))) int bpf_map_delete_elem(int fd, const void *key);

int bpf_map_lookup_elem(int fd, const void *key, void *value)
{
    if (hash_get(&hashes[fd - 100], key, value))
        return 0;
    errno = ENOENT;
    return -ENOENT;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
    (void)flags;
    if (machine->no_memory && fd == 100 + KNOWN) {
        errno = ENOMEM;
        return -ENOMEM;
    }
    hash_put(&hashes[fd - 100], key, value);
    return 0;
}

int bpf_map_delete_elem(int fd, const void *key)
{
    return (int)hash_drop(&hashes[fd - 100], key);
}

/* The test's side -------------------------------------------------------------------------------------------- */

void machine_start(struct machine *m, const struct verify_config *options)
{
    machine = m;
    *m = (struct machine){.config = *options, .now = options->started};
    hashes[FOLLOWED] =
        (struct hash){.of = &followed, .key_size = sizeof(uint32_t), .value_size = sizeof(uint32_t)};
    hashes[SPACES] =
        (struct hash){.of = &spaces, .key_size = sizeof(uint32_t), .value_size = sizeof(uint32_t)};
    hashes[THREADS] =
        (struct hash){.of = &threads, .key_size = sizeof(uint32_t), .value_size = sizeof(struct rule_thread)};
    hashes[KNOWN] = (struct hash){
        .of = &known, .key_size = sizeof(struct rule_key), .value_size = sizeof(struct rule_known)};
    hashes[TOLD] = (struct hash){
        .of = &told, .key_size = sizeof(struct rule_told_key), .value_size = sizeof(struct rule_told)};
    counts = (struct verify_counts){0};
    memset(cpu_numbers, 0, sizeof cpu_numbers);
    for (size_t i = 0; i < MACHINE_CPUS; i++)
        cpu_rooms[i] = INT64_MAX;
    /* It is a constant to the program, which libbpf fills in before. */
    memcpy((void *)(uintptr_t)&config, options, sizeof config);
    words_fd = memfd_create("words", MFD_CLOEXEC);
    if (words_fd < 0 || ftruncate(words_fd, (off_t)words_bytes()) != 0)
        abort();
    word_blocks = mmap(NULL, words_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, words_fd, 0);
    if (word_blocks == MAP_FAILED)
        abort();
}

static void drop_records(void)
{
    for (size_t i = 0; i < machine->record_count; i++)
        free(machine->records[i].stack);
    machine->record_count = 0;
}

void machine_stop(void)
{
    drop_records();
    for (size_t i = 0; i < HASHES; i++) {
        for (size_t k = 0; k < hashes[i].count; k++)
            free(hashes[i].entries[k].value);
        free(hashes[i].entries);
    }
    munmap(word_blocks, words_bytes());
    close(words_fd);
}

struct known_stacks_maps machine_maps(void)
{
    return (struct known_stacks_maps){100 + KNOWN, words_fd, 100 + THREADS};
}

void machine_set_base(uint32_t tid, uint64_t base)
{
    struct rule_thread thread = {0};
    hash_get(&hashes[THREADS], &tid, &thread);
    thread.base = base;
    if (base)
        hash_put(&hashes[THREADS], &tid, &thread);
    else
        hash_drop(&hashes[THREADS], &tid);
}

void machine_place(uint32_t pid, uint32_t space)
{
    hash_put(&hashes[SPACES], &pid, &space);
}

uint32_t machine_space(uint32_t pid)
{
    uint32_t space = 0;
    hash_get(&hashes[SPACES], &pid, &space);
    return space;
}

void machine_follow(uint32_t id, bool follow)
{
    const uint32_t one = 1;
    if (follow)
        hash_put(&hashes[FOLLOWED], &id, &one);
    else
        hash_drop(&hashes[FOLLOWED], &id);
}

void machine_fork(uint32_t pid, uint32_t tid, uint32_t child, bool thread)
{
    now = (struct machine_sample){.pid = pid, .tid = tid};
    verify_task(&(struct new_task){.tid = (int32_t)child, .clone_flags = thread ? CLONE_THREAD : 0});
}

bool machine_follows(uint32_t id)
{
    return hash_find(&hashes[FOLLOWED], &id);
}

uint64_t machine_base(uint32_t tid)
{
    struct rule_thread thread = {0};
    hash_get(&hashes[THREADS], &tid, &thread);
    return thread.base;
}

void machine_room(uint32_t cpu, int64_t bytes)
{
    cpu_rooms[cpu] = bytes;
}

void machine_evict(uint32_t number)
{
    struct hash *hash = &hashes[TOLD];
    uint8_t key[32];
    if (!hash->count)
        return;
    memcpy(key, hash->entries[number % hash->count].key, sizeof key);
    hash_drop(hash, key);
}

size_t machine_known(void)
{
    return hashes[KNOWN].count;
}

int machine_sample(const struct machine_sample *sample)
{
    struct bpf_perf_event_data ctx = {.regs = {.rip = sample->ip, .rsp = sample->sp, .rbp = sample->bp}};
    drop_records();
    now = *sample;
    return verify_user(&ctx);
}

struct verify_counts machine_counts(void)
{
    return counts;
}
