/* functions.c - see functions.h. */
#include "report/views/functions.h"

#include <stdlib.h>

#include "base/sort.h"

static int compare_functions(const void *a, const void *b, void *frames)
{
    const struct function_weight *x = a, *y = b;
    return order_of(y->self, x->self) ?: order_of(y->total, x->total)
           ?: frame_compare(frames, x->item, y->item);
}

int functions_of(const struct branches *b, const struct frames *frames, struct functions *functions,
                 struct fathom_error *err)
{
    size_t items = frames_count(frames);
    struct function_weight *at = calloc(items + 1, sizeof *at);
    /* By item: the end of the outermost subtree of this item that contains the current branch; 0: not seen. */
    uint32_t *inside_until = calloc(items + 1, sizeof *inside_until);
    if (!at || !inside_until) {
        free(at);
        free(inside_until);
        return error_memory(err);
    }
    for (uint32_t i = 1; i < b->count; i++) {
        const struct branch *branch = &b->at[i];
        if (frames_at(frames, branch->item)->kind == FRAME_LEVEL)
            continue;
        struct function_weight *f = &at[branch->item];
        f->self = add_saturating(f->self, branch->self);
        f->error = add_saturating(f->error, branch->error);
        uint32_t caller = branch->parent ? b->at[branch->parent].item : FRAMES_NONE;
        bool line = frames_at(frames, branch->item)->kind == FRAME_LINE;
        f->owner = line && (f->total == 0 || f->owner == caller) ? caller : FRAMES_NONE;
        if (i >= inside_until[branch->item]) {
            f->total = add_saturating(f->total, branch->total);
            inside_until[branch->item] = branch->end;
        }
    }
    uint32_t count = 0;
    for (uint32_t item = 0; item < items; item++) {
        if (at[item].total == 0)
            continue;
        at[count] = at[item];
        at[count++].item = item;
    }
    free(inside_until);
    qsort_r(at, count, sizeof *at, compare_functions, (void *)frames);
    *functions = (struct functions){at, count};
    return 0;
}

void functions_clear(struct functions *functions)
{
    free(functions->at);
    *functions = (struct functions){0};
}
