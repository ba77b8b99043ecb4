/*
 * process.c - see process.h. Address spaces and stacks (space.h, stacks.h) are stored by PID; records change them like the
 * kernel does: kernel/events/core.c for the records, mm/mmap.c for overlaps.
 */
#include "process/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "image/code/insn.h"
#include "image/made/code_names.h"
#include "image/mapped_name.h"
#include "process/process_data.h"

#define KERNEL_PID UINT32_MAX /* owner of the kernel's mappings */

struct processes *processes_new(struct image_cache *images, const struct log *log)
{
    struct processes *all = calloc(1, sizeof *all);
    if (!all)
        return NULL;
    all->images = images;
    all->log = log;
    all->by_pid = table_new();
    all->names = names_new();
    all->programs = programs_new();
    all->cgroups = table_new();
    if (!all->by_pid || !all->names || !all->programs || !all->cgroups || !code_cache_make(&all->code)) {
        processes_free(all);
        all = NULL;
    }
    return all;
}

static void forget_stacks(struct process *process)
{
    stacks_free(process->stacks);
    stacks_free(process->shared);
    process->stacks = NULL;
    process->shared = NULL;
}

static void forget_threads(struct process *process)
{
    table_free(process->threads);
    table_free(process->births);
    process->threads = NULL;
    process->births = NULL;
}

void process_hold(struct process *process)
{
    process->held++;
}

void process_let_go(struct process *process)
{
    process->held--;
}

static void process_free(struct process *process)
{
    space_release(process->space);
    space_release(process->data);
    forget_stacks(process);
    forget_threads(process);
    free(process);
}

void processes_free(struct processes *all)
{
    if (!all)
        return;
    size_t cursor = 0;
    uint64_t pid, value;
    while (all->by_pid && table_next(all->by_pid, &cursor, &pid, &value))
        process_free((struct process *)(uintptr_t)value);
    table_free(all->by_pid);
    names_free(all->names);
    programs_free(all->programs);
    table_free(all->cgroups);
    free(all->unsettled);
    insn_reader_free(all->insns);
    code_cache_free(&all->after);
    code_cache_free(&all->code);
    kernel_layout_free(&all->kernel);
    free(all);
}

struct process *process_find(struct processes *all, uint32_t pid)
{
    if (all->last && all->last->pid == pid)
        return all->last;
    uint64_t *value = table_find(all->by_pid, pid);
    if (value)
        all->last = (struct process *)(uintptr_t)*value;
    return value ? all->last : NULL;
}

const struct kernel_layout *process_kernel(const struct process *process)
{
    return &process->all->kernel;
}

/* The process with this PID, created if new. NULL: out of memory. */
static struct process *process_get(struct processes *all, uint32_t pid)
{
    struct process *process = process_find(all, pid);
    if (process)
        return process;
    process = calloc(1, sizeof *process);
    if (!process)
        return NULL;
    process->all = all;
    process->pid = pid;
    process->name = "";
    process->space = space_new();
    process->state = ++all->last_state;
    if (!process->space || !table_set(all->by_pid, pid, (uintptr_t)process)) {
        process_free(process);
        return NULL;
    }
    return process;
}

/* "[stack:TID]", Fathom's record of a stack. */
static bool process_stack_name(const char *path, uint32_t *tid)
{
    static const char prefix[] = "[stack:";
    if (strncmp(path, prefix, sizeof prefix - 1) != 0)
        return false;
    const char *at = path + sizeof prefix - 1;
    uint64_t number = 0;
    if (*at < '0' || *at > '9')
        return false;
    for (; *at >= '0' && *at <= '9'; at++) {
        number = number * 10 + (uint64_t)(*at - '0');
        if (number > UINT32_MAX)
            return false;
    }
    *tid = (uint32_t)number;
    return strcmp(at, "]") == 0;
}

struct build_id process_build_id(const struct record_mmap *mmap)
{
    return build_id_of(mmap->build_id, mmap->build_id_size);
}

/* Adds a mapping of code or data, and removes what it covers from the other space. */
static int process_add_region(struct process *process, bool executable, const struct region *region,
                              struct fathom_error *err)
{
    struct processes *all = process->all;
    if (!executable && !process->data && !(process->data = space_new()))
        return error_memory(err);
    struct space **to = executable ? &process->space : &process->data,
                 **other = executable ? &process->data : &process->space;
    if (*other && !space_cut(other, region->mapping.start, region->mapping.end))
        return error_memory(err);
    int r = space_add(to, region);
    if (r == -ENOSPC && !all->warned_full) {
        all->warned_full = true;
        log_write(all->log, LOG_WARNING,
                  "process %u has more than %d mappings of %s in further ones are unknown", process->pid,
                  SPACE_MAX_REGIONS, executable ? "code: samples" : "data: accesses");
    }
    return r == -ENOMEM ? error_memory(err) : 0;
}

