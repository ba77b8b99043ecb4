/* inlined.c - see inlined.h. */
#include "profile/inlined.h"

#include <errno.h>
#include <stdlib.h>

#include "base/allocate.h"
#include "base/path.h"
#include "image/lines/lines.h"

#define MAX_INLINED 32 /* functions at one address */

_Static_assert(INLINED_MOST > 2 * MAX_INLINED, "each with a line, and INLINED_SEVERAL");

struct inlined {
    struct frames *frames;
    struct image_cache *images;
    struct alike_calls *alike;
    uint64_t most; /* KiB of debug information that may be read */
    bool functions, want_lines, places;
};

struct inlined *inlined_new(struct frames *frames, struct image_cache *images, uint64_t most, bool lines,
                            bool places)
{
    struct inlined *in = calloc(1, sizeof *in);
    if (!in)
        return NULL;
    *in = (struct inlined){
        frames, images, alike_calls_new(), lines || places ? IMAGE_LINES_ANY : most, most > 0, lines, places};
    return whole_or_free(in, in->alike, inlined_free);
}

void inlined_free(struct inlined *in)
{
    if (!in)
        return;
    alike_calls_free(in->alike);
    free(in);
}

static uint32_t line_item(struct inlined *in, const struct line_frame *frame)
{
    char text[512];
    snprintf(text, sizeof text, "%s:%u", path_base(frame->file), frame->line);
    return frames_add(
        in->frames,
        &(struct frame){.kind = FRAME_LINE, .name = text, .address = frame->line, .source = frame->file});
}

static bool has_line(const struct line_frame *frame)
{
    return frame->file && frame->line;
}

int inlined_at(struct inlined *in, const struct image *image, uint64_t address, uint32_t out[INLINED_MOST])
{
    if (in->places) {
        out[0] = frames_add(
            in->frames, &(struct frame){.kind = FRAME_PLACE, .image = image_name(image), .address = address});
        return out[0] == FRAMES_NONE ? -ENOMEM : 1;
    }
    struct lines *lines = image_cache_lines(in->images, image, in->most);
    struct line_frame frames[MAX_INLINED];
    size_t count = lines ? lines_at(lines, address, frames, MAX_INLINED) : 0;
    int written = 0;
    if (!in->functions && count > 1)
        count = 1; /* the innermost function's line */
    for (size_t i = count; i-- > 0;) {
        const struct line_frame *f = &frames[i];
        if (i + 1 < count && f->function)
            out[written++] = frames_add(
                in->frames, &(struct frame){FRAME_INLINED, f->function, image_name(image), 0, NULL, 0});
        if (in->want_lines && has_line(f))
            out[written++] = line_item(in, f);
    }
    for (int i = 0; i < written; i++)
        if (out[i] == FRAMES_NONE)
            return -ENOMEM;
    return written;
}

/* The frames at one call site; none if it is not in the function. */
static int at_site(struct inlined *in, const struct image *image, uint32_t function, uint64_t site,
                   uint32_t out[INLINED_MOST])
{
    /* The call is before its return address, which can be in another line, or past the function's end. */
    bool inside = site && image_function_at(image, site - 1) == function;
    return inside ? inlined_at(in, image, site - 1, out) : 0;
}

/* The frames that several call sites have in common. */
struct common_calls {
    uint32_t *items;
    int count; /* -1: no site yet */
    bool any;  /* some site has frames */
    bool differ;
};

static int add_site(struct inlined *in, const struct image *image, uint32_t function, uint64_t site,
                    struct common_calls *common)
{
    uint32_t other[INLINED_MOST];
    bool first = common->count < 0;
    int count = at_site(in, image, function, site, first ? common->items : other), same = 0;
    if (count < 0)
        return count;
    while (!first && same < common->count && same < count && common->items[same] == other[same])
        same++;
    common->any |= count > 0;
    common->differ |= !first && (same < common->count || same < count);
    common->count = first ? count : same;
    return 0;
}

int inlined_call(struct inlined *in, const struct image *image, uint32_t function,
                 const struct call_step *step, const struct alike_callee *callee, uint32_t out[INLINED_MOST])
{
    struct common_calls common = {.items = out, .count = -1};
    bool more = step->more;
    int rc = 0;
    if (!image_cache_lines(in->images, image, in->most))
        return 0;
    for (uint32_t i = 0; rc == 0 && i < step->count; i++) {
        uint64_t site = step->sites[i];
        uint32_t count = 1;
        const uint64_t *alike = &site;
        if (!step->own && site && callee->image &&
            !(alike = alike_calls_find(in->alike, image, site, callee, &count)))
            return -ENOMEM;
        more |= count == ALIKE_CALLS_MOST;
        for (uint32_t j = 0; rc == 0 && j < count; j++)
            rc = add_site(in, image, function, alike[j], &common);
    }
    int count = common.count < 0 ? 0 : common.count;
    if (rc < 0 || !(common.differ || (more && common.any)))
        return rc < 0 ? rc : count;
    out[count] = frames_label(in->frames, FRAME_LINE, INLINED_SEVERAL);
    return out[count] == FRAMES_NONE ? -ENOMEM : count + 1;
}
