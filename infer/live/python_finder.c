/* python_finder.c - see python_finder.h. */
#include "infer/live/python_finder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/path.h"

struct python_finder {
    void (*tell)(void *context, uint32_t pid, const struct python *python, uint64_t runtime);
    void *context;
    struct table *seen; /* of each process, image and place on a stack */
    uint32_t pid;       /* of what was mapped last; 0: nothing that is to be looked at */
    uint64_t address;
};

struct python_finder *python_finder_new(void (*tell)(void *context, uint32_t pid, const struct python *python,
                                                     uint64_t runtime),
                                        void *context)
{
    struct python_finder *f = malloc(sizeof *f);
    if (!f)
        return NULL;
    *f = (struct python_finder){.tell = tell, .context = context, .seen = table_new()};
    if (f->seen)
        return f;
    free(f);
    return NULL;
}

void python_finder_free(struct python_finder *f)
{
    if (!f)
        return;
    table_free(f->seen);
    free(f);
}

static void tell(const struct python_finder *f, uint32_t pid, const struct place *place, uint64_t pc)
{
    const struct python *python = image_python(place->image);
    if (python && python->has_layout)
        f->tell(f->context, pid, python, pc - place->address + python->runtime);
}

static bool may_be_python(const struct record_mmap *mmap)
{
    return mmap->executable && mmap->path && strstr(path_base(mmap->path), "python");
}

void python_finder_take(struct python_finder *f, struct processes *processes, const struct record *record)
{
    struct place place;
    const struct process *process = f->pid ? process_find(processes, f->pid) : NULL;
    if (process && process_place(process, f->address, &place))
        tell(f, f->pid, &place, f->address);
    f->pid = 0;
    if (record->kind == RECORD_MMAP && may_be_python(&record->mmap)) {
        f->pid = record->pid;
        f->address = record->mmap.address;
    } else if ((record->kind == RECORD_COMM && record->comm.exec) ||
               (record->kind == RECORD_EXIT && record->pid == record->tid)) {
        f->tell(f->context, record->pid, NULL, 0);
    }
}

int python_finder_see(struct python_finder *f, const struct process *process,
                      const struct unwind_frame *frames, size_t count)
{
    const struct image *last = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct place *place = &frames[i].place;
        bool added;
        if (place->image == last || !image_python(place->image))
            continue;
        last = place->image;
        const uint64_t key =
            hash_u64(hash_u64(process_pid(process)) + (uintptr_t)last) ^ (frames[i].pc - place->address);
        if (!table_put(f->seen, key, &added))
            return -ENOMEM;
        if (added)
            tell(f, process_pid(process), place, frames[i].pc);
    }
    return 0;
}
