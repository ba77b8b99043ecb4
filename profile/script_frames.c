/* script_frames.c - see script_frames.h. */
#include "profile/script_frames.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "base/path.h"
#include "base/vec.h"
#include "image/run_time.h"
#include "image/script.h"

/* How one function is shown. */
struct shown {
    uint32_t item, line; /* line: FRAMES_NONE: no line */
};

struct script_frames {
    struct frames *frames;
    bool lines, alone;
    unsigned language;   /* of the path being joined; 0: unknown */
    struct table *shown; /* struct script_frame -> index in `items` + 1 */
    struct shown *items;
    size_t item_count, item_capacity;
    const struct script_frame **called; /* outermost first */
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
    return whole_or_free(s, s->shown, free);
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

/* The file's name, with its directory if many files have that name. */
static const char *short_name(const char *file)
{
    const char *base = path_base(file);
    if (strncmp(base, "__", 2) != 0 || base == file)
        return base;
    for (base--; base > file && base[-1] != '/';)
        base--;
    return base;
}

/* One frame for any number of functions that are not known. */
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
    return frames_add(s->frames, &(struct frame){FRAME_SCRIPT, code->name, short_name(code->file), code->line,
                                                 code->file, code->language});
}

static uint32_t add_line(const struct script_frames *s, const struct script_frame *frame)
{
    char text[600];
    if (!s->lines || !frame->line)
        return FRAMES_NONE;
    snprintf(text, sizeof text, "%s:%u", short_name(frame->code->file), frame->line);
    return frames_add(s->frames, &(struct frame){FRAME_LINE, text, "", frame->line, frame->code->file, 0});
}

/* NULL: out of memory. */
static const struct shown *shown_of(struct script_frames *s, const struct script_frame *frame)
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
static bool append_item(struct script_frames *s, uint32_t item)
{
    return item != FRAMES_NONE && vec_push(s->path, s->depth, s->capacity, item);
}

/* Appends the functions that the next call of the loop runs: from number *at to the next one with which the loop was entered. */
static bool append_group(struct script_frames *s, size_t *at)
{
    bool good = *at || !s->called[0]->cut || append_item(s, add_not_read(s));
    do {
        const struct shown *shown = good ? shown_of(s, s->called[*at]) : NULL;
        good = shown && append_item(s, shown->item) &&
               (shown->line == FRAMES_NONE || append_item(s, shown->line));
    } while (good && ++*at < s->called_count && !s->called[*at]->entered);
    return good;
}

/* Appends this many groups, or as many as there are. */
static bool append_groups(struct script_frames *s, size_t *at, size_t groups)
{
    bool good = true;
    for (; good && groups && *at < s->called_count; groups--)
        good = append_group(s, at);
    return good;
}

/* Whether it is machine code made from one function by V8. Code with a name of its own, which has the line and column, stays. */
static bool is_made(const struct script_frames *s, const struct frame *frame)
{
    const char *name = frame->kind == FRAME_LABEL ? frame->name : frame->image;
    return s->language == SCRIPT_JAVASCRIPT && strcmp(name, RUN_TIME_NAME) == 0;
}

static bool has_own_name(const struct frame *frame)
{
    return *frame->name && strcmp(frame->name, RUN_TIME_NAME) != 0;
}

/* Whether functions run by a call of it follow: it is the interpreter's loop, or code of its JIT, which runs in the loop's
 * frame or in its place, with unknown callers. */
static bool is_loop(const struct script_frames *s, const struct frame *frame)
{
    if (frame->kind == FRAME_PARTIAL) {
        const struct script_facts *facts = script_facts(s->language); /* a recording may name any language */
        return facts && facts->compiles && strncmp(frame->name, RUN_TIME_NAME, sizeof RUN_TIME_NAME - 1) == 0;
    }
    bool is = is_made(s, frame);
    for (unsigned l = 1; frame->kind == FRAME_FUNCTION && l < SCRIPT_LANGUAGES; l++)
        is |= (!s->language || l == s->language) && strcmp(frame->name, script_facts(l)->loop) == 0;
    return is;
}

