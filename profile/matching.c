/* matching.c - see matching.h. */
#include "profile/matching.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "base/vec.h"

#define SEVERAL "[one of several paths]"

struct file {
    unsigned sides;     /* bits: the sides that have it */
    uint32_t same;      /* the file that it is matched with; its own number: none */
    uint32_t stem;      /* number in `texts` of its name without versions */
    uint32_t functions; /* number of its functions with names */
};

struct matching {
    struct frames *seen;
    struct names *names; /* of the files */
    struct file *files;  /* by number of the name */
    size_t file_capacity;
    struct names *texts;  /* names of files without versions, and of functions */
    struct table *places; /* set of (name of a function << 32 | file that has one) */
    uint32_t *file_of;    /* by number of a frame */
    uint32_t *text_of;    /* the same; NAMES_NONE: not named like a function */
    size_t count, file_of_capacity, text_of_capacity;
};

struct matching *matching_new(void)
{
    struct matching *m = allocate(struct matching, .seen = frames_new(), .names = names_new(),
                                  .texts = names_new(), .places = table_new());
    return whole_or_free(m, m->seen && m->names && m->texts && m->places, matching_free);
}

void matching_free(struct matching *m)
{
    if (!m)
        return;
    frames_free(m->seen);
    names_free(m->names);
    names_free(m->texts);
    table_free(m->places);
    free(m->files);
    free(m->file_of);
    free(m->text_of);
    free(m);
}

static bool is_version(char c)
{
    return (c >= '0' && c <= '9') || c == '.';
}

void matching_without_version(const char *image, char *out, size_t size)
{
    const char *so = strstr(image, ".so");
    while (so && so[3] && so[3] != '.')
        so = strstr(so + 1, ".so");
    size_t whole = strlen(image), stem = so ? (size_t)(so - image) : whole, length = stem;
    while (length && is_version(image[length - 1]))
        length--;
    if (length > 1 && length < stem && image[length - 1] == 'v' && strchr("-_.", image[length - 2]))
        length--;
    while (length && length < stem && strchr("-_.", image[length - 1]))
        length--;
    if (!length)
        length = stem;
    if (length >= size)
        length = size - 1;
    memcpy(out, image, length);
    out[length] = 0;
    if (so && size - length > 3)
        memcpy(out + length, ".so", 4);
}

/* NAMES_NONE: out of memory. */
static uint32_t file_number(struct matching *m, const char *image)
{
    char stem[256];
    uint32_t known = names_count(m->names), number = names_intern(m->names, image);
    if (number != known)
        return number;
    matching_without_version(image, stem, sizeof stem);
    uint32_t text = names_intern(m->texts, stem);
    if (text == NAMES_NONE || !vec_reserve(m->files, number, m->file_capacity, 1))
        return NAMES_NONE;
    m->files[number] = (struct file){.same = number, .stem = text};
    return number;
}

uint32_t matching_add(struct matching *m, const struct frame *frame, unsigned side)
{
    struct frame wanted = {.kind = frame->kind, .name = frame->name, .image = frame->image};
    if (frame->kind == FRAME_LABEL && strncmp(frame->name, "[one of ", 8) == 0)
        wanted.name = SEVERAL;
    if (frame->kind == FRAME_LEVEL)
        wanted.address = frame->address;
    uint32_t number = frames_add(m->seen, &wanted);
    if (number == FRAMES_NONE)
        return FRAMES_NONE;
    if (number == m->count) {
        uint32_t file = file_number(m, frame->image), text = NAMES_NONE;
        bool named = frame_is_function(frame) && frame_has_name(frame), added = false;
        if (named)
            text = names_intern(m->texts, frame->name);
        if (file == NAMES_NONE || (named && text == NAMES_NONE) ||
            !vec_reserve(m->file_of, m->count, m->file_of_capacity, 1) ||
            !vec_reserve(m->text_of, m->count, m->text_of_capacity, 1) ||
            (named && !table_put(m->places, (uint64_t)text << 32 | file, &added)))
            return FRAMES_NONE;
        m->file_of[m->count] = file;
        m->text_of[m->count++] = text;
        m->files[file].functions += added;
    }
    m->files[m->file_of[number]].sides |= 1u << side;
    return number;
}

/* Whether only this side has the file, and it is not matched yet. */
static bool is_left(const struct matching *m, uint32_t file, unsigned side)
{
    const struct file *f = &m->files[file];
    return f->sides == 1u << side && f->same == file && *names_text(m->names, file);
}

static void take_for(struct matching *m, uint32_t a, uint32_t b)
{
    m->files[a].same = b;
    m->files[b].sides = 3;
}

/* Matches files with the same name without versions, if no other file of their side has it. */
static void match_stems(struct matching *m)
{
    uint32_t count = names_count(m->names);
    for (uint32_t a = 0; a < count; a++) {
        uint32_t found[2] = {0}, other = a;
        for (uint32_t b = 0; b < count; b++)
            for (unsigned side = 0; side < 2; side++)
                if (m->files[b].stem == m->files[a].stem && is_left(m, b, side)) {
                    found[side]++;
                    other = side ? b : other;
                }
        if (is_left(m, a, 0) && found[0] == 1 && found[1] == 1)
            take_for(m, a, other);
    }
}

/* Matches files that share the most names of functions. */
static int match_functions(struct matching *m)
{
    uint32_t count = names_count(m->names);
    uint32_t *common = malloc((count + 1ul) * sizeof *common);
    for (uint32_t a = 0; common && a < count; a++) {
        if (!is_left(m, a, 0))
            continue;
        memset(common, 0, count * sizeof *common);
        for (size_t i = 0; i < m->count; i++)
            for (uint32_t b = 0; m->file_of[i] == a && m->text_of[i] != NAMES_NONE && b < count; b++)
                common[b] += is_left(m, b, 1) && table_find(m->places, (uint64_t)m->text_of[i] << 32 | b);
        uint32_t best = a;
        for (uint32_t b = 0; b < count; b++)
            if (common[b] > (best == a ? 0 : common[best]))
                best = b;
        uint32_t fewer = m->files[best].functions < m->files[a].functions ? m->files[best].functions
                                                                          : m->files[a].functions;
        if (best != a && 2 * (uint64_t)common[best] >= fewer)
            take_for(m, a, best);
    }
    free(common);
    return common ? 0 : -ENOMEM;
}

int matching_finish(struct matching *m, struct frames *frames, uint32_t **items)
{
    match_stems(m);
    uint32_t *found = match_functions(m) < 0 ? NULL : malloc((m->count + 1) * sizeof *found);
    for (uint32_t i = 0; found && i < m->count; i++) {
        struct frame frame = *frames_at(m->seen, i);
        frame.image = names_text(m->names, m->files[m->file_of[i]].same);
        found[i] = frames_add(frames, &frame);
        if (found[i] == FRAMES_NONE) {
            free(found);
            found = NULL;
        }
    }
    *items = found;
    return found ? 0 : -ENOMEM;
}
