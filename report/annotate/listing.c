/*
 * listing.c - see listing.h. A function's source is the lines of its own file from the first to the last that has an instruction,
 * also by way of an inlined function; for a long function only those near samples.
 */
#include "report/annotate/listing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/saturate.h"
#include "base/search.h"
#include "base/vec.h"
#include "image/cache.h"
#include "report/annotate/code.h"

/* Limits that keep a page small: a listed instruction with its line takes 50 to 60 bytes. */
enum {
    WHOLE_MOST = 200,   /* instructions of a function; of a longer one, only those near samples are listed */
    INSNS_MOST = 40000, /* in all, 2.4 MB of a page; no function is added after that */
    FILES_MOST = 8,     /* containing a function's own lines */
};
#define SAMPLED 1e-9 /* percent: any weight */

struct listing_parts {
    struct choice *choice;
    struct arena *texts;
    struct sources *sources;
    struct table *origins;   /* origin_key() -> number + 1 */
    struct table *functions; /* key_of() -> number */
    size_t function_capacity, insn_capacity, origin_capacity;
};

struct making {
    struct listing *to;
    struct listing_parts *parts;
    const struct contexts *contexts;
    struct image_cache *images;
    struct fathom_error *err;
};

static uint64_t key_of(const struct image *image, uint32_t function)
{
    return hash_u64((uintptr_t)image) + hash_u64((uint64_t)function + 1);
}

static bool number_origin(struct making *m, const struct origin *origin, uint32_t *out)
{
    struct listing *l = m->to;
    *out = LISTING_NONE;
    if (!origin->file && !origin->own_file)
        return true;
    uint64_t key = hash_u64(origin_key(origin) + hash_u64((uintptr_t)origin->own_file)) + origin->own_line;
    size_t number =
        table_index(m->parts->origins, key, l->origins, l->origin_count, m->parts->origin_capacity, *origin);
    *out = (uint32_t)number;
    return number != SIZE_MAX;
}

/* The instructions that are marked as shown. */
static bool list_insns(struct making *m, struct listed_function *f, const struct annotated_code *code,
                       struct lines *lines)
{
    struct listing *l = m->to;
    char text[DISASSEMBLED_SIZE + 300];
    f->first = l->insn_count;
    for (size_t i = 0; i < code->count; i++) {
        const struct annotated_insn *insn = &code->insns[i];
        if (!insn->shown) {
            f->skipped++;
            continue;
        }
        struct origin origin = origin_at(lines, insn->address);
        annotated_insn_format(code, insn, text, sizeof text);
        struct listed_insn listed = {.address = insn->address,
                                     .text = arena_strdup(m->parts->texts, text),
                                     .skipped = f->skipped,
                                     .length = insn->length};
        if (!listed.text || !number_origin(m, &origin, &listed.origin) ||
            !vec_push(l->insns, l->insn_count, m->parts->insn_capacity, listed))
            return false;
        f->skipped = 0;
        f->count++;
    }
    return true;
}

/* The file with most of the weight of the function's own lines: the body of a function may be in an included file. */
static const char *find_file(const struct listing *l, const struct listed_function *f,
                             const struct annotated_code *code)
{
    struct {
        const char *name;
        uint64_t weight;
    } files[FILES_MOST] = {0};
    size_t count = 0, best = 0, at = f->first;
    for (size_t i = 0; i < code->count; i++) {
        if (!code->insns[i].shown)
            continue;
        uint32_t number = l->insns[at++].origin;
        const char *name = number == LISTING_NONE ? NULL : l->origins[number].own_file;
        size_t n = 0;
        while (n < count && files[n].name != name)
            n++;
        if (!name || n == FILES_MOST)
            continue;
        files[n].name = name;
        files[n].weight = add_saturating(files[n].weight, code->insns[i].weight);
        count = n == count ? n + 1 : count;
        best = files[n].weight > files[best].weight ? n : best;
    }
    return files[best].name;
}

static bool add_number(struct line_numbers *lines, const struct listed_function *f, const struct origin *o)
{
    return o->own_file != f->file || line_numbers_add(lines, o->own_line);
}

/* Lines of the function's file: its first one, and those of listed instructions, or with `sampled` those of instructions with
 * samples. */
static bool find_numbers(const struct making *m, const struct listed_function *f,
                         const struct annotated_code *code, struct lines *from, bool sampled,
                         struct line_numbers *out)
{
    size_t at = f->first;
    struct origin begins = origin_at(from, image_function(f->chosen.image, f->chosen.function)->address);
    out->count = 0;
    bool good = add_number(out, f, &begins);
    for (size_t i = 0; i < code->count && good; i++) {
        if (!code->insns[i].shown)
            continue;
        uint32_t number = m->to->insns[at++].origin;
        if (number != LISTING_NONE && (!sampled || code->insns[i].weight))
            good = add_number(out, f, &m->to->origins[number]);
    }
    line_numbers_sort(out);
    return good;
}

