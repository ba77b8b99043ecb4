/* data.c - see data.h. Names of mappings: fs/proc/task_mmu.c, and perf_event_mmap_event() in kernel/events/core.c. */
#include "process/data.h"

#include <string.h>

#include "image/mapped_name.h"
#include "process/process_data.h"

#define ZEROS_MOST 16u /* mappings of one program's zeros that are examined */

/* A mapping of code of the same file, with its image; NULL: there is none. */
static const struct mapping *find_code(const struct process *process, const char *path)
{
    for (size_t i = 0; i < space_count(process->space); i++) {
        const struct mapping *code = &space_at(process->space, i)->mapping;
        if (code->path == path) /* names are stored once */
            return process_mapping(process, code->start);
    }
    return NULL;
}

static bool find_in_image(const struct process *process, const char *path, uint64_t address,
                          struct data_place *out)
{
    const struct mapping *code = find_code(process, path);
    uint64_t bias;
    if (!code || !code->image || !image_bias(code->image, code->offset, code->start, &bias) ||
        !image_covers(code->image, address - bias))
        return false;
    *out = (struct data_place){DATA_IMAGE, path, code->image, address - bias};
    return true;
}

static enum data_kind kind_by_name(const char *path)
{
    if (strncmp(path, "[stack", 6) == 0)
        return DATA_STACK;
    if (strcmp(path, "[heap]") == 0)
        return DATA_HEAP;
    if (mapped_kind(path) == MAPPED_NO_FILE && (path[0] != '[' || strncmp(path, "[anon", 5) == 0))
        return DATA_ANONYMOUS;
    return DATA_FILE;
}

/* A program's zeros (.bss) follow its data, without a file; they are in several mappings if madvise() or mprotect() changed a
 * part. */
static bool find_zeros(const struct process *process, size_t index, uint64_t address, struct data_place *out)
{
    for (size_t i = index; i && index - i < ZEROS_MOST; i--) {
        const struct mapping *at = &space_at(process->data, i)->mapping,
                             *below = &space_at(process->data, i - 1)->mapping;
        enum data_kind kind = kind_by_name(below->path);
        if (below->end != at->start)
            return false;
        if (kind == DATA_FILE)
            return find_in_image(process, below->path, address, out);
        if (kind != DATA_ANONYMOUS)
            return false;
    }
    return false;
}

static void find_mapped(const struct process *process, size_t index, uint64_t address, struct data_place *out)
{
    const struct mapping *at = &space_at(process->data, index)->mapping;
    enum data_kind kind = kind_by_name(at->path);
    if (kind == DATA_FILE && find_in_image(process, at->path, address, out))
        return;
    if ((kind == DATA_ANONYMOUS || kind == DATA_HEAP) && find_zeros(process, index, address, out))
        return;
    *out = (struct data_place){.kind = kind, .path = kind == DATA_FILE ? at->path : NULL};
}

void data_find(const struct process *process, uint32_t tid, uint64_t address, struct data_place *out)
{
    uint64_t base;
    *out = (struct data_place){0};
    if (process_stack_base(process, tid, address, &base) != STACK_UNKNOWN) {
        out->kind = DATA_STACK;
        return;
    }
    size_t index = process->data ? space_find(process->data, address) : SPACE_NONE;
    if (index != SPACE_NONE) {
        find_mapped(process, index, address, out);
        return;
    }
    const struct mapping *code = process_mapping(process, address);
    if (code && !find_in_image(process, code->path, address, out))
        *out = (struct data_place){.kind = DATA_FILE, .path = code->path};
}