static int apply_kernel(struct processes *all, const struct record_mmap *mmap, uint64_t end,
                        struct fathom_error *err)
{
    struct build_id id = process_build_id(mmap);
    int rc = mmap->path ? kernel_layout_add(&all->kernel, mmap->path, mmap->address, end, &id) : 0;
    return rc < 0 ? error_memory(err) : 0;
}

static int process_apply_mmap(struct processes *all, const struct record *record, struct fathom_error *err)
{
    const struct record_mmap *mmap = &record->mmap;
    uint64_t end = mmap->address + mmap->length;
    if (end <= mmap->address)
        return 0;
    if (record->pid == KERNEL_PID)
        return apply_kernel(all, mmap, end, err);
    struct process *process = process_get(all, record->pid);
    if (!process)
        return error_memory(err);
    const char *path = mmap->path ? mmap->path : "";
    uint32_t tid;
    if (process_stack_name(path, &tid))
        return process_set_stack(process, tid, mmap->address, end, err);
    process->state = ++all->last_state;

    struct region region = {
        .mapping = {.start = mmap->address, .end = end, .offset = mmap->offset},
        .build_id = process_build_id(mmap),
    };
    uint32_t number = names_intern(all->names, path);
    if (number == NAMES_NONE)
        return error_memory(err);
    region.mapping.path = names_text(all->names, number);
    if (mmap->executable && !process->file && mapped_kind(path) != MAPPED_NO_FILE)
        process->file = region.mapping.path;
    return process_add_region(process, mmap->executable, &region, err);
}

/* Of a thread, in a table that is made when it gets its first one. */
static bool set_number(struct table **numbers, uint32_t tid, uint64_t number)
{
    return (*numbers || (*numbers = table_new())) && table_set(*numbers, tid, number);
}

/* The number of the program, given all programs that started it. PROGRAMS_FAILED: out of memory. */
static uint32_t chain_number(const struct process *process)
{
    const struct process *chain[PROGRAMS_DEEPEST];
    uint32_t length = 0, number = PROGRAMS_NONE;
    for (; process && process->program.origin == PROGRAM_UNSETTLED && length < PROGRAMS_DEEPEST; length++) {
        chain[length] = process;
        process = process->parent ? process_find(process->all, process->parent) : NULL;
    }
    if (process && process->program.origin != PROGRAM_UNSETTLED)
        number = process->program.number;
    while (length-- > 0 && number != PROGRAMS_FAILED)
        if (*chain[length]->name)
            number = programs_add(chain[length]->all->programs, number,
                                  names_intern(chain[length]->all->names, chain[length]->name));
    return number;
}

/* Afterwards its parent can end, and another process can get that PID. */
static bool settle_program(struct process *process)
{
    if (process->program.origin != PROGRAM_UNSETTLED)
        return true;
    uint32_t number = chain_number(process);
    if (number != PROGRAMS_FAILED)
        process->program = (struct program){number, *process->name ? PROGRAM_OWN : PROGRAM_PARENTS};
    return number != PROGRAMS_FAILED;
}

/* Settles all processes that ran before the recording, before the first record of a real event. */
static bool settle_programs(struct processes *all)
{
    while (all->unsettled_count && settle_program(all->unsettled[all->unsettled_count - 1]))
        all->unsettled_count--;
    return all->unsettled_count == 0;
}

static bool name_program(struct process *process, const struct record *record, uint32_t name)
{
    struct programs *programs = process->all->programs;
    if (record->comm.exec)
        return settle_program(process) && program_exec(programs, &process->program, name);
    return record->tid != record->pid || process->program.origin == PROGRAM_UNSETTLED ||
           program_rename(programs, &process->program, name);
}

static void reset_process(struct process *process, uint64_t time)
{
    process->birth = time;
    process->ended = 0;
    process->left = false;
    process->code_pid = 0;
    process->time = process->code_changes = 0;
}

const struct code_set *process_code_set(const struct process *process)
{
    const struct image_cache *images = process->all->images;
    const struct code_set *own = image_cache_code_of(images, process->pid, process->birth);
    return own || !process->code_pid ? own
                                     : image_cache_code_of(images, process->code_pid, process->code_birth);
}