static bool list_source(struct making *m, struct listed_function *f, const struct annotated_code *code,
                        struct lines *from)
{
    struct line_numbers lines = {0};
    f->file = find_file(m->to, f, code);
    if (!f->file)
        return true;
    bool good = find_numbers(m, f, code, from, false, &lines);
    if (good && line_numbers_are_far(&lines))
        good = find_numbers(m, f, code, from, true, &lines);
    good = good && listed_source_add(&f->source, m->parts->sources, f->file, &lines);
    free(lines.at);
    return good;
}

static int list_function(struct making *m, const struct chosen *chosen)
{
    struct listing *l = m->to;
    struct annotated_code code = {0};
    struct lines *lines = m->images ? image_cache_lines(m->images, chosen->image, IMAGE_LINES_ANY) : NULL;
    struct listed_function f = {.chosen = *chosen};
    int rc = annotated_code_read(&code, m->contexts, m->parts->choice, chosen, m->err);
    if (rc == 0)
        rc = annotated_code_show(&code, code.count > WHOLE_MOST ? SAMPLED : 0, 0, m->err);
    f.has_lines = lines;
    f.unread = code.unread;
    uint64_t *number = NULL;
    if (rc == 0 &&
        (!list_insns(m, &f, &code, lines) || !list_source(m, &f, &code, lines) ||
         !(number = table_put(m->parts->functions, key_of(chosen->image, chosen->function), NULL)) ||
         !vec_push(l->functions, l->function_count, m->parts->function_capacity, f))) {
        free(f.source.lines);
        rc = error_memory(m->err);
    }
    if (rc == 0)
        *number = l->function_count - 1;
    annotated_code_clear(&code);
    return rc;
}

static uint32_t place_of(const struct listing *l, const struct placed_sample *s)
{
    uint32_t function = s->image ? image_function_at(s->image, s->address) : IMAGE_NO_FUNCTION;
    const uint64_t *number =
        function == IMAGE_NO_FUNCTION ? NULL : table_find(l->parts->functions, key_of(s->image, function));
    if (!number)
        return 0;
    const struct listed_function *f = &l->functions[*number];
    size_t after = lower_bound(i, f->first, f->first + f->count, l->insns[i].address <= s->address);
    if (after == f->first || s->address - l->insns[after - 1].address >= l->insns[after - 1].length)
        return 0;
    return (uint32_t)after; /* 1 + the one before */
}

static int make_listing(struct making *m, size_t most)
{
    struct listing *l = m->to;
    const struct chosen *functions;
    int rc = 0;
    size_t count = choice_functions(m->parts->choice, &functions), i = 0;
    for (; i < count && i < most && l->insn_count < INSNS_MOST && rc == 0; i++)
        rc = list_function(m, &functions[i]);
    l->left_out = count - i;
    l->places = calloc(m->contexts->sample_count + 1, sizeof *l->places);
    if (rc == 0 && !l->places)
        rc = error_memory(m->err);
    for (i = 0; i < m->contexts->sample_count && rc == 0; i++)
        l->places[i] = place_of(l, &m->contexts->samples[i]);
    return rc;
}

int listing_make(const struct contexts *contexts, struct image_cache *images, size_t most,
                 struct listing *out, struct fathom_error *err)
{
    static const struct annotate_options any = {0};
    struct listing_parts *p = calloc(1, sizeof *p);
    struct listing listing = {.parts = p};
    struct making m = {&listing, p, contexts, images, err};
    if (!p)
        return error_memory(err);
    *p = (struct listing_parts){.texts = arena_new(0),
                                .sources = sources_new(images ? image_cache_options(images)->symfs : NULL),
                                .origins = table_new(),
                                .functions = table_new()};
    int rc = p->texts && p->sources && p->origins && p->functions
                 ? choice_new(contexts, &any, &p->choice, err)
                 : error_memory(err);
    if (rc == 0)
        rc = make_listing(&m, most);
    if (rc < 0)
        listing_clear(&listing);
    else
        *out = listing;
    return rc;
}

void listing_clear(struct listing *l)
{
    struct listing_parts *p = l->parts;
    for (size_t i = 0; i < l->function_count; i++)
        free(l->functions[i].source.lines);
    free(l->functions);
    free(l->insns);
    free(l->origins);
    free(l->places);
    *l = (struct listing){0};
    if (!p)
        return;
    arena_free(p->texts);
    sources_free(p->sources);
    table_free(p->origins);
    table_free(p->functions);
    choice_free(p->choice);
    free(p);
}

const char *listing_source(const struct listing *l, const struct origin *o, size_t *length)
{
    return o->file ? sources_line(l->parts->sources, o->file, o->line, length) : NULL;
}
