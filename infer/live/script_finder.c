/* script_finder.c - see script_finder.h. */
#include "infer/live/script_finder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "base/path.h"

struct script_finder {
    struct script_finder_input in;
    struct table *seen; /* set of (process, image, place on a stack), and of file numbers */
    uint32_t pid;       /* process of the last mapping that is still to be looked at; 0: none */
    uint64_t address;
};

struct script_finder *script_finder_new(const struct script_finder_input *input)
{
    struct script_finder *f = malloc(sizeof *f);
    if (!f)
        return NULL;
    *f = (struct script_finder){.in = *input, .seen = table_new()};
    return whole_or_free(f, f->seen, free);
}

void script_finder_free(struct script_finder *f)
{
    if (!f)
        return;
    table_free(f->seen);
    free(f);
}

static void report_runtime(const struct script_finder *f, uint32_t pid, const struct place *place,
                           uint64_t pc)
{
    const struct script_runtime *script = image_script(place->image);
    if (script && script->has_layout)
        f->in.report(f->in.context, pid, script, pc - place->address + script->state);
}

static bool may_be_script(const struct record_mmap *mmap)
{
    bool is = false;
    for (unsigned language = 1; mmap->executable && mmap->path && language < SCRIPT_LANGUAGES; language++)
        is |= strstr(path_base(mmap->path), script_facts(language)->file) != NULL;
    return is;
}

void script_finder_take(struct script_finder *f, struct processes *processes, const struct record *record)
{
    struct place place;
    const struct process *process = f->pid ? process_find(processes, f->pid) : NULL;
    if (process && process_place(process, f->address, &place))
        report_runtime(f, f->pid, &place, f->address);
    f->pid = 0;
    if (record->kind == RECORD_MMAP && may_be_script(&record->mmap)) {
        f->pid = record->pid;
        f->address = record->mmap.address;
    } else if ((record->kind == RECORD_COMM && record->comm.exec) ||
               (record->kind == RECORD_EXIT && record->pid == record->tid)) {
        f->in.report(f->in.context, record->pid, NULL, 0);
    }
}

/* Reports each file once. 0 or -ENOMEM. */
static int report_file(struct script_finder *f, const struct script_runtime *script,
                       const struct unwind_frame *frame, const struct stack_place *place)
{
    bool added;
    if (!place || !script->has_layout)
        return 0;
    if (!table_put(f->seen, place->number, &added))
        return -ENOMEM;
    if (added)
        f->in.report_file(f->in.context, place->number, script,
                          frame->pc - frame->place.address + script->state - place->at);
    return 0;
}

int script_finder_see(struct script_finder *f, const struct process *process,
                      const struct unwind_frame *frames, size_t count, const struct stack_place *places,
                      size_t place_count)
{
    const struct image *last = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct place *place = &frames[i].place;
        const struct script_runtime *script = place->image == last ? NULL : image_script(place->image);
        bool added;
        if (!script)
            continue;
        last = place->image;
        const uint64_t key =
            hash_u64(hash_u64(process_pid(process)) + (uintptr_t)last) ^ (frames[i].pc - place->address);
        if (!table_put(f->seen, key, &added))
            return -ENOMEM;
        if (added)
            report_runtime(f, process_pid(process), place, frames[i].pc);
        if (report_file(f, script, &frames[i], stack_place_of(places, place_count, frames[i].pc)) < 0)
            return -ENOMEM;
    }
    return 0;
}
