/* script_frames.c - see script_frames.h. */
#include "profile/script_frames.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/path.h"
#include "base/vec.h"
#include "image/python.h"

/* What is to be shown of one function. */
struct shown {
    uint32_t item, line; /* line: FRAMES_NONE: none */
};

struct script_frames {
    struct frames *frames;
    bool lines, alone;
    struct table *shown; /* struct script_frame -> place in `items` + 1 */
    struct shown *items;
    size_t item_count, item_capacity;
    const struct script_frame **called; /* the outermost first */
    size_t called_count, called_capacity;
    uint32_t *path;
    size_t depth, capacity;
};

struct script_frames *script_frames_new(struct frames *frames, bool lines, bool alone)
{
    struct script_frames *s = malloc(sizeof *s);
    if (!s)
        return NULL;
    *s = (struct script_frames){.frames = frames, .lines = lines, .alone = alone, .shown = table_new()};
    if (s->shown)
        return s;
    free(s);
    return NULL;
}

void script_frames_free(struct script_frames *s)
{
    if (!s)
        return;
    table_free(s->shown);
    free(s->items);
    free(s->called);
    free(s->path);
    free(s);
}

/* The file's name, with its directory where many files have that name. */
static const char *short_name(const char *file)
{
    const char *base = path_base(file);
    if (strncmp(base, "__", 2) != 0 || base == file)
        return base;
    for (base--; base > file && base[-1] != '/';)
        base--;
    return base;
}

/* In place of functions that are not known, however many. */
static uint32_t add_not_read(const struct script_frames *s)
{
    return frames_label(s->frames, FRAME_LABEL, "[script functions not read]");
}

static uint32_t add_function(const struct script_frames *s, const struct script_frame *frame)
{
    const struct script_code *code = frame->code;
    if (frame == &script_not_read)
        return add_not_read(s);
    if (!*code->name)
        return frames_label(s->frames, FRAME_LABEL, "[script function]");
    return frames_add(
        s->frames, &(struct frame){FRAME_SCRIPT, code->name, short_name(code->file), code->line, code->file});
}

static uint32_t add_line(const struct script_frames *s, const struct script_frame *frame)
{
    char text[600];
    if (!s->lines || !frame->line)
        return FRAMES_NONE;
    snprintf(text, sizeof text, "%s:%u", short_name(frame->code->file), frame->line);
    return frames_add(s->frames, &(struct frame){FRAME_LINE, text, "", frame->line, frame->code->file});
}

/* NULL: out of memory. */
static const struct shown *show(struct script_frames *s, const struct script_frame *frame)
{
    bool added;
    uint64_t *place = table_put(s->shown, (uintptr_t)frame, &added);
    if (place && *place == 0) {
        const struct shown shown = {add_function(s, frame), add_line(s, frame)};
        if (shown.item == FRAMES_NONE || !vec_push(s->items, s->item_count, s->item_capacity, shown))
            return NULL;
        *place = s->item_count;
    }
    return place ? &s->items[*place - 1] : NULL;
}

/* false: no memory. */
static bool append(struct script_frames *s, uint32_t item)
{
    return item != FRAMES_NONE && vec_push(s->path, s->depth, s->capacity, item);
}

/* The functions from number *at on, up to the next that was entered. */
static bool append_entered(struct script_frames *s, size_t *at)
{
    bool good = true;
    if (*at == 0 && s->called_count && s->called[0]->cut)
        good = append(s, add_not_read(s));
    for (bool first = true; good && *at < s->called_count && (first || !s->called[*at]->entered); ++*at) {
        const struct shown *shown = show(s, s->called[*at]);
        good = shown && append(s, shown->item) && (shown->line == FRAMES_NONE || append(s, shown->line));
        first = false;
    }
    return good;
}

static bool is_loop(const struct frame *frame)
{
    return frame->kind == FRAME_FUNCTION && strcmp(frame->name, PYTHON_LOOP) == 0;
}

/* Whether a frame is within the function before it. */
static bool is_within(const struct frame *frame)
{
    return frame->kind == FRAME_INLINED || frame->kind == FRAME_LINE;
}

/* false: no memory. */
static bool list_called(struct script_frames *s, const struct script_frame *innermost, size_t *entered)
{
    s->called_count = 0;
    for (const struct script_frame *f = innermost; f; f = f->outer)
        if (!vec_push(s->called, s->called_count, s->called_capacity, f))
            return false;
    *entered = s->called_count > 0; /* the outermost begins, even if its own entry is cut */
    for (size_t i = 0, j = s->called_count; i + 1 < j; i++) {
        const struct script_frame *inner = s->called[i];
        s->called[i] = s->called[--j];
        s->called[j] = inner;
    }
    for (size_t i = 1; i < s->called_count; i++)
        *entered += s->called[i]->entered;
    return true;
}

