/* trainer.c - see trainer.h. */
#include "infer/samples/trainer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "infer/samples/cid.h"
#include "pathmap/map/partial.h"
#include "process/partial.h"
#include "process/walked.h"

/* Limit of the nodes that stacks deeper than their copies may add to the trie, each of which costs a report 220 bytes. Beyond
 * it, only their innermost frames are entered. In a recursion through several functions at random no two stacks are alike, and
 * each adds some 900. A clang++ with 17,000 samples, 3% of them such, adds 20,000 nodes. */
#define CUT_NODES_MOST  (1u << 19)
#define CUT_FRAMES_MOST 32u

struct trainer {
    struct trie *trie; /* borrowed */
    struct function_numbers *numbers;
    struct unwind_frame frames[UNWIND_MAX_FRAMES];
    struct trainer_path entered;  /* the last one entered */
    size_t entered_count;         /* frames */
    struct trainer_origin origin; /* where its stack begins */
    const char *left_out;         /* stacks with frames in this file are not entered; NULL: none */
    bool apart;                   /* trainer_keep_apart() */
    uint32_t cut_nodes;           /* added by stacks deeper than their copies */
};

struct trainer *trainer_new(struct trie *trie)
{
    struct trainer *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->trie = trie;
    t->numbers = function_numbers_new(trie);
    return whole_or_free(t, t->numbers, free);
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

void trainer_keep_apart(struct trainer *t)
{
    t->apart = true;
}

struct function_numbers *trainer_numbers(struct trainer *t)
{
    return t->numbers;
}

uint32_t trainer_function(struct trainer *t, const struct place *place)
{
    return function_number(t->numbers, place->image, place->function);
}

static bool is_left_out(const struct trainer *t, const struct place *place)
{
    return t->left_out && strcmp(image_path(place->image), t->left_out) == 0;
}

/* Whether the path can be entered: every frame has a function and a height that the trie can hold. */
static bool trainer_usable(const struct trainer *t, size_t count, uint64_t base)
{
    if (count == 0 || t->frames[0].cfa > base || base - t->frames[0].cfa > UINT32_MAX)
        return false;
    for (size_t i = 0; i < count; i++)
        if (t->frames[i].place.function == IMAGE_NO_FUNCTION || is_left_out(t, &t->frames[i].place))
            return false;
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

/* The site of the outermost frame. A thread's is in clone3, whose frame is walked only while the base is unknown; after that
 * the walk ends at the base, and the return address is the site. */
static uint64_t trainer_outer_site(const struct trainer *t, const struct process *process,
                                   const struct sample *sample, size_t count, size_t all, uint64_t base)
{
    struct place place;
    uint64_t back, thread_return;
    if (count < all)
        return t->frames[count].interrupted ? 0 : t->frames[count].place.address;
    if (t->frames[count - 1].cfa != base || !walked_beyond(sample, t->frames, count, &back))
        return 0;
    bool own = process_place(process, back, &place) && image_thread_return(place.image, &thread_return) &&
               place.address == thread_return;
    return own ? thread_return : 0;
}

/* Where a path begins. */
struct beginning {
    uint32_t node;        /* TRIE_ROOT, or a partial path's root */
    uint64_t base, site;  /* site: of the outermost frame */
    uint64_t lowered;     /* as in struct trainer_path */
    bool apart, switched; /* as in struct trainer_path */
};

/* Enters frames[0 .. count), all at or below the base, from the outermost on. */
static int trainer_enter(struct trainer *t, size_t count, const struct beginning *begin,
                         struct fathom_error *err)
{
    uint32_t node = begin->node;
    struct trainer_path path = {.leaf = TRIE_NONE};
    size_t innermost = trainer_innermost(t, count);
    for (size_t i = count; i-- > 0;) {
        const struct unwind_frame *frame = &t->frames[i];
        if (i > innermost && !trainer_covers(t, frame))
            continue;
        const struct unwind_frame *caller = i + 1 < count ? frame + 1 : NULL;
        bool has_site = caller && !caller->interrupted && trainer_keeps_site(t, caller);
        uint64_t site = has_site ? caller->place.address : caller ? 0 : begin->site;
        uint32_t function = trainer_function(t, &frame->place);
        if (function == TRIE_NONE)
            return error_memory(err);
        path = (struct trainer_path){.callers = node,
                                     .height = (uint32_t)(begin->base - frame->cfa) +
                                               (begin->switched && begin->node == TRIE_ROOT ? PARTIAL_JOINED
                                                : begin->apart                              ? PARTIAL_APART
                                                                                            : 0),
                                     .partial = begin->node != TRIE_ROOT,
                                     .apart = begin->apart,
                                     .switched = begin->switched,
                                     .lowered = begin->lowered};
        node = trie_child(t->trie, node, function, path.height, site);
        if (node == TRIE_NONE)
            return error_memory(err);
        if (!begin->apart)
            trie_add(t->trie, node, 1, i == 0);
    }
    path.leaf = node;
    t->entered = path;
    t->entered_count = count;
    t->origin =
        (struct trainer_origin){&t->frames[count - 1], begin->base,
                                count > 1 ? trainer_function(t, &t->frames[count - 2].place) : TRIE_NONE};
    if (begin->apart)
        return (int)count;
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

/* How many frames, from the innermost on, have a function. */
static size_t count_owned(const struct trainer *t, size_t count)
{
    size_t owned = 0;
    while (owned < count && t->frames[owned].place.function != IMAGE_NO_FUNCTION)
        owned++;
    return owned;
}

/* Determines the base for a walk that ended early: that of the thread's own stack, or of an alternate signal stack, by its
 * handler. 1; 0 if it is unknown; or -ENOMEM. */
static int partial_base(struct process *process, const struct sample *sample, uint64_t outermost,
                        enum unwind_end how, uint64_t *base)
{
    if (process_stack_base(process, sample->tid, sample->sp, base) == STACK_OWN)
        return *base >= outermost + 8;
    if (how != UNWIND_SIGNAL)
        return 0;
    *base = unwind_signal_base(outermost);
    return process_set_shared_stack(process, sample->sp, *base, NULL) < 0 ? -ENOMEM : 1;
}

/* Adds, outside of `count` frames, the function that the walk reached but could not unwind. Returns the number of frames. */
static size_t add_beyond(struct trainer *t, const struct process *process, const struct sample *sample,
                         size_t count, enum unwind_end how, const struct beginning *begin)
{
    struct unwind_frame *outermost = &t->frames[count - 1], beyond = {0};
    const uint64_t less = begin->apart ? PARTIAL_BEYOND_APART : PARTIAL_BEYOND;
    if (count == UNWIND_MAX_FRAMES || begin->base - outermost->cfa < PARTIAL_HEIGHT + less ||
        !unwind_beyond(process, sample, t->frames, count, how, &beyond) || is_left_out(t, &beyond.place))
        return count;
    beyond.cfa = outermost->cfa + less;
    t->frames[count] = beyond;
    return count + 1;
}

/* Makes the sample's own frame one with an unknown CFA, if the CFA is in a word beyond the copy. Returns the number of frames. */
static size_t add_leaf(struct trainer *t, const struct process *process, const struct sample *sample)
{
    struct unwind_frame leaf = {.pc = sample->reg_ip, .cfa = sample->sp + PARTIAL_BEYOND_APART};
    struct cfi_row row;
    if (sample->regs_after || !unwind_place(process, sample->reg_ip, true, &leaf.place, &row) ||
        !cfi_in_memory(&row) || leaf.place.function == IMAGE_NO_FUNCTION)
        return 0;
    t->frames[0] = leaf;
    return 1;
}

/* Determines where a walk that ended early begins. If it is kept apart, heights count from its outermost frame, so that all
 * stacks that end at the same frame share their frames from there on, however deep they are in a recursion. 1; 0: it must not
 * be entered; or -ENOMEM. */
static int partial_begin(struct trainer *t, struct process *process, const struct sample *sample,
                         size_t count, enum unwind_end how, struct beginning *out)
{
    char text[PARTIAL_TEXT];
    const uint64_t outermost = t->frames[count - 1].cfa;
    const bool switched = unwind_switched(sample, t->frames, count);
    const int based = switched ? 0 : partial_base(process, sample, outermost, how, &out->base);
    if (based < 0)
        return based;
    out->site = 0;
    out->switched = switched;
    out->apart = !based || how == UNWIND_CUT || how == UNWIND_LONG;
    if (out->apart) {
        const uint64_t above = outermost + 2 * PARTIAL_BEYOND_APART;
        out->lowered = based ? out->base - above : 0;
        out->base = above;
    }
    out->node = TRIE_ROOT;
    if (out->apart && !t->apart)
        return 0;
    partial_text(process, sample, t->frames, count, how, text);
    out->node = partial_node(t->trie, text);
    return out->node == TRIE_NONE ? -ENOMEM : 1;
}

/* Enters what a walk that ended early proved. */
static int trainer_add_partial(struct trainer *t, struct process *process, const struct sample *sample,
                               size_t count, enum unwind_end how, struct fathom_error *err)
{
    struct trie_statistics *statistics = trie_statistics(t->trie);
    struct beginning begin = {0};
    const bool cut = how == UNWIND_CUT || how == UNWIND_LONG, walked = count > 0,
               few = cut && t->cut_nodes >= CUT_NODES_MOST && count > CUT_FRAMES_MOST;
    if (few)
        count = CUT_FRAMES_MOST;
    if (!walked && how == UNWIND_CUT && process && sample->has_regs)
        count = add_leaf(t, process, sample);
    int rc = count ? partial_begin(t, process, sample, count, how, &begin) : 0;
    if (rc < 0)
        return error_memory(err);
    if (rc > 0 && walked && !few)
        count = add_beyond(t, process, sample, count, how, &begin);
    bool usable = rc > 0 && trainer_usable(t, count, begin.base);
    if (how == UNWIND_CUT)
        statistics->paths_cut++;
    else if (!usable || begin.apart)
        statistics->paths_failed++;
    else
        statistics->paths_entered++;
    if (!usable)
        return 0;
    if (!begin.apart)
        trie_add(t->trie, begin.node, 1, 0);
    const uint32_t nodes = trie_node_count(t->trie);
    rc = trainer_enter(t, count, &begin, err);
    t->cut_nodes += cut ? trie_node_count(t->trie) - nodes : 0;
    return rc;
}

int trainer_add(struct trainer *t, struct process *process, const struct sample *sample, enum unwind_end *end,
                struct fathom_error *err)
{
    enum unwind_end how;
    size_t count = unwind_sample(process, sample, t->frames, UNWIND_MAX_FRAMES, &how),
           owned = count_owned(t, count);
    struct trie_statistics *statistics = trie_statistics(t->trie);
    if (end)
        *end = how;
    if (how != UNWIND_ROOT || owned < count)
        return trainer_add_partial(t, process, sample, owned, owned < count ? UNWIND_NO_CFI : how, err);
    struct beginning begin = {.node = TRIE_ROOT, .switched = unwind_switched(sample, t->frames, count)};
    begin.apart = begin.switched;
    int found = begin.switched ? t->apart : trainer_base(t, process, sample, count, &begin.base, err);
    if (found < 0)
        return found;
    if (begin.switched)
        begin.base = t->frames[count - 1].cfa;
    if (!found) {
        statistics->paths_failed++;
        return 0;
    }
    size_t all = count;
    while (count && t->frames[count - 1].cfa > begin.base)
        count--;
    if (!trainer_usable(t, count, begin.base)) {
        statistics->paths_failed++;
        return 0;
    }
    statistics->paths_entered++;
    begin.site = trainer_outer_site(t, process, sample, count, all, begin.base);
    return trainer_enter(t, count, &begin, err);
}

int trainer_find_base(struct trainer *t, struct process *process, const struct sample *sample,
                      struct fathom_error *err)
{
    uint64_t base;
    enum unwind_end end;
    size_t count = unwind_sample(process, sample, t->frames, UNWIND_MAX_FRAMES, &end);
    if (end == UNWIND_SIGNAL && count)
        return partial_base(process, sample, t->frames[count - 1].cfa, end, &base) < 0 ? error_memory(err)
                                                                                       : 1;
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

/* Counts a sample at a node. 1 or -ENOMEM. */
static int trainer_count(struct trainer *t, const struct trainer_path *path, const struct place *place,
                         uint32_t node, struct fathom_error *err)
{
    if (path->apart)
        return 1;
    trie_add_path(t->trie, node);
    uint64_t start = image_function(place->image, place->function)->address;
    return trie_add_pc(t->trie, node, (uint32_t)(place->address - start), 1) ? 1 : error_memory(err);
}

/* Finds the frame of a sample whose CFA needs a register that it does not have: its function and CFI row are those of the stack
 * that was compared, so it is the frame of the path that has its SP. */
static int repeat_frame(struct trainer *t, const struct trainer_path *path, const struct process *process,
                        const struct sample *sample, const struct place *place, uint32_t *node,
                        struct fathom_error *err)
{
    uint64_t base;
    uint32_t found;
    if (process_stack_base(process, sample->tid, sample->sp, &base) == STACK_UNKNOWN || base < sample->sp)
        return 0;
    if (base - sample->sp < path->lowered)
        return 0;
    const uint64_t height = base - sample->sp - path->lowered + (path->apart ? PARTIAL_APART : 0);
    const uint32_t function = trainer_function(t, place);
    if (function == TRIE_NONE)
        return error_memory(err);
    /* If the return address is in a register, the CFA is SP itself (process/unwind.c, room_of). */
    uint32_t at = trie_above(t->trie, path->leaf, height + 1, &found);
    if (at == TRIE_NONE || found != function)
        at = trie_above(t->trie, path->leaf, height, &found);
    if (at == TRIE_NONE || found != function)
        return 0;
    *node = at;
    return trainer_count(t, path, place, at, err);
}

/* Whether a sample's stack was compared from SP on, as the recorder knew no base: its frame is then the path's innermost. (For
 * placed samples the base was known.) */
static bool is_apart(const struct process *process, const struct sample *sample)
{
    uint64_t base;
    return !sample->placed && sample->from_sp &&
           process_stack_base(process, sample->tid, sample->sp, &base) != STACK_OWN;
}

int trainer_repeat(struct trainer *t, const struct trainer_path *path, const struct process *process,
                   const struct sample *sample, uint32_t *node, struct fathom_error *err)
{
    struct cid cid = cid_of_sample(process, sample);
    uint32_t callers;
    uint64_t site, height = cid.height - path->lowered + (path->apart ? PARTIAL_APART : 0);
    *node = TRIE_NONE;
    const bool leaf = (path->switched || is_apart(process, sample)) &&
                      (cid.reason == UNKNOWN_NOT || cid.reason == UNKNOWN_CONTEXT ||
                       cid.reason == UNKNOWN_BASE || cid.reason == UNKNOWN_CFI);
    if (leaf)
        height = path->height;
    else if (cid.reason == UNKNOWN_CFI)
        return repeat_frame(t, path, process, sample, &cid.place, node, err);
    if ((cid.reason != UNKNOWN_NOT && !leaf) || height > path->height ||
        !trie_at_height(t->trie, path->leaf, (uint32_t)height, &callers, &site))
        return 0;
    uint32_t function = trainer_function(t, &cid.place);
    if (function == TRIE_NONE)
        return error_memory(err);
    *node = trie_child(t->trie, callers, function, (uint32_t)height, site);
    if (*node == TRIE_NONE)
        return error_memory(err);
    return trainer_count(t, path, &cid.place, *node, err);
}