void processes_renamed(struct processes *all)
{
    uint64_t pid, value;
    for (size_t cursor = 0; table_next(all->by_pid, &cursor, &pid, &value);) {
        struct process *process = (struct process *)(uintptr_t)value;
        for (size_t i = 0; i < space_count(process->space); i++) {
            struct region *region = space_at(process->space, i);
            if (!mapped_is_run_time(region->mapping.path))
                continue;
            region->opened = false;
            region->mapping.image = NULL;
        }
        process->code_changes = 0;
        process->state = ++all->last_state;
    }
}

bool process_code_changes(const struct process *process)
{
    const struct code_set *set = process_code_set(process);
    return (set && code_set_change(set, 0) != UINT64_MAX) || image_cache_options(process->all->images)->live;
}

struct process *process_at(struct processes *all, const struct sample *sample)
{
    struct process *process = process_find(all, sample->pid);
    if (!process || sample->time < process->code_changes)
        return process;
    const struct code_set *set = process_code_set(process);
    process->time = sample->time;
    process->code_changes = set ? code_set_change(set, sample->time) : UINT64_MAX;
    if (process_code_changes(process)) /* its code may be found elsewhere now */
        process->state = ++all->last_state;
    return process;
}

static int process_apply_comm(struct processes *all, const struct record *record, struct fathom_error *err)
{
    struct process *process = process_get(all, record->pid);
    if (!process)
        return error_memory(err);
    if (record->comm.exec) {
        struct space *space = space_new();
        if (!space)
            return error_memory(err);
        space_release(process->space);
        space_release(process->data);
        process->space = space;
        process->data = NULL;
        process->state = ++all->last_state;
        forget_stacks(process);
        forget_threads(process);
        reset_process(process, record->time);
        process->of_thread = false;
        process->file = NULL;
    }
    if (!record->comm.name)
        return 0;
    uint32_t number = names_intern(all->names, record->comm.name);
    if (number == NAMES_NONE || (record->time && !settle_programs(all)) ||
        !name_program(process, record, number))
        return error_memory(err);
    /* Threads have their own names; the process has its main thread's. */
    if (record->tid == record->pid || !*process->name)
        process->name = names_text(all->names, number);
    return set_number(&process->threads, record->tid, number) ? 0 : error_memory(err);
}

/* A new thread has the name of the one that started it, until it gets its own. */
static int process_apply_thread(struct processes *all, const struct record *record, struct fathom_error *err)
{
    struct process *process = process_find(all, record->pid);
    if (process && record->time && !set_number(&process->births, record->tid, record->time))
        return error_memory(err);
    /* The new thread's stack base may have been recorded before its start, with the same time. */
    if (process && process->stacks && record->time)
        stacks_forget_ended(process->stacks, record->tid);
    if (!process || !process->threads)
        return 0;
    /* A thread's name outlives it, as its samples may still await later records, but not the reuse of its TID. */
    if (record->time)
        table_remove(process->threads, record->tid);
    const uint64_t *number = table_find(process->threads, record->fork.parent_tid);
    if (!number || table_find(process->threads, record->tid))
        return 0;
    return set_number(&process->threads, record->tid, *number) ? 0 : error_memory(err);
}

static bool copy_stacks(struct stacks **to, uint32_t to_tid, const struct stacks *from, uint32_t from_tid)
{
    if (!from)
        return true;
    *to = stacks_new();
    return *to && stacks_copy(*to, to_tid, from, from_tid);
}

/* For a process that ran before the recording: sets the process that started it. */
static bool set_parent(struct process *process, uint32_t parent)
{
    struct processes *all = process->all;
    if (process->program.origin != PROGRAM_UNSETTLED)
        return true;
    process->parent = parent;
    return vec_push(all->unsettled, all->unsettled_count, all->unsettled_capacity, process);
}

/* Creates a process. It starts as a copy of its parent, on a copy of the stack of the thread that forked. The state of an
 * earlier process with this PID is dropped, except for a synthesised FORK (no time), which may follow the synthesised mappings. */
