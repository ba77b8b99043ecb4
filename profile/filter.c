/* filter.c - see filter.h. Matches of names are cached by item. */
#include "profile/filter.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/search.h"
#include "base/vec.h"

enum expression { FOCUS, IGNORE, SYMBOL, IMAGE, COMM, EXPRESSIONS };

#define MATCHED(expression) (1u << (expression))
#define LOOKED_UP           (1u << EXPRESSIONS)

struct filter {
    struct filter_options options;
    const struct image_cache *images;
    regex_t compiled[EXPRESSIONS];
    unsigned given;                /* bits MATCHED() of the expressions that are given */
    const struct time_span *spans; /* NULL: any time */
    size_t span_count;
    uint64_t first; /* time of the first sample; 0: none yet */
    uint8_t *items; /* by item: MATCHED() bits, LOOKED_UP */
    size_t capacity;
};

/* glibc's regcomp() recurses into parentheses (20,000 of them overflow the stack), and copies what is repeated: a{99}{99}{99}
 * takes gigabytes. */
#define EXPRESSION_MAX  1000 /* bytes: longer than the name of any function that somebody would type */
#define REPETITIONS_MAX 1000 /* product of all bounds: a name of 10,000 bytes then takes at most 0.2 s */

static bool is_small(const char *text)
{
    unsigned long product = 1;
    if (strlen(text) > EXPRESSION_MAX)
        return false;
    for (const char *at = strchr(text, '{'); at; at = strchr(at + 1, '{')) {
        unsigned long most = 0;
        for (const char *c = at + 1; most <= REPETITIONS_MAX && (*c == ',' || (*c >= '0' && *c <= '9')); c++)
            most = *c == ',' ? 0 : most * 10 + (unsigned long)(*c - '0');
        if (most > 1 && (product *= most) > REPETITIONS_MAX)
            return false;
    }
    return true;
}

/* Turns "a,b" into "a|b", if the comma is not escaped, and not inside the brackets of a class, a bound, or the arguments of
 * C++. false: nothing is before or after a comma. */
static bool part_list(const char *text, char out[EXPRESSION_MAX + 1])
{
    int inside = 0;
    size_t i = 0, part_start = 0;
    for (; text[i]; i++) {
        bool escaped = i > 0 && text[i - 1] == '\\', parts = text[i] == ',' && !escaped && inside == 0;
        out[i] = parts ? '|' : text[i];
        if (parts && i == part_start)
            return false;
        if (parts)
            part_start = i + 1;
        if (strchr("([{<", text[i]))
            inside++;
        else if (strchr(")]}>", text[i]) && inside > 0)
            inside--;
    }
    out[i] = '\0';
    return part_start == 0 || i > part_start;
}

static int compile_expression(struct filter *f, enum expression which, const char *text, const char *option,
                              struct fathom_error *err)
{
    char why[128];
    if (!text)
        return 0;
    if (!is_small(text))
        return error_set(err, EINVAL, "--%s: the expression has more than %d bytes or %d repetitions", option,
                         EXPRESSION_MAX, REPETITIONS_MAX);
    char listed[EXPRESSION_MAX + 1];
    if (!part_list(text, listed))
        return error_set(
            err, EINVAL,
            "--%s: an expression is missing before or after a comma of '%s' ('\\,' is a comma itself)",
            option, text);
    int rc = regcomp(&f->compiled[which], listed, REG_EXTENDED | REG_NOSUB);
    if (rc == 0) {
        f->given |= MATCHED(which);
        return 0;
    }
    regerror(rc, &f->compiled[which], why, sizeof why);
    return rc == REG_ESPACE
               ? error_memory(err)
               : error_set(err, EINVAL, "--%s: '%s' is no regular expression: %s", option, text, why);
}

int filter_new(const struct filter_options *o, const struct image_cache *images, struct filter **out,
               struct fathom_error *err)
{
    struct filter *f = calloc(1, sizeof *f);
    if (!f)
        return error_memory(err);
    f->options = *o;
    f->images = images;
    const struct {
        const char *text, *option;
    } given[EXPRESSIONS] = {{o->focus, "focus"},
                            {o->ignore, "ignore"},
                            {o->symbol, "symbol"},
                            {o->image, "image"},
                            {o->comm, "comm"}};
    int rc = 0;
    for (enum expression i = 0; rc == 0 && i < EXPRESSIONS; i++)
        rc = compile_expression(f, i, given[i].text, given[i].option, err);
    if (rc == 0 && o->to > 0 && o->to <= o->from)
        rc = error_set(err, EINVAL, "--to must be later than --from");
    if (rc < 0)
        filter_free(f);
    else
        *out = f;
    return rc;
}

