/* machine.c - see machine.h. The program itself is compiled in here. */
#include "collector/verify/user/machine.h"

#include <bpf/bpf_helpers.h>
#include <errno.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "perfdata/stack_parts.h"

#define VERIFY_CONSTANT
#define VERIFY_FILES
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "collector/verify/verify.bpf.c"
#pragma GCC diagnostic pop

/* A hash map. Values do not move while entries are added and removed. */
struct entry {
    uint64_t next; /* the address of another entry with this hash; 0: none */
    uint8_t key[48];
    alignas(uint64_t) uint8_t value[];
};
struct hash {
    const void *of; /* the program's name for it */
    size_t key_size, value_size, count;
    struct table *first; /* hash -> an entry's address, as in `next` */
};

enum {
    FOLLOWED,
    SPACES,
    THREADS,
    KNOWN,
    SWITCHES,
    TOLD,
    SHARES,
    PROCESSES,
    FILES,
    ROWS,
    SCRIPTS,
    SCRIPT_FILES,
    SCRIPT_THREADS,
    CHAINS,
    CODES,
    HASHES
};
static struct hash hashes[HASHES];
static struct machine *machine;
static struct machine_sample now;
static struct buffer cpu_buffers[MACHINE_CPUS];
static uint32_t cpu_numbers[MACHINE_CPUS];
static int64_t cpu_rooms[MACHINE_CPUS];
static struct script_buffer cpu_scripts[MACHINE_CPUS];
static uint32_t any_interpreter;
static struct rule_words *word_blocks;

static struct hash *hash_of(const void *map)
{
    for (size_t i = 0; i < HASHES; i++)
        if (hashes[i].of == map)
            return &hashes[i];
    abort();
}

static uint64_t hash_key(const struct hash *hash, const void *key)
{
    uint64_t sum = 0;
    for (size_t at = 0; at < hash->key_size; at += sizeof(uint64_t)) {
        uint64_t word = 0, left = hash->key_size - at;
        memcpy(&word, (const uint8_t *)key + at, left < sizeof word ? left : sizeof word);
        sum = hash_u64(sum ^ word);
    }
    return sum;
}

static struct entry *entry_at(uint64_t link)
{
    return (struct entry *)(uintptr_t)link;
}

/* The link to an entry, or the final 0. NULL: there is no entry, and none with this hash. */
static uint64_t *hash_link(const struct hash *hash, const void *key)
{
    uint64_t *link = table_find(hash->first, hash_key(hash, key));
    while (link && *link && memcmp(entry_at(*link)->key, key, hash->key_size) != 0)
        link = &entry_at(*link)->next;
    return link;
}

static struct entry *hash_find(const struct hash *hash, const void *key)
{
    const uint64_t *link = hash_link(hash, key);
    return link ? entry_at(*link) : NULL;
}

/* Copies the value, if there is one. */
static bool hash_get(const struct hash *hash, const void *key, void *value)
{
    const struct entry *entry = hash_find(hash, key);
    if (entry)
        memcpy(value, entry->value, hash->value_size);
    return entry;
}

static int hash_put(struct hash *hash, const void *key, const void *value)
{
    struct entry *entry = hash_find(hash, key);
    if (!entry) {
        uint64_t *first = table_put(hash->first, hash_key(hash, key), NULL);
        entry = first ? malloc(sizeof *entry + hash->value_size) : NULL;
        if (!entry) {
            machine->out_of_memory = true;
            return -ENOMEM;
        }
        entry->next = *first;
        memcpy(entry->key, key, hash->key_size);
        *first = (uintptr_t)entry;
        hash->count++;
    }
    memcpy(entry->value, value, hash->value_size);
    return 0;
}

static int hash_drop(struct hash *hash, const void *key)
{
    uint64_t *link = hash_link(hash, key);
    struct entry *entry = link ? entry_at(*link) : NULL;
    if (!entry)
        return -ENOENT;
    *link = entry->next;
    free(entry);
    hash->count--;
    return 0;
}

static void hash_clear(struct hash *hash)
{
    uint64_t key, link;
    for (size_t cursor = 0; hash->first && table_next(hash->first, &cursor, &key, &link);)
        while (link) {
            struct entry *entry = entry_at(link);
            link = entry->next;
            free(entry);
        }
    table_free(hash->first);
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
    if (map == &script_buffers)
        return index < MACHINE_CPUS ? &cpu_scripts[index] : NULL;
    if (map == &any_script)
        return &any_interpreter;
    if (map == &words)
        return index < VERIFY_BLOCKS ? &word_blocks[index] : NULL;
    struct entry *entry = hash_find(hash_of(map), key);
    return entry ? entry->value : NULL;
}

