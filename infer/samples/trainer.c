/* trainer.c - see trainer.h. */
#include "infer/samples/trainer.h"

#include <stdlib.h>
#include <string.h>

#include "infer/samples/cid.h"

struct trainer {
    struct trie *trie; /* borrowed */
    struct function_numbers *numbers;
    struct unwind_frame frames[UNWIND_MAX_FRAMES];
    struct trainer_path entered;  /* the last one */
    size_t entered_count;         /* frames */
    struct trainer_origin origin; /* and where its stack begins */
    const char *left_out;         /* a file; NULL: none */
};

struct trainer *trainer_new(struct trie *trie)
{
    struct trainer *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->trie = trie;
    t->numbers = function_numbers_new(trie);
    if (!t->numbers) {
        free(t);
        t = NULL;
    }
    return t;
}

void trainer_free(struct trainer *t)
{
    if (!t)
        return;
    function_numbers_free(t->numbers);
    free(t);
}

void trainer_leave_out(struct trainer *t, const char *path)
{
    t->left_out = path;
}

struct function_numbers *trainer_numbers(struct trainer *t)
{
    return t->numbers;
}

uint32_t trainer_function(struct trainer *t, const struct place *place)
{
    return function_number(t->numbers, place->image, place->function);
}

/* Whether the path can be entered: every frame has a function and a height that the trie can hold. */
static bool trainer_usable(const struct trainer *t, size_t count, uint64_t base)
{
    if (count == 0 || t->frames[0].cfa > base || base - t->frames[0].cfa > UINT32_MAX)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct place *place = &t->frames[i].place;
        if (place->function == IMAGE_NO_FUNCTION ||
            (t->left_out && strcmp(image_path(place->image), t->left_out) == 0))
            return false;
    }
    return true;
}

static bool trainer_covers(struct trainer *t, const struct unwind_frame *frame)
{
    uint32_t image = function_number_image(t->numbers, frame->place.image);
    return image == TRIE_NONE || trie_covers(t->trie, image);
}

static bool trainer_keeps_site(struct trainer *t, const struct unwind_frame *caller)
{
    uint32_t image = function_number_image(t->numbers, caller->place.image);
    return image == TRIE_NONE || trie_keeps_sites(t->trie, image);
}

/* The innermost frame of an image that the trie covers (looks all of them up first); count: none. */
static size_t trainer_innermost(struct trainer *t, size_t count)
{
    size_t innermost = count;
    for (size_t i = count; i-- > 0;) {
        trainer_function(t, &t->frames[i].place);
        if (trainer_covers(t, &t->frames[i]))
            innermost = i;
    }
    return innermost;
}

/* The site of the outermost frame. A thread's is in clone3, whose frame is walked only while the base is
 * unknown; after that the walk ends at the base, and its return address is the site. */
static uint64_t trainer_outer_site(const struct trainer *t, const struct process *process,
                                   const struct sample *sample, size_t count, size_t all, uint64_t base)
{
    struct place place;
    uint64_t back, thread_return, at = base - 8 - sample->sp;
    if (count < all)
        return t->frames[count].interrupted ? 0 : t->frames[count].place.address;
    if (t->frames[count - 1].cfa != base || sample->stack_size < sizeof back ||
        at > sample->stack_size - sizeof back)
        return 0;
    memcpy(&back, (const uint8_t *)sample->stack + at, sizeof back);
    bool own = process_place(process, back, &place) && image_thread_return(place.image, &thread_return) &&
               place.address == thread_return;
    return own ? thread_return : 0;
}

/* Enters frames[0 .. count), all at or below the base, from the outermost on, whose site is given. */
static int trainer_enter(struct trainer *t, size_t count, uint64_t outer_site, uint64_t base,
                         struct fathom_error *err)
{
    uint32_t node = TRIE_ROOT;
    struct trainer_path path = {.leaf = TRIE_NONE};
    size_t innermost = trainer_innermost(t, count);
    for (size_t i = count; i-- > 0;) {
        const struct unwind_frame *frame = &t->frames[i];
        if (i > innermost && !trainer_covers(t, frame))
            continue;
        const struct unwind_frame *caller = i + 1 < count ? frame + 1 : NULL;
        bool told = caller && !caller->interrupted && trainer_keeps_site(t, caller);
        uint64_t site = told ? caller->place.address : caller ? 0 : outer_site;
        uint32_t function = trainer_function(t, &frame->place);
        if (function == TRIE_NONE)
            return error_memory(err);
        path = (struct trainer_path){.callers = node, .height = (uint32_t)(base - frame->cfa)};
        node = trie_child(t->trie, node, function, path.height, site);
        if (node == TRIE_NONE)
            return error_memory(err);
        trie_add(t->trie, node, 1, i == 0);
    }
    path.leaf = node;
    t->entered = path;
    t->entered_count = count;
    t->origin =
        (struct trainer_origin){&t->frames[count - 1], base,
                                count > 1 ? trainer_function(t, &t->frames[count - 2].place) : TRIE_NONE};
    const struct place *place = &t->frames[0].place;
    uint64_t start = image_function(place->image, place->function)->address;
    if (!trie_add_pc(t->trie, node, (uint32_t)(place->address - start), 1))
        return error_memory(err);
    return (int)count;
}