/* Whether it is the core of the loop that calls it, or has no name, as in a file that has only exported symbols. */
static bool is_core(const struct frame *frame, const struct frame *loop)
{
    bool is = false;
    for (unsigned l = 1; frame->kind == FRAME_FUNCTION && l < SCRIPT_LANGUAGES; l++) {
        const struct script_facts *facts = script_facts(l);
        is |= facts->core && strcmp(loop->name, facts->loop) == 0 && strcmp(frame->image, loop->image) == 0 &&
              (strcmp(frame->name, facts->core) == 0 || !frame_has_name(frame));
    }
    return is;
}

/* Whether machine code implements a function of PHP in C: zif_strlen(), or zim_PDO_query() for PDO::query(). */
static bool is_implemented_by(const struct frame *frame, const struct frame *script)
{
    const char *native = frame->name, *name = script->name;
    if (frame->kind != FRAME_FUNCTION || script->kind != FRAME_SCRIPT ||
        (strncmp(native, "zif_", 4) != 0 && strncmp(native, "zim_", 4) != 0))
        return false;
    for (native += 4; *native && *name; native++, name++) {
        const bool colons = strncmp(name, "::", 2) == 0;
        if (*native != (colons ? '_' : *name))
            return false;
        name += colons;
    }
    return !*native && !*name;
}

/* Appends machine code, in place of the frame appended last if that is the same function. false: out of memory. */
static bool append_native(struct script_frames *s, uint32_t item)
{
    if (s->depth &&
        is_implemented_by(frames_at(s->frames, item), frames_at(s->frames, s->path[s->depth - 1])))
        s->depth--;
    return append_item(s, item);
}

/* Whether a frame is part of the function before it. */
static bool is_within(const struct frame *frame)
{
    return frame->kind == FRAME_INLINED || frame->kind == FRAME_LINE;
}

/* Lists the called functions, outermost first, and counts their groups. false: out of memory. */
static bool list_called(struct script_frames *s, const struct script_frame *innermost, size_t *groups)
{
    s->called_count = 0;
    *groups = 1; /* the outermost function begins a group, even if its own entry is cut off */
    s->language = 0;
    for (const struct script_frame *f = innermost; f; f = f->outer) {
        s->language = f->code->language ? f->code->language : s->language;
        if (!vec_push(s->called, s->called_count, s->called_capacity, f))
            return false;
        *groups += f->outer && f->entered;
    }
    for (size_t i = 0, j = s->called_count; i + 1 < j; i++) {
        const struct script_frame *inner = s->called[i];
        s->called[i] = s->called[--j];
        s->called[j] = inner;
    }
    return true;
}

/* Assigns groups of functions to calls of the loop on a path: a group is what one call runs, outermost first. */
struct pairing {
    size_t first;   /* index of the first call of the loop; of the path's last function, if there is none */
    size_t before;  /* groups to put before it: their calls are not on the path */
    size_t skipped; /* outermost calls without a known function */
    size_t pairs;   /* calls after these, each with its group; remaining groups go with the last */
};

static struct pairing pair_calls(const struct script_frames *s, const uint32_t *path, size_t count,
                                 size_t groups)
{
    size_t loops = 0, first = 0, last = 0, leaf = 0;
    bool whole = !s->called[0]->cut; /* the path begins at a root, and all functions are known */
    for (size_t i = 0; i < count; i++) {
        const struct frame *frame = frames_at(s->frames, path[i]);
        if (is_loop(s, frame)) {
            first = loops++ ? first : i;
            last = i;
        }
        leaf = is_within(frame) ? leaf : i;
        whole = whole && !frame_is_unknown(frame);
    }
    if (loops == 0)
        return (struct pairing){.first = leaf, .before = groups};
    /* With more calls than groups, all functions belong to the inner calls, as for a greenlet, whose stack continues on another
     * one's; except when the last call has just begun and has no function yet. V8 has no greenlets. */
    whole = whole &&
            (loops <= groups || (loops == groups + 1 && last == leaf) || s->language == SCRIPT_JAVASCRIPT);
    const size_t pairs = loops < groups ? loops : groups;
    return (struct pairing){first, whole ? 0 : groups - pairs, whole ? 0 : loops - pairs, pairs};
}