static int process_apply_fork(struct processes *all, const struct record *record, struct fathom_error *err)
{
    if (record->pid == KERNEL_PID)
        return 0;
    if (record->pid == record->fork.parent_pid)
        return process_apply_thread(all, record, err);
    struct process *child = process_get(all, record->pid);
    if (!child || (record->time == 0 ? !set_parent(child, record->fork.parent_pid) : !settle_programs(all)))
        return error_memory(err);
    if (record->time == 0 && space_count(child->space))
        return 0;
    struct process *parent = process_find(all, record->fork.parent_pid);
    struct space *space = parent ? space_share(parent->space) : space_new();
    if (!space)
        return error_memory(err);
    space_release(child->space);
    space_release(child->data);
    child->space = space;
    child->data = parent && parent->data ? space_share(parent->data) : NULL;
    forget_stacks(child);
    forget_threads(child);
    reset_process(child, record->time);
    const bool parents =
        parent && (!parent->code_pid || image_cache_code_of(all->images, parent->pid, parent->birth));
    child->code_pid = parents ? parent->pid : parent ? parent->code_pid : 0;
    child->code_birth = parents ? parent->birth : parent ? parent->code_birth : 0;
    /* If the child names its own code made at run time, its code is found elsewhere. */
    const bool same = parent && process_code_set(child) == process_code_set(parent);
    child->state = same ? parent->state : ++all->last_state;
    child->time = same ? parent->time : 0;
    child->of_thread = record->fork.parent_tid != record->fork.parent_pid || (parent && parent->of_thread);
    child->name = parent ? parent->name : "";
    /* a process that ran before has its own mappings recorded */
    child->file = parent && record->time ? parent->file : NULL;
    if (record->time)
        child->program = (struct program){parent ? chain_number(parent) : PROGRAMS_NONE, PROGRAM_PARENTS};
    bool copied =
        !parent || (copy_stacks(&child->stacks, record->tid, parent->stacks, record->fork.parent_tid) &&
                    copy_stacks(&child->shared, STACKS_SHARED, parent->shared, STACKS_SHARED));
    return copied && child->program.number != PROGRAMS_FAILED ? 0 : error_memory(err);
}

/* The record's process is irrelevant: whoever made the cgroup is not in it. */
static int process_apply_cgroup(struct processes *all, const struct record *record, struct fathom_error *err)
{
    uint32_t number = names_intern(all->names, record->cgroup.path);
    if (number == NAMES_NONE || !table_set(all->cgroups, record->cgroup.id, number))
        return error_memory(err);
    return 0;
}

/* Whether all threads are known to have ended: possible only for processes that started during the recording, if no records
 * were lost. */
static bool is_over(const struct process *process)
{
    return process->left && process->birth > process->all->lost &&
           (!process->births || table_count(process->births) == 0);
}

/* Frees the process whose turn it is. */
static void forget_ended(struct processes *all)
{
    uint64_t pid, number;
    struct process *process =
        retired_due(&all->ended, &pid, &number) ? process_find(all, (uint32_t)pid) : NULL;
    if (!process || process->ended != number || process->held || !is_over(process))
        return;
    table_remove(all->by_pid, pid);
    all->last = NULL;
    process_free(process);
}

/* Drops the stacks of the thread whose turn it is. They outlive it, as it waits, and wakes others, after the record of its end
 * (kernel/exit.c). */
static void forget_ended_thread(struct processes *all)
{
    uint64_t key, number;
    const struct process *process =
        retired_due(&all->ended_threads, &key, &number) ? process_find(all, (uint32_t)(key >> 32)) : NULL;
    if (process && process->stacks)
        stacks_forget_ended(process->stacks, (uint32_t)key);
}

static void process_apply_exit(struct processes *all, const struct record *record)
{
    struct process *process = process_find(all, record->pid);
    if (!process)
        return;
    forget_ended_thread(all);
    retired_add(&all->ended_threads, (uint64_t)record->pid << 32 | record->tid);
    if (process->stacks)
        stacks_end(process->stacks, record->tid);
    if (process->births)
        table_remove(process->births, record->tid);
    process->left |= record->tid == record->pid;
    if (!is_over(process) || !settle_programs(all)) /* no process is freed before they are settled */
        return;
    process->ended = 0; /* or its own turn could come */
    forget_ended(all);
    process->ended = retired_add(&all->ended, record->pid);
}

int processes_apply(struct processes *all, const struct record *record, struct fathom_error *err)
{
    switch (record->kind) {
    case RECORD_MMAP:
        return process_apply_mmap(all, record, err);
    case RECORD_COMM:
        return process_apply_comm(all, record, err);
    case RECORD_FORK:
        return process_apply_fork(all, record, err);
    case RECORD_CGROUP:
        return process_apply_cgroup(all, record, err);
    case RECORD_EXIT:
        process_apply_exit(all, record);
        return 0;
    case RECORD_LOST:
        if (record->time > all->lost)
            all->lost = record->time;
        return 0;
    default:
        return 0;
    }
}

uint32_t process_pid(const struct process *process)
{
    return process->pid;
}