/* Determines the base to count from: 1; 0 if unknown. A stack that belongs to no thread may have been reused
 * since another sample revealed its base. */
static int trainer_base(const struct trainer *t, struct process *process, const struct sample *sample,
                        size_t count, uint64_t *base, struct fathom_error *err)
{
    enum stack_kind known = process_stack_base(process, sample->tid, sample->sp, base);
    if (known == STACK_OWN)
        return 1;
    uint64_t unwound;
    enum stack_kind kind = unwind_base(t->frames, count, &unwound);
    if (kind == STACK_UNKNOWN)
        return known != STACK_UNKNOWN;
    *base = unwound;
    int rc = kind == STACK_OWN ? process_set_stack(process, sample->tid, sample->sp, unwound, err)
                               : process_set_shared_stack(process, sample->sp, unwound, err);
    return rc < 0 ? rc : 1;
}

int trainer_add(struct trainer *t, struct process *process, const struct sample *sample, enum unwind_end *end,
                struct fathom_error *err)
{
    enum unwind_end how;
    size_t count = unwind_sample(process, sample, t->frames, UNWIND_MAX_FRAMES, &how);
    struct trie_statistics *statistics = trie_statistics(t->trie);
    if (end)
        *end = how;
    if (how != UNWIND_ROOT) {
        if (how == UNWIND_CUT)
            statistics->paths_cut++;
        else
            statistics->paths_failed++;
        return 0;
    }
    uint64_t base;
    int told = trainer_base(t, process, sample, count, &base, err);
    if (told < 0)
        return told;
    if (!told) {
        statistics->paths_failed++;
        return 0;
    }
    size_t all = count;
    while (count && t->frames[count - 1].cfa > base)
        count--;
    if (!trainer_usable(t, count, base)) {
        statistics->paths_failed++;
        return 0;
    }
    statistics->paths_entered++;
    uint64_t outer_site = trainer_outer_site(t, process, sample, count, all, base);
    return trainer_enter(t, count, outer_site, base, err);
}

int trainer_find_base(struct trainer *t, struct process *process, const struct sample *sample,
                      struct fathom_error *err)
{
    uint64_t base;
    enum unwind_end end;
    size_t count = unwind_sample(process, sample, t->frames, UNWIND_MAX_FRAMES, &end);
    return end == UNWIND_ROOT && count ? trainer_base(t, process, sample, count, &base, err) : 0;
}

struct trainer_origin trainer_origin(const struct trainer *t)
{
    return t->origin;
}

struct trainer_path trainer_entered(const struct trainer *t)
{
    return t->entered;
}

const struct unwind_frame *trainer_frames(const struct trainer *t, size_t *count)
{
    *count = t->entered_count;
    return t->frames;
}

int trainer_repeat(struct trainer *t, const struct trainer_path *path, const struct process *process,
                   const struct sample *sample, uint32_t *node, struct fathom_error *err)
{
    struct cid cid = cid_of_sample(process, sample);
    uint32_t callers;
    uint64_t site;
    *node = TRIE_NONE;
    if (cid.reason != UNKNOWN_NOT || cid.height > path->height ||
        !trie_at_height(t->trie, path->leaf, (uint32_t)cid.height, &callers, &site))
        return 0;
    uint32_t function = trainer_function(t, &cid.place);
    if (function == TRIE_NONE)
        return error_memory(err);
    *node = trie_child(t->trie, callers, function, (uint32_t)cid.height, site);
    if (*node == TRIE_NONE)
        return error_memory(err);
    trie_add_path(t->trie, *node);
    uint64_t start = image_function(cid.place.image, cid.place.function)->address;
    return trie_add_pc(t->trie, *node, (uint32_t)(cid.place.address - start), 1) ? 1 : error_memory(err);
}
