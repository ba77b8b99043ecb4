/*
 * lines.c - gets the lines of an image from a table in it, or from a child process (child.h), and queries each
 * address once; see lines.h.
 */
#include "image/lines/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "image/image_private.h"
#include "image/lines/child.h"
#include "image/lines/go_lines.h"
#include "image/lines/reader.h"
#include "image/made/code_names.h"

#define RESTARTS_MOST 8u /* of the child */

/* What is known about one address. */
struct known {
    size_t count;
    struct line_frame frames[];
};

struct lines {
    const struct image *image;
    struct image_options options;
    unsigned restarts;
    struct go_lines go;
    bool later;               /* debug information is read once the table has no answer */
    struct lines_child child; /* no pid: it died too often, and is not restarted */
    struct arena *arena;
    struct table *known; /* address -> struct known */
    struct names *texts;
};

static int open_debug(struct lines *lines, struct fathom_error *err)
{
    if (lines->options.debuginfod)
        lines_reader_fetch(lines->image, &lines->options);
    int rc = lines_child_start(&lines->child, lines->image, &lines->options, err);
    if (rc == 0 && lines->child.lacks[0])
        log_write(lines->options.log, LOG_WARNING,
                  "%s: %s: the inlined functions of its source files are not shown", image_path(lines->image),
                  lines->child.lacks);
    return rc;
}

static int open_lines(const struct image *image, const struct image_options *options, bool debug,
                      struct lines **out, struct fathom_error *err)
{
    struct lines *lines = calloc(1, sizeof *lines);
    if (!lines)
        return error_memory(err);
    lines->image = image;
    if (options)
        lines->options = *options;
    lines->arena = arena_new(0);
    lines->known = table_new();
    lines->texts = names_new();
    int rc = lines->arena && lines->known && lines->texts ? 0 : error_memory(err);
    if (rc == 0 && go_lines_open(&image->file, &lines->go))
        lines->later = debug;
    else if (rc == 0 && !image->code_names)
        rc = debug ? open_debug(lines, err)
                   : error_set(err, ENODATA, "%s has no table of lines", image_path(image));
    if (rc < 0) {
        lines_close(lines);
        return rc;
    }
    *out = lines;
    return 0;
}

int lines_open(const struct image *image, const struct image_options *options, struct lines **out,
               struct fathom_error *err)
{
    return open_lines(image, options, true, out, err);
}

int lines_open_table(const struct image *image, const struct image_options *options, struct lines **out,
                     struct fathom_error *err)
{
    return open_lines(image, options, false, out, err);
}

void lines_allow_debug(struct lines *lines)
{
    lines->later = true;
}

void lines_close(struct lines *lines)
{
    if (!lines)
        return;
    lines_child_end(&lines->child);
    arena_free(lines->arena);
    table_free(lines->known);
    names_free(lines->texts);
    free(lines);
}

/* A string of an answer; NULL: unknown. */
static const char *take_text(struct lines *lines, struct bytes *b)
{
    uint32_t told = bytes_u32(b);
    const uint8_t *text = told ? bytes_take(b, told - 1) : NULL;
    if (!text)
        return NULL;
    char *copy = strndup((const char *)text, told - 1);
    uint32_t number = copy ? names_intern(lines->texts, copy) : NAMES_NONE;
    free(copy);
    return number == NAMES_NONE ? NULL : names_text(lines->texts, number);
}

static struct known *keep_answer(struct lines *lines, const struct line_frame *frames, size_t count)
{
    struct known *known = arena_alloc(lines->arena, sizeof *known + count * sizeof *frames);
    if (known) {
        known->count = count;
        memcpy(known->frames, frames, count * sizeof *frames);
    }
    return known;
}

static struct known *take_answer(struct lines *lines, const uint8_t *answer, size_t size)
{
    struct line_frame frames[LINES_CHILD_FRAMES];
    struct bytes b = bytes_of(answer, size);
    size_t count = 0;
    while (bytes_left(&b) && count < LINES_CHILD_FRAMES) {
        struct line_frame f = {0};
        f.line = bytes_u32(&b);
        f.start = bytes_u32(&b);
        f.discriminator = bytes_u32(&b);
        f.function = take_text(lines, &b);
        f.file = take_text(lines, &b);
        f.linkage = take_text(lines, &b);
        if (b.failed)
            break;
        frames[count++] = f;
    }
    return keep_answer(lines, frames, count);
}

/* Restarts the child, which died on one address: others may still work. */
static void start_again(struct lines *lines)
{
    struct fathom_error err;
    if (lines->restarts++ == 0)
        log_write(lines->options.log, LOG_WARNING,
                  "the debug information of %s is damaged: some lines and inlined functions are not shown",
                  image_path(lines->image));
    if (lines->restarts <= RESTARTS_MOST)
        lines_child_start(&lines->child, lines->image, &lines->options, &err);
}

static const struct known *ask_debug(struct lines *lines, uint64_t address)
{
    uint8_t *answer;
    size_t size;
    if (!lines->child.pid)
        return NULL;
    int rc = lines_child_ask(&lines->child, address, &answer, &size);
    if (rc < 0) {
        if (rc == -EIO)
            start_again(lines);
        else if (rc == -EOVERFLOW || rc == -EBADMSG)
            log_write(lines->options.log, LOG_WARNING,
                      "the debug information of %s %s: its other lines and inlined functions are not shown",
                      image_path(lines->image),
                      rc == -EBADMSG ? "is damaged" : "takes more work than any real one of its size");
        return NULL;
    }
    struct known *known = take_answer(lines, answer, size);
    free(answer);
    return known;
}

/* For code made at run time: the names that its program wrote. */
static const struct known *query_names(struct lines *lines, uint64_t address)
{
    const struct code_place place = code_names_place_at(lines->image->code_names, address);
    const struct line_frame frame = {.function = place.function, .file = place.file, .line = place.line};
    return keep_answer(lines, &frame, frame.line != 0);
}

/* Tries Go's table first: the runtime itself uses it, it is complete without DWARF, and it takes hardly any time. */
static const struct known *query_address(struct lines *lines, uint64_t address)
{
    struct line_frame frames[LINES_CHILD_FRAMES];
    if (lines->image->code_names)
        return query_names(lines, address);
    size_t count = lines->go.file ? go_lines_at(&lines->go, address, frames, LINES_CHILD_FRAMES) : 0;
    if (count)
        return keep_answer(lines, frames, count);
    if (lines->later) {
        struct fathom_error why = {0};
        lines->later = false;
        if (open_debug(lines, &why) < 0 && why.code != ENODATA)
            log_write(lines->options.log, LOG_WARNING, "%s", why.text);
    }
    return ask_debug(lines, address);
}

size_t lines_at(struct lines *lines, uint64_t address, struct line_frame *out, size_t max)
{
    uint64_t *slot = table_put(lines->known, address, NULL);
    const struct known *known = slot ? (const struct known *)(uintptr_t)*slot : NULL;
    if (slot && !known) {
        static const struct known nothing;
        known = query_address(lines, address);
        *slot = (uintptr_t)(known ? known : &nothing);
    }
    size_t count = !known ? 0 : known->count < max ? known->count : max;
    for (size_t i = 0; i < count; i++)
        out[i] = known->frames[i];
    return count;
}