long machine_update(const void *map, const void *key, const void *value)
{
    if (map == &told && machine->told_full && machine->told_full(machine->context))
        return -ENOMEM;
    return hash_put(hash_of(map), key, value);
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
    struct stack_parts parts;
    if (!stack_parts_read(data, size, &parts))
        abort();
    record->head = parts.head;
    record->head.size = stack_parts_whole(&parts);
    record->more_at = parts.more_at;
    record->written = size;
    record->left_out = parts.rest ? parts.size : 0;
    record->rest_at = parts.rest_at;
    record->switch_at = parts.switch_at;
    record->outer_at = parts.outer ? parts.outer_at : 0;
    record->code = parts.code;
    record->placed = parts.placed;
    if (parts.placed.count)
        memcpy(record->placed_files, parts.placed_files, parts.placed.count * sizeof(uint64_t));
    record->stack = malloc(record->head.size + (size_t)STACK_RECORD_OUTER);
    if (!record->stack) {
        machine->out_of_memory = true;
        return -ENOMEM;
    }
    stack_parts_unfold(&parts, record->stack);
    if (parts.outer)
        memcpy(record->stack + record->head.size, parts.outer, STACK_RECORD_OUTER);
    machine->record_count++;
    return 0;
}

/* All or nothing; on failure the buffer is zeroed, as by the kernel. */
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

/* Up to and including a 0. */
long machine_read_text(void *to, uint32_t size, const void *from)
{
    for (uint32_t i = 0; i < size; i++) {
        char *at = (char *)to + i;
        if (machine_read(at, 1, (const char *)from + i) != 0)
            return -EFAULT;
        if (i + 1 == size)
            *at = '\0';
        if (!*at)
            return i + 1;
    }
    return 0;
}

/* The kernel's structs, with the members that the program reads. */
struct super_block {
    uint32_t device;
};
struct inode {
    const struct super_block *super;
    uint64_t number, changed_s;
    uint32_t changed_ns, generation;
};
struct file {
    const struct inode *inode;
};
struct vm_area_struct {
    uint64_t start, end, page;
    const struct file *file;
};
struct mm_struct {
    uint64_t code, stack;
};
struct task_struct {
    const struct mm_struct *mm;
    const struct task_struct *leader;
    uint64_t born, exec;
};

static const struct verify_members members = {.task_mm = offsetof(struct task_struct, mm),
                                              .task_leader = offsetof(struct task_struct, leader),
                                              .task_born = offsetof(struct task_struct, born),
                                              .task_exec = offsetof(struct task_struct, exec),
                                              .mm_code = offsetof(struct mm_struct, code),
                                              .mm_stack = offsetof(struct mm_struct, stack),
                                              .vma_start = offsetof(struct vm_area_struct, start),
                                              .vma_end = offsetof(struct vm_area_struct, end),
                                              .vma_page = offsetof(struct vm_area_struct, page),
                                              .vma_file = offsetof(struct vm_area_struct, file),
                                              .file_inode = offsetof(struct file, inode),
                                              .inode_number = offsetof(struct inode, number),
                                              .inode_generation = offsetof(struct inode, generation),
                                              .inode_super = offsetof(struct inode, super),
                                              .inode_changed_s = offsetof(struct inode, changed_s),
                                              .inode_changed_ns = offsetof(struct inode, changed_ns),
                                              .super_device = offsetof(struct super_block, device)};

struct task_struct *machine_current(void)
{
    static struct mm_struct space;
    static struct task_struct task;
    space = (struct mm_struct){.code = machine->code, .stack = machine->start_stack};
    task = (struct task_struct){.mm = machine->mapping_count ? &space : NULL,
                                .leader = &task,
                                .born = now.pid,
                                .exec = machine->exec};
    return &task;
}

long machine_find_mapping(uint64_t address,
                          long (*see)(struct task_struct *, struct vm_area_struct *, const uint32_t *),
                          const uint32_t *cpu)
{
    machine->found++;
    for (size_t i = 0; i < machine->mapping_count; i++) {
        const struct machine_mapping *m = &machine->mappings[i];
        struct super_block device = {.device = 1};
        struct inode inode = {.super = &device, .number = m->inode};
        struct file file = {.inode = &inode};
        struct vm_area_struct mapping = {
            .start = m->start, .end = m->start + m->size, .page = m->page, .file = m->inode ? &file : NULL};
        if (address - m->start < m->size)
            return see(machine_current(), &mapping, cpu);
    }
    return -ENOENT;
}

uint32_t machine_random(void)
{
    static uint64_t state;
    return (uint32_t)hash_random(&state);
}

uint64_t machine_now(void)
{
    return machine->now;
}

void *machine_late_registers(void)
{
    static struct pt_regs registers;
    registers = (struct pt_regs){.rip = now.late_ip, .rsp = now.late_sp};
    return &registers;
}

uint32_t machine_cpu(void)
{
    return now.cpu;
}

uint64_t machine_task(void)
{
    return (uint64_t)now.pid << 32 | now.tid;
}

uint64_t machine_cgroup(uint32_t level)
{
    return level < 3 ? now.cgroups[level] : 0;
}

uint64_t machine_user(void)
{
    return now.user;
}

const void *machine_task_struct(void)
{
    return machine->task;
}

/* In place of the system calls of known_stacks.c ------------------------------------------------------------- */

static int find_value(int map, const void *key, void *value)
{
    return hash_get(&hashes[map], key, value) ? 0 : -ENOENT;
}