/* false: out of memory. */
static bool put_between(struct script_frames *s, const uint32_t *path, size_t count, size_t groups)
{
    const struct pairing p = pair_calls(s, path, count, groups);
    size_t at = 0, loop = 0;
    bool good = true;
    for (size_t i = 0; good && i < count; i++) {
        const struct frame *frame = frames_at(s->frames, path[i]);
        const bool is = is_loop(s, frame),
                   unknown = is && frame_is_unknown(frame); /* everything unknown is further in */
        const bool paired = is && loop++ >= p.skipped && loop <= p.skipped + p.pairs;
        const bool made = paired && is_made(s, frame), named = made && has_own_name(frame);
        good = (i != p.first || unknown || append_groups(s, &at, p.before)) &&
               ((made && !named) || append_native(s, path[i])) &&
               (i != p.first || !unknown || append_groups(s, &at, p.before));
        at += named;
        if (!paired || named)
            continue;
        while (i + 1 < count && is_within(frames_at(s->frames, path[i + 1])))
            i++;
        if (i + 1 < count && is_core(frames_at(s->frames, path[i + 1]), frame))
            good = good && append_native(s, path[++i]);
        good = good && append_groups(s, &at, loop == p.skipped + p.pairs ? SIZE_MAX : 1);
    }
    return good;
}

/* Shows only levels and labels above the functions, and then the script's functions. false: out of memory. */
static bool show_script_only(struct script_frames *s, const uint32_t *path, size_t count)
{
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        const enum frame_kind kind = frames_at(s->frames, path[i])->kind;
        if (kind != FRAME_LEVEL && kind != FRAME_LABEL)
            break;
        if (!append_item(s, path[i]))
            return false;
    }
    return append_groups(s, &at, SIZE_MAX);
}

#define READINGS_MOST 16u /* readings examined before and after the sample */

/* The functions further out than this many calls of the loop. */
static const struct script_frame *skip_entered(const struct script_frame *innermost, size_t count)
{
    const struct script_frame *f = innermost;
    for (; f && count; f = f->outer)
        count -= f->entered;
    return f;
}

/* The number of the path's calls of the loop; SIZE_MAX: not all of the path is known. */
static size_t count_loops(const struct script_frames *s, const uint32_t *path, size_t count)
{
    size_t loops = 0;
    for (size_t i = 0; i < count; i++) {
        if (frame_is_unknown(frames_at(s->frames, path[i])))
            return SIZE_MAX;
        loops += is_loop(s, frames_at(s->frames, path[i]));
    }
    return loops;
}

/* Functions that were read at another moment than the sample's, with as many calls of the loop as the path has: from the last
 * reading before it, or the first after it. If no near reading has as many, the last one with more calls, whose inner ones have
 * returned since, or have yet to be made. Otherwise the functions are unknown. */
static const struct script_frame *pick_reading(struct script_frames *s, const struct script_frame *innermost,
                                               const uint32_t *path, size_t count)
{
    const struct script_reading *before = innermost->reading, *after = before ? before->after : NULL,
                                *more = NULL;
    s->language = innermost->code->language;
    const size_t loops = before ? count_loops(s, path, count) : SIZE_MAX;
    if (loops == SIZE_MAX)
        return before ? before->innermost : innermost;
    for (unsigned i = 0; loops && i < READINGS_MOST && (before || after); i++) {
        if (before && before->entered == loops)
            return before->innermost;
        if (after && after->entered == loops)
            return after->innermost;
        more = !more && before && before->entered > loops ? before : more;
        before = before ? before->before : NULL;
        after = after ? after->after : NULL;
    }
    return more ? skip_entered(more->innermost, more->entered - loops) : &script_not_read;
}

int script_frames_join(struct script_frames *s, const struct script_frame *innermost, const uint32_t *path,
                       size_t count, const uint32_t **out, size_t *out_count)
{
    size_t groups;
    s->depth = 0;
    const bool good = list_called(s, pick_reading(s, innermost, path, count), &groups) &&
                      (s->alone ? show_script_only(s, path, count) : put_between(s, path, count, groups));
    *out = s->path;
    *out_count = s->depth;
    return good ? 0 : -ENOMEM;
}
