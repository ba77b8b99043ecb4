#include "api/evaluate/path_names.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/text.h"
#include "base/vec.h"

#define NAME_BYTES 512 /* longer names are truncated */

struct words {
    struct named_frame *frames;
    size_t capacity;
};

struct path_names {
    const struct truth *truth;
    const struct pathmap *map;
    struct comparison *comparison;
    struct names *texts;
    struct words truths, answers;
    uint32_t *functions; /* scratch */
    size_t capacity;
};

struct path_names *path_names_new(const struct truth *truth, const struct pathmap *map,
                                  struct comparison *comparison)
{
    struct path_names *n = calloc(1, sizeof *n);
    if (!n)
        return NULL;
    n->truth = truth;
    n->map = map;
    n->comparison = comparison;
    n->texts = names_new();
    if (!n->texts) {
        free(n);
        n = NULL;
    }
    return n;
}

void path_names_free(struct path_names *n)
{
    if (!n)
        return;
    names_free(n->texts);
    free(n->truths.frames);
    free(n->answers.frames);
    free(n->functions);
    free(n);
}

/* false: out of memory. Makes the text safe for a terminal, in place. */
static bool name_frame(struct path_names *n, struct named_frame *frame, char *text, uint32_t function)
{
    text_clean(text);
    *frame = (struct named_frame){names_text(n->texts, names_intern(n->texts, text)), function};
    return frame->name && function != PATHMAP_NONE;
}

int path_names_truth(struct path_names *n, uint32_t path, struct named_path *out, struct fathom_error *err)
{
    const uint32_t *functions;
    size_t depth = truth_path(n->truth, path, &functions);
    if (!vec_reserve(n->truths.frames, 0, n->truths.capacity, depth))
        return error_memory(err);
    for (size_t i = 0; i < depth; i++) {
        char text[NAME_BYTES];
        truth_function_format(n->truth, functions[i], text, sizeof text);
        if (!name_frame(n, &n->truths.frames[i], text, comparison_translate(n->comparison, functions[i])))
            return error_memory(err);
    }
    *out = (struct named_path){n->truths.frames, depth};
    return 0;
}

int path_names_answer(struct path_names *n, uint32_t node, struct named_path *out, struct fathom_error *err)
{
    int depth = node == PATHMAP_NONE ? 0 : pathmap_read_path(n->map, node, &n->functions, &n->capacity, NULL);
    if (depth == -EBADMSG) /* has no names */
        depth = 0;
    if (depth < 0 || !vec_reserve(n->answers.frames, 0, n->answers.capacity, (size_t)depth))
        return error_memory(err);
    for (int i = 0; i < depth; i++) {
        char text[NAME_BYTES];
        uint32_t function = n->functions[i];
        pathmap_function_name(n->map, function, text, sizeof text);
        bool compared = comparison_covers(n->comparison, function);
        if (!name_frame(n, &n->answers.frames[i], text, compared ? function : NOT_COMPARED))
            return error_memory(err);
    }
    *out = (struct named_path){n->answers.frames, (size_t)depth};
    return 0;
}

/* The next compared frame from *at in the given direction; NULL at the end. */
static const struct named_frame *next_compared(const struct named_path *path, size_t *at, bool inwards)
{
    while (*at < path->depth) {
        const struct named_frame *frame = &path->frames[inwards ? *at : path->depth - 1 - *at];
        ++*at;
        if (frame->function != NOT_COMPARED)
            return frame;
    }
    return NULL;
}

static size_t count_agreeing(const struct named_path *a, const struct named_path *b, bool inwards)
{
    size_t i = 0, j = 0, count = 0;
    for (;; count++) {
        const struct named_frame *x = next_compared(a, &i, inwards), *y = next_compared(b, &j, inwards);
        if (!x || !y || x->function != y->function || x->function == NOT_IN_MAP)
            return count;
    }
}

size_t path_names_compared(const struct named_path *path)
{
    size_t at = 0, count = 0;
    while (next_compared(path, &at, true))
        count++;
    return count;
}

void path_names_agree(const struct named_path *a, const struct named_path *b, size_t *outer, size_t *inner)
{
    size_t x = path_names_compared(a), y = path_names_compared(b), shorter = x < y ? x : y;
    *outer = count_agreeing(a, b, true);
    *inner = count_agreeing(a, b, false);
    if (*inner > shorter - *outer)
        *inner = shorter - *outer;
}