static int put_value(int map, const void *key, const void *value)
{
    return machine->no_memory && map == KNOWN ? -ENOMEM : hash_put(&hashes[map], key, value);
}

static int drop_value(int map, const void *key)
{
    return hash_drop(&hashes[map], key);
}

/* The user's side -------------------------------------------------------------------------------------------- */

static bool begin_hash(unsigned number, const void *of, size_t key_size, size_t value_size)
{
    hashes[number] =
        (struct hash){.of = of, .key_size = key_size, .value_size = value_size, .first = table_new()};
    return hashes[number].first;
}

int machine_start(struct machine *m, const struct verify_config *options)
{
    machine = m;
    *m = (struct machine){.config = *options, .now = options->started};
    bool good = begin_hash(FOLLOWED, &followed, sizeof *followed.key, sizeof *followed.value);
    good &= begin_hash(SPACES, &spaces, sizeof *spaces.key, sizeof *spaces.value);
    good &= begin_hash(THREADS, &threads, sizeof *threads.key, sizeof *threads.value);
    good &= begin_hash(KNOWN, &known, sizeof *known.key, sizeof *known.value);
    good &= begin_hash(SWITCHES, &switches, sizeof *switches.key, sizeof *switches.value);
    good &= begin_hash(TOLD, &told, sizeof *told.key, sizeof *told.value);
    good &= begin_hash(SHARES, &shares, sizeof *shares.key, sizeof *shares.value);
    good &= begin_hash(PROCESSES, &processes, sizeof *processes.key, sizeof *processes.value);
    good &= begin_hash(FILES, &files, sizeof *files.key, sizeof *files.value);
    good &= begin_hash(ROWS, &rows, sizeof *rows.key, sizeof *rows.value);
    good &= begin_hash(SCRIPTS, &scripts, sizeof *scripts.key, sizeof *scripts.value);
    good &= begin_hash(SCRIPT_FILES, &script_files, sizeof *script_files.key, sizeof *script_files.value);
    good &=
        begin_hash(SCRIPT_THREADS, &script_threads, sizeof *script_threads.key, sizeof *script_threads.value);
    good &= begin_hash(CHAINS, &chains, sizeof *chains.key, sizeof *chains.value);
    good &= begin_hash(CODES, &codes, sizeof *codes.key, sizeof *codes.value);
    word_blocks = calloc(VERIFY_BLOCKS, sizeof *word_blocks);
    counts = (struct verify_counts){0};
    memset(cpu_buffers, 0, sizeof cpu_buffers);
    memset(cpu_numbers, 0, sizeof cpu_numbers);
    for (size_t i = 0; i < MACHINE_CPUS; i++)
        cpu_rooms[i] = INT64_MAX;
    memcpy((void *)(uintptr_t)&config, options, sizeof config);
    memcpy((void *)(uintptr_t)&config.members, &members, sizeof members);
    if (good && word_blocks)
        return 0;
    machine_stop();
    return -ENOMEM;
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
    for (size_t i = 0; i < HASHES; i++)
        hash_clear(&hashes[i]);
    free(word_blocks);
}

struct known_stacks_maps machine_maps(void)
{
    return (struct known_stacks_maps){
        KNOWN, THREADS, config.hooks.task_fs ? SWITCHES : -1, word_blocks, find_value, put_value, drop_value};
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

void machine_number(const struct stack_file *file, uint32_t number)
{
    hash_put(&hashes[FILES], file, &number);
}

void machine_rows(const struct code_rows_key *key, const struct code_rows *value)
{
    hash_put(&hashes[ROWS], key, value);
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
    uint64_t key, link;
    for (size_t cursor = 0, i = 0; hash->count && table_next(hash->first, &cursor, &key, &link);)
        if (link && i++ == number % hash->count) {
            hash_drop(hash, entry_at(link)->key);
            return;
        }
}

size_t machine_known(void)
{
    return hashes[KNOWN].count;
}

static int run_program(int (*program)(struct bpf_perf_event_data *ctx), const struct machine_sample *sample)
{
    uint64_t r[STACK_RECORD_REGISTER_COUNT] = {0};
    if (sample->registers)
        memcpy(r, sample->registers, sizeof r);
    struct bpf_perf_event_data ctx = {.regs = {.rip = sample->ip,
                                               .rsp = sample->sp,
                                               .rbp = sample->bp,
                                               .rax = r[0],
                                               .rbx = r[1],
                                               .rcx = r[2],
                                               .rdx = r[3],
                                               .rsi = r[4],
                                               .rdi = r[5],
                                               .r8 = r[9],
                                               .r9 = r[10],
                                               .r10 = r[11],
                                               .r11 = r[12],
                                               .r12 = r[13],
                                               .r13 = r[14],
                                               .r14 = r[15],
                                               .r15 = r[16]}};
    drop_records();
    now = *sample;
    return program(&ctx);
}

int machine_sample(const struct machine_sample *sample)
{
    return run_program(verify_user, sample);
}

int machine_sample_precise(const struct machine_sample *sample)
{
    return run_program(verify_precise, sample);
}

struct verify_counts machine_counts(void)
{
    return counts;
}