void filter_free(struct filter *f)
{
    if (!f)
        return;
    for (unsigned i = 0; i < EXPRESSIONS; i++)
        if (f->given & MATCHED(i))
            regfree(&f->compiled[i]);
    free(f->items);
    free(f);
}

static bool matches_text(const struct filter *f, enum expression which, const char *text)
{
    return f->given & MATCHED(which) && regexec(&f->compiled[which], text, 0, NULL, 0) == 0;
}

static bool is_listed(const pid_t *list, size_t count, uint32_t number)
{
    for (size_t i = 0; i < count; i++)
        if ((uint32_t)list[i] == number)
            return true;
    return count == 0;
}

void filter_times(struct filter *f, const struct time_span *spans, size_t count)
{
    f->spans = spans;
    f->span_count = count;
}

static bool within_spans(const struct filter *f, uint64_t time)
{
    size_t found = lower_bound(i, (size_t)0, f->span_count, f->spans[i].to <= time);
    return found < f->span_count && f->spans[found].from <= time;
}

bool filter_sample(struct filter *f, const struct process *process, const struct sample *sample)
{
    const struct filter_options *o = &f->options;
    if (!f->first)
        f->first = sample->time;
    double since = sample->time > f->first ? (double)(sample->time - f->first) * 1e-9 : 0;
    if (since < o->from || (o->to > 0 && since >= o->to))
        return false;
    if (f->spans && !within_spans(f, sample->time))
        return false;
    if (!is_listed(o->pids, o->pid_count, sample->pid) || !is_listed(o->tids, o->tid_count, sample->tid))
        return false;
    return !o->comm || (process && matches_text(f, COMM, process_thread_name(process, sample->tid)));
}

/* Matches the name of the image's file, or of another file of its build: copies and links of a program are one image. */
static bool matches_image(const struct filter *f, const struct frames *frames, const char *name)
{
    if (matches_text(f, IMAGE, name))
        return true;
    const struct frame_image *known = f->images ? frames_image(frames, name) : NULL;
    const char *path;
    for (size_t i = 0; known && (path = image_cache_path(f->images, &known->build_id, i)); i++)
        if (matches_text(f, IMAGE, path_base(path)))
            return true;
    return false;
}

/* The expressions that the item's name matches. */
static uint8_t look_up(struct filter *f, const struct frames *frames, uint32_t item)
{
    const struct frame *frame = frames_at(frames, item);
    bool is_function = frame_is_function(frame);
    uint8_t found = LOOKED_UP;
    for (enum expression which = FOCUS; which <= SYMBOL && is_function; which++)
        found |= matches_text(f, which, frame->name) ? MATCHED(which) : 0;
    return found | (is_function && matches_image(f, frames, frame->image) ? MATCHED(IMAGE) : 0);
}

static bool take_item(struct filter *f, const struct frames *frames, uint32_t item, uint8_t *out)
{
    size_t known = f->capacity;
    if (item >= known) {
        if (!vec_reserve(f->items, 0, f->capacity, (size_t)item + 1))
            return false;
        for (size_t i = known; i < f->capacity; i++)
            f->items[i] = 0;
    }
    if (!f->items[item])
        f->items[item] = look_up(f, frames, item);
    *out = f->items[item];
    return true;
}

bool filter_path(struct filter *f, const struct frames *frames, const uint32_t *items, size_t count)
{
    unsigned seen = 0, innermost = 0;
    for (size_t i = 0; i < count; i++) {
        uint8_t item;
        if (!take_item(f, frames, items[i], &item))
            return true;
        const struct frame *frame = frames_at(frames, items[i]);
        if (frame_is_function(frame)) /* in the function, and in everything inlined there */
            innermost = frame->kind == FRAME_INLINED ? innermost | item : item;
        seen |= item;
    }
    if (f->given & MATCHED(FOCUS) && !(seen & MATCHED(FOCUS)))
        return false;
    unsigned wanted = f->given & (MATCHED(SYMBOL) | MATCHED(IMAGE));
    return !(seen & MATCHED(IGNORE)) && (innermost & wanted) == wanted;
}
