/* fold.c - simplifies a tree for reading; see views.h. */
#include "report/views/views.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "profile/inlined.h"

struct folding {
    const struct frames *frames;
    bool levels;       /* keep only these */
    struct branch *at; /* branches that are kept replace those that were read, as there are never more */
    uint32_t kept;
    struct table *found; /* callers and item -> branch; of levels, which are not added up, their index */
    uint32_t *place;     /* of each branch that was read: the one that got its weight */
    uint32_t *times;     /* how often its function is there in direct succession */
};

static bool tells_nothing(const struct folding *f, uint32_t item)
{
    const struct frame *frame = frames_at(f->frames, item);
    if (f->levels)
        return frame->kind != FRAME_LEVEL;
    return frame->kind == FRAME_LINE && strcmp(frame->name, INLINED_SEVERAL) == 0;
}

static bool fold_one(struct folding *f, uint32_t i)
{
    struct branch from = f->at[i];
    uint32_t parent = f->place[from.parent];
    const uint64_t key = f->levels ? i : (uint64_t)parent << 32 | from.item;
    bool nothing = tells_nothing(f, from.item),
         again = parent && !f->levels && from.item == f->at[parent].item;
    bool added = false;
    f->times[i] = nothing ? f->times[from.parent] : again ? f->times[from.parent] + 1 : 1;
    f->place[i] = parent;
    if (f->levels) /* which are certain */
        from.end_doubt = from.doubt = 0;
    if (!nothing && !again) {
        uint64_t *place = table_put(f->found, key, &added);
        if (!place)
            return false;
        if (added)
            *place = f->kept++;
        f->place[i] = (uint32_t)*place;
    }
    struct branch *to = &f->at[f->place[i]];
    if (added) {
        *to = from;
        to->parent = parent;
    } else {
        to->self = add_saturating(to->self, from.self);
        to->error = add_saturating(to->error, from.error);
        to->calls += from.calls;
        to->end_doubt += from.end_doubt;
        to->doubt += from.doubt;
    }
    to->times = f->times[i] > to->times ? f->times[i] : to->times;
    return true;
}

int branches_fold(struct branches *b, const struct frames *frames, bool levels, struct fathom_error *err)
{
    struct folding f = {.frames = frames, .levels = levels, .at = b->at, .kept = 1, .found = table_new()};
    f.place = calloc(b->count, sizeof *f.place);
    f.times = calloc(b->count, sizeof *f.times);
    bool ok = f.place && f.times && f.found;
    for (uint32_t i = 1; i < b->count && ok; i++)
        ok = fold_one(&f, i);
    b->count = ok ? f.kept : b->count;
    table_free(f.found);
    free(f.place);
    free(f.times);
    return ok ? 0 : error_memory(err);
}