const char *process_name(const struct process *process)
{
    return process->name;
}

const char *process_thread_name(const struct process *process, uint32_t tid)
{
    const uint64_t *number = process->threads ? table_find(process->threads, tid) : NULL;
    return number ? names_text(process->all->names, (uint32_t)*number) : process->name;
}

const char *process_file(const struct process *process)
{
    return process->file;
}

const char *process_cgroup(const struct process *process, const struct sample *sample)
{
    const uint64_t *number = table_find(process->all->cgroups, sample->cgroup);
    return number ? names_text(process->all->names, (uint32_t)*number) : NULL;
}

uint32_t process_program(const struct process *process)
{
    return process->program.origin == PROGRAM_UNSETTLED ? chain_number(process) : process->program.number;
}

const char *process_program_name(const struct process *process, uint32_t program, uint32_t *parent)
{
    const struct processes *all = process->all;
    *parent = programs_parent(all->programs, program);
    return names_text(all->names, programs_name(all->programs, program));
}

uint64_t process_state(const struct process *process)
{
    return process->state;
}

const struct mapping *process_mapping_at(const struct process *process, size_t index,
                                         const struct build_id **build_id)
{
    if (index >= space_count(process->space))
        return NULL;
    const struct region *region = space_at(process->space, index);
    *build_id = region->build_id.size ? &region->build_id : NULL;
    return &region->mapping;
}

const struct mapping *process_mapping_unopened(const struct process *process, uint64_t address,
                                               const struct build_id **build_id)
{
    const size_t index = space_find(process->space, address);
    return index == SPACE_NONE ? NULL : process_mapping_at(process, index, build_id);
}

const struct mapping *process_program_mapping(const struct process *process, const struct build_id **id)
{
    const struct mapping *mapping;
    for (size_t i = 0; (mapping = process_mapping_at(process, i, id)); i++)
        if (mapping->path && *id && (*id)->size && mapped_is_program(mapping->path))
            return mapping;
    return NULL;
}

enum stack_start process_stack_start(const struct process *process, uint32_t tid)
{
    return tid != process->pid || process->of_thread ? STACK_START_THREAD : STACK_START_PROGRAM;
}

uint64_t process_thread_birth(const struct process *process, uint32_t tid)
{
    const uint64_t *birth = process->births ? table_find(process->births, tid) : NULL;
    return birth ? *birth : process->birth;
}

enum stack_kind process_stack_base(const struct process *process, uint32_t tid, uint64_t sp, uint64_t *base)
{
    if (process->stacks && stacks_find(process->stacks, tid, sp, base))
        return STACK_OWN;
    return process->shared && stacks_find(process->shared, STACKS_SHARED, sp, base) ? STACK_SHARED
                                                                                    : STACK_UNKNOWN;
}

uint64_t process_thread_key(const struct process *process, const struct sample *sample)
{
    uint64_t base;
    if (process && process_stack_base(process, sample->tid, sample->sp, &base) == STACK_SHARED)
        return hash_u64(base) + ((uint64_t)sample->pid << 32);
    return (uint64_t)sample->pid << 32 | sample->tid;
}

bool process_has_stack(const struct process *process, uint32_t tid)
{
    return process->stacks && stacks_any(process->stacks, tid);
}

static int set_stack(struct stacks **stacks, uint32_t tid, uint64_t low, uint64_t base,
                     struct fathom_error *err)
{
    if (low >= base)
        return error_set(err, EINVAL, "invalid stack of thread %u: it ends before it starts", tid);
    if (!*stacks && !(*stacks = stacks_new()))
        return error_memory(err);
    return stacks_set(*stacks, tid, low, base) ? 0 : error_memory(err);
}

int process_set_stack(struct process *process, uint32_t tid, uint64_t low, uint64_t base,
                      struct fathom_error *err)
{
    return set_stack(&process->stacks, tid, low, base, err);
}

int process_set_shared_stack(struct process *process, uint64_t low, uint64_t base, struct fathom_error *err)
{
    return set_stack(&process->shared, STACKS_SHARED, low, base, err);
}

int process_begin_shared_stack(struct process *process, uint64_t base, struct fathom_error *err)
{
    if (base < PROCESS_STACK_REACH)
        return error_set(err, EINVAL, "invalid end of a stack: 0x%llx", (unsigned long long)base);
    if (!process->shared && !(process->shared = stacks_new()))
        return error_memory(err);
    return stacks_begin(process->shared, STACKS_SHARED, base, PROCESS_STACK_REACH) ? 0 : error_memory(err);
}