/* How many calls of the loop the path has; *whole: it begins at a root, and all of it is known. *leaf: where its last function is; *last: its last
 * call of the loop. */
static size_t count_loops(const struct script_frames *s, const uint32_t *path, size_t count, bool *whole,
                          size_t *leaf, size_t *last)
{
    size_t loops = 0;
    *whole = true;
    *leaf = *last = 0;
    for (size_t i = 0; i < count; i++) {
        const struct frame *frame = frames_at(s->frames, path[i]);
        loops += is_loop(frame);
        *last = is_loop(frame) ? i : *last;
        *whole = *whole && !frame_is_unknown(frame);
        if (!is_within(frame))
            *leaf = i;
    }
    return loops;
}

/* What stands above functions, and then the script's. */
static int leave_alone(struct script_frames *s, const uint32_t *path, size_t count, const uint32_t **out,
                       size_t *out_count)
{
    bool good = true;
    size_t at = 0;
    s->depth = 0;
    for (size_t i = 0; good && i < count; i++) {
        const enum frame_kind kind = frames_at(s->frames, path[i])->kind;
        if (kind != FRAME_LEVEL && kind != FRAME_LABEL)
            break;
        good = append(s, path[i]);
    }
    while (good && at < s->called_count)
        good = append_entered(s, &at);
    *out = s->path;
    *out_count = s->depth;
    return good ? 0 : -ENOMEM;
}

#define READINGS_MOST 16u /* that are looked at, before and after */

/* The functions further out than so many calls of the loop. */
static const struct script_frame *leave_entered(const struct script_frame *innermost, size_t count)
{
    const struct script_frame *f = innermost;
    for (; f && count; f = f->outer)
        count -= f->entered;
    return f;
}

/* What was read, at another instant than the sample's, of as many calls of the loop as the path has: the last reading before it, or the
 * first behind it. Where none of those near it is, the last of more calls, of which the inner ones have returned since, or are to come. Else the functions
 * are not known. */
static const struct script_frame *pick_reading(const struct script_frame *innermost, size_t loops)
{
    const struct script_reading *before = innermost->reading, *after = before ? before->after : NULL,
                                *more = NULL;
    if (!before)
        return innermost;
    for (unsigned i = 0; loops && i < READINGS_MOST && (before || after); i++) {
        if (before && before->entered == loops)
            return before->innermost;
        if (after && after->entered == loops)
            return after->innermost;
        more = !more && before && before->entered > loops ? before : more;
        before = before ? before->before : NULL;
        after = after ? after->after : NULL;
    }
    return more ? leave_entered(more->innermost, more->entered - loops) : &script_not_read;
}

int script_frames_join(struct script_frames *s, const struct script_frame *innermost, const uint32_t *path,
                       size_t count, const uint32_t **out, size_t *out_count)
{
    size_t entered, leaf, last, at = 0;
    bool whole;
    const size_t loops = count_loops(s, path, count, &whole, &leaf, &last);
    if (!list_called(s, whole ? pick_reading(innermost, loops) : innermost, &entered))
        return -ENOMEM;
    if (s->alone)
        return leave_alone(s, path, count, out, out_count);
    /* Where all functions belong to inner calls of the loop, as a greenlet's do, whose stack goes on to that of another one. */
    const bool begins = loops == entered + 1 && last == leaf; /* the loop, but no function yet */
    whole = whole && !s->called[0]->cut && (loops <= entered || begins);
    /* Without a root, this many calls of the loop, or of what entered it, are further out than all of the others. */
    size_t loops_over = !whole && loops > entered ? loops - entered : 0;
    size_t entered_over = entered > loops && !whole ? entered - loops : 0;
    size_t pairs = loops < entered ? loops : entered;
    bool good = true;
    s->depth = 0;
    for (size_t i = 0; good && i < count; i++) {
        const struct frame *frame = frames_at(s->frames, path[i]);
        const bool loop = is_loop(frame);
        if (loop || (loops == 0 && i == leaf))
            for (; good && entered_over; entered_over--)
                good = append_entered(s, &at);
        if (loops == 0 && i == leaf && whole)
            while (good && at < s->called_count)
                good = append_entered(s, &at);
        good = good && append(s, path[i]);
        if (!loop)
            continue;
        if (loops_over) {
            loops_over--;
            continue;
        }
        if (!pairs)
            continue;
        while (i + 1 < count && is_within(frames_at(s->frames, path[i + 1])))
            i++;
        good = good && append_entered(s, &at);
        if (--pairs == 0)
            while (good && at < s->called_count)
                good = append_entered(s, &at);
    }
    *out = s->path;
    *out_count = s->depth;
    return good ? 0 : -ENOMEM;
}
