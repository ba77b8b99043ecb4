/* firefox_tables.c - see firefox_tables.h. */
#include "report/export/firefox_tables.h"

#include <stdlib.h>

#include "base/vec.h"
#include "infer/contexts/certainty.h"

static const enum firefox_category category_of[] = {[CERTAINTY_UNKNOWN] = FIREFOX_UNKNOWN,
                                                    [CERTAINTY_PROVED] = FIREFOX_PROVED,
                                                    [CERTAINTY_INFERRED] = FIREFOX_INFERRED};

struct making {
    const struct contexts *contexts;
    struct firefox_tables *to;
    struct table *files;  /* text of a name -> number */
    struct table *frames; /* item * FIREFOX_CATEGORIES + category -> number */
    struct table *stacks; /* address of a node + category (below the node's alignment) -> number */
    size_t file_capacity, frame_capacity, stack_capacity, up_capacity;
    const struct cct_node **up; /* scratch: nodes whose stacks are to be made */
};

static bool file_for(struct making *m, const char *name, uint32_t *out)
{
    struct firefox_tables *to = m->to;
    struct firefox_file file = {name, names_intern(to->texts, name)};
    bool added;
    uint64_t *number = file.text == NAMES_NONE ? NULL : table_put(m->files, file.text, &added);
    if (!number || (added && !vec_push(to->files, to->file_count, m->file_capacity, file)))
        return false;
    if (added)
        *number = to->file_count - 1;
    *out = (uint32_t)*number;
    return true;
}

static bool frame_for(struct making *m, struct firefox_frame frame, uint32_t *out)
{
    struct firefox_tables *to = m->to;
    bool added;
    uint64_t *number =
        table_put(m->frames, (uint64_t)frame.item * FIREFOX_CATEGORIES + frame.category, &added);
    if (!number || (added && !vec_push(to->frames, to->frame_count, m->frame_capacity, frame)))
        return false;
    if (added)
        *number = to->frame_count - 1;
    *out = (uint32_t)*number;
    return true;
}

/* Adds the stack that ends in a node, below an existing stack. */
static bool add_stack(struct making *m, const struct cct_node *node, enum firefox_category category,
                      uint32_t *stack)
{
    struct firefox_tables *to = m->to;
    struct firefox_stack made = {.prefix = *stack};
    uint64_t *number = table_put(m->stacks, (uintptr_t)node + category, NULL);
    if (!number || !frame_for(m, (struct firefox_frame){node->item, category}, &made.frame) ||
        !vec_push(to->stacks, to->stack_count, m->stack_capacity, made))
        return false;
    *number = *stack = (uint32_t)(to->stack_count - 1);
    return true;
}

/* Adds the stack that ends in a node, after those of its callers. */
static bool stack_for(struct making *m, const struct cct_node *node, enum firefox_category category,
                      uint32_t *out)
{
    size_t depth = 0;
    const uint64_t *known = NULL;
    for (; cct_parent(node) && !known; node = cct_parent(node)) {
        known = table_find(m->stacks, (uintptr_t)node + category);
        if (!known && !vec_push(m->up, depth, m->up_capacity, node))
            return false;
    }
    *out = known ? (uint32_t)*known : FIREFOX_NONE;
    bool good = true;
    while (depth-- && good)
        good = add_stack(m, m->up[depth], category, out);
    return good;
}

static bool make_all(struct making *m)
{
    struct firefox_tables *to = m->to;
    const struct frames *frames = m->contexts->frames;
    for (uint32_t i = 0; i < to->used.count; i++) {
        const struct frame *f = frames_at(frames, to->used.items[i]);
        to->name_of[i] = names_intern(to->texts, f->name);
        to->file_of[i] = FIREFOX_NONE;
        if (to->name_of[i] == NAMES_NONE || (*f->image && !file_for(m, f->image, &to->file_of[i])))
            return false;
    }
    for (size_t i = 0; i < m->contexts->sample_count; i++) {
        const struct placed_sample *s = &m->contexts->samples[i];
        if (!stack_for(m, s->node, category_of[s->certainty], &to->stack_of[i]))
            return false;
    }
    return true;
}

int firefox_tables_make(const struct contexts *contexts, struct firefox_tables *out, struct fathom_error *err)
{
    struct used_frames used = {0};
    int rc = used_frames_find(contexts, &used, err);
    struct making m = {
        .contexts = contexts, .to = out, .files = table_new(), .frames = table_new(), .stacks = table_new()};
    *out = (struct firefox_tables){.used = used,
                                   .texts = names_new(),
                                   .name_of = calloc(used.count + 1ul, sizeof *out->name_of),
                                   .file_of = calloc(used.count + 1ul, sizeof *out->file_of),
                                   .stack_of = calloc(contexts->sample_count + 1, sizeof *out->stack_of)};
    bool good = rc == 0 && m.files && m.frames && m.stacks && out->texts && out->name_of && out->file_of &&
                out->stack_of && make_all(&m);
    table_free(m.files);
    table_free(m.frames);
    table_free(m.stacks);
    free(m.up);
    return rc < 0 ? rc : good ? 0 : error_memory(err);
}

void firefox_tables_clear(struct firefox_tables *t)
{
    names_free(t->texts);
    free(t->files);
    free(t->frames);
    free(t->stacks);
    free(t->name_of);
    free(t->file_of);
    free(t->stack_of);
    used_frames_clear(&t->used);
}
