/* judge.c - see judge.h. */
#include "tests/checker/judge.h"

#include <errno.h>
#include <stdlib.h>

#include "base/checksum.h"
#include "base/hash.h"

enum thread_kind { THREAD_FIRST, THREAD_OTHER, THREAD_ANY };

struct judge {
    struct scenes *scenes;
    struct table *steps;   /* caller and callee, hashed -> 1: seen */
    struct table *roots;   /* function and kind of thread, hashed -> 1: seen */
    struct table *threads; /* PID and TID of first threads that started as another one -> enum thread_kind */
    struct unwind_frame *frames;
    struct function *path;
};

struct judge *judge_new(void)
{
    struct judge *j = calloc(1, sizeof *j);
    if (!j)
        return NULL;
    j->scenes = scenes_new();
    j->steps = table_new();
    j->roots = table_new();
    j->threads = table_new();
    j->frames = calloc(UNWIND_MAX_FRAMES, sizeof *j->frames);
    j->path = calloc(UNWIND_MAX_FRAMES, sizeof *j->path);
    if (!j->scenes || !j->steps || !j->roots || !j->threads || !j->frames || !j->path) {
        judge_free(j);
        j = NULL;
    }
    return j;
}

void judge_free(struct judge *j)
{
    if (!j)
        return;
    scenes_free(j->scenes);
    table_free(j->steps);
    table_free(j->roots);
    table_free(j->threads);
    free(j->frames);
    free(j->path);
    free(j);
}

static uint64_t thread_key(uint32_t pid, uint32_t tid)
{
    return ((uint64_t)pid << 32 | tid) + 1;
}

static enum thread_kind thread_kind(const struct judge *j, uint32_t pid, uint32_t tid)
{
    const uint64_t *known = table_find(j->threads, thread_key(pid, tid));
    if (known)
        return (enum thread_kind) * known;
    return pid == tid ? THREAD_FIRST : THREAD_OTHER;
}

int judge_apply(struct judge *j, const struct record *record)
{
    enum thread_kind kind = record->pid == record->tid ? THREAD_FIRST : THREAD_OTHER;
    if (record->kind == RECORD_FORK && record->pid != record->fork.parent_pid)
        kind = thread_kind(j, record->fork.parent_pid, record->fork.parent_tid);
    else if (record->kind != RECORD_FORK && (record->kind != RECORD_COMM || !record->comm.exec))
        return 0;
    uint64_t *place = table_put(j->threads, thread_key(record->pid, record->tid), NULL);
    if (!place)
        return -ENOMEM;
    *place = kind;
    return 0;
}

size_t judge_unwind(struct judge *j, const struct process *process, const struct sample *sample,
                    const struct function **path)
{
    enum unwind_end end;
    uint64_t base, told;
    size_t depth = 0, count = unwind_sample(process, sample, j->frames, UNWIND_MAX_FRAMES, &end);
    if ((end != UNWIND_ROOT && end != UNWIND_SIGNAL) || count == 0)
        return 0;
    if (process_stack_base(process, sample->tid, sample->sp, &base) == STACK_UNKNOWN) {
        if (unwind_base(j->frames, count, &told) == STACK_UNKNOWN)
            return 0;
        base = told;
    }
    for (size_t i = count; i-- > 0;) {
        const struct place *place = &j->frames[i].place;
        if (j->frames[i].cfa > base)
            continue;
        if (!place->image || place->function == IMAGE_NO_FUNCTION)
            return 0;
        j->path[depth++] = (struct function){place->image, place->function};
    }
    *path = j->path;
    return depth;
}

static uint64_t step_key(struct function caller, struct function callee)
{
    uint64_t words[] = {(uintptr_t)caller.image, caller.number, (uintptr_t)callee.image, callee.number};
    return checksum_of(words, sizeof words);
}

static uint64_t root_key(enum thread_kind kind, struct function root)
{
    uint64_t words[] = {kind, (uintptr_t)root.image, root.number};
    return checksum_of(words, sizeof words);
}

int judge_observe(struct judge *j, const struct process *process, const struct sample *sample,
                  const struct function *path, size_t depth)
{
    enum thread_kind kind = thread_kind(j, sample->pid, sample->tid);
    if (depth && !table_put(j->roots, root_key(kind, path[0]), NULL))
        return -ENOMEM;
    uint64_t base;
    if (depth && process_stack_base(process, sample->tid, sample->sp, &base) != STACK_OWN &&
        !table_put(j->roots, root_key(THREAD_ANY, path[0]), NULL))
        return -ENOMEM;
    for (size_t i = 1; i < depth; i++)
        if (!table_put(j->steps, step_key(path[i - 1], path[i]), NULL))
            return -ENOMEM;
    return 0;
}

int judge_train(struct judge *j, struct function caller, struct function callee)
{
    return table_put(j->steps, step_key(caller, callee), NULL) ? 0 : -ENOMEM;
}

/* 1, 0 or -ENOMEM. */
static int root_fits(struct judge *j, struct scene *scene, const struct process *process,
                     const struct sample *sample, struct function root)
{
    enum thread_kind kind = thread_kind(j, sample->pid, sample->tid);
    if (table_find(j->roots, root_key(kind, root)))
        return 1;
    if (scene_begins_program(scene, root))
        return kind == THREAD_FIRST;
    int thread = scene_begins_thread(scene, root);
    if (thread)
        return thread < 0 ? thread : kind == THREAD_OTHER;
    if (table_find(j->roots,
                   root_key(THREAD_ANY, root))) /* a goroutine, that goes on on a thread's own stack */
        return 1;
    uint64_t base;
    if (process_stack_base(process, sample->tid, sample->sp, &base) == STACK_OWN)
        return 0;
    return scene_switches(root) ? 1 : scene_taken(scene, root);
}

int judge_path(struct judge *j, const struct process *process, const struct sample *sample,
               const struct function *path, size_t depth, struct verdict *out)
{
    struct scene *scene = scenes_of(j->scenes, process);
    if (!scene)
        return -ENOMEM;
    for (size_t i = 0; i < depth; i++) {
        if (scene_has(scene, path[i].image))
            continue;
        *out = (struct verdict){FAULT_UNMAPPED, i};
        return 0;
    }
    int rc = depth ? root_fits(j, scene, process, sample, path[0]) : 1;
    *out = (struct verdict){rc == 0 ? FAULT_ROOT : FAULT_NONE, 0};
    for (size_t i = 1; i < depth && rc > 0; i++) {
        rc = table_find(j->steps, step_key(path[i - 1], path[i])) != NULL;
        if (!rc)
            rc = scene_step(scene, path[i - 1], path[i]);
        if (rc == 0)
            *out = (struct verdict){FAULT_STEP, i};
    }
    return rc < 0 ? rc : 0;
}
