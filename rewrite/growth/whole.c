/* whole.c - see whole.h. */
#include "rewrite/growth/whole.h"

#include <errno.h>
#include <stdlib.h>

#include "base/sort.h"
#include "base/vec.h"
#include "image/image_private.h"

struct gathering {
    struct whole *whole;
    struct function_code code;
    int rc;
};

/* Whether the address is inside a function, but not its entry. */
static bool is_middle(const struct image *image, uint64_t address)
{
    uint32_t f = image_function_at(image, address);
    return f != IMAGE_NO_FUNCTION && image_function(image, f)->address != address;
}

static void see_target(void *context, uint64_t address)
{
    struct gathering *g = context;
    struct whole *w = g->whole;
    if (is_middle(w->image, address) && !vec_push(w->labels, w->label_count, w->label_capacity, address))
        g->rc = -ENOMEM;
}

/* Collects the targets of one part's code that are not entries of functions. */
static void see_code(struct gathering *g, uint32_t owner)
{
    struct whole *w = g->whole;
    for (uint32_t i = 0; i < g->code.count && g->rc == 0; i++) {
        const struct code_insn *insn = &g->code.insns[i];
        if (insn->effect == CODE_ADDRESS)
            see_target(g, insn->memory);
        else if (insn->effect == CODE_CONSTANT && image_is_fixed(w->image))
            see_target(g, insn->target);
        if (insn->kind != CODE_JUMP && insn->kind != CODE_BRANCH && insn->kind != CODE_CALL)
            continue;
        bool own = insn->kind != CODE_CALL && image_function_at(w->image, insn->target) == owner;
        if (!own && is_middle(w->image, insn->target) &&
            !vec_push(w->entered, w->entered_count, w->entered_capacity, insn->target))
            g->rc = -ENOMEM;
    }
}

static int gather_addresses(struct whole *w)
{
    struct gathering g = {.whole = w};
    if (image_targets(w->image, see_target, &g) < 0)
        g.rc = -ENOMEM;
    for (uint32_t f = 0; f < image_function_count(w->image) && g.rc == 0; f++) {
        const struct image_function *function = image_function(w->image, f);
        struct function_part part = {function->address, function->size};
        g.rc = function_code_read(&g.code, w->image, &part, 1);
        if (g.rc == 0)
            see_code(&g, function->owner);
    }
    function_code_free(&g.code);
    w->label_count = sort_unique(w->labels, w->label_count);
    w->entered_count = sort_unique(w->entered, w->entered_count);
    return g.rc;
}

/* Counting sort of the functions by owner; addresses stay in order. */
static int sort_parts(struct whole *w)
{
    uint32_t count = image_function_count(w->image);
    w->parts = calloc((size_t)count + 1, sizeof *w->parts);
    w->first = calloc((size_t)count + 2, sizeof *w->first);
    if (!w->parts || !w->first)
        return -ENOMEM;
    for (uint32_t f = 0; f < count; f++)
        w->first[image_function(w->image, f)->owner + 2]++;
    for (uint32_t f = 0; f <= count; f++)
        w->first[f + 1] += w->first[f];
    for (uint32_t f = 0; f < count; f++)
        w->parts[w->first[image_function(w->image, f)->owner + 1]++] = f;
    return 0;
}

int whole_read(const struct image *image, struct whole *out, struct fathom_error *err)
{
    struct whole w = {.image = image};
    int rc = cfi_frames_read(&image->file, &w.cfi);
    if (rc == 0)
        rc = calls_jumps_new(image, &w.jumps);
    if (rc == 0)
        rc = sort_parts(&w);
    if (rc == 0)
        rc = gather_addresses(&w);
    if (rc < 0)
        error_memory(err);
    else
        rc = whole_read_debug_frame(&w, err);
    if (rc < 0) {
        whole_free(&w);
        return rc;
    }
    *out = w;
    return 0;
}

void whole_free(struct whole *w)
{
    cfi_frames_free(&w->cfi);
    calls_jumps_free(w->jumps);
    free(w->parts);
    free(w->first);
    free(w->labels);
    free(w->entered);
    free(w->debug_frames);
    *w = (struct whole){0};
}
