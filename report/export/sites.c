/* sites.c - see sites.h. */
#include "report/export/sites.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

int sites_begin(struct sites *s, const struct contexts *contexts, const struct used_frames *used,
                struct fathom_error *err)
{
    *s = (struct sites){.contexts = contexts, .used = used, .numbers = table_new()};
    return s->numbers ? 0 : error_memory(err);
}

void sites_clear(struct sites *s)
{
    table_free(s->numbers);
    free(s->at);
    free(s->path);
}

static enum frame_kind kind_of(const struct sites *s, const struct cct_node *node)
{
    return frames_at(s->contexts->frames, node->item)->kind;
}

/* Whether a node is a line of the function above it, so that both are one location. */
static bool is_line_of(const struct sites *s, const struct cct_node *node, const struct cct_node *above)
{
    if (kind_of(s, node) != FRAME_LINE || !cct_parent(above))
        return false;
    return frame_is_function(frames_at(s->contexts->frames, above->item));
}

const struct cct_node *sites_path(struct sites *s, const struct cct_node *node)
{
    const struct cct_node *above;
    s->length = 0;
    for (; (above = cct_parent(node)) && kind_of(s, node) != FRAME_LEVEL; node = above) {
        struct site site = {s->used->numbers[node->item], SITE_NO_LINE};
        if (is_line_of(s, node, above)) {
            site = (struct site){s->used->numbers[above->item], site.frame};
            above = cct_parent(above);
        }
        size_t number = table_index(s->numbers, (uint64_t)site.frame << 32 | site.line, s->at, s->count,
                                    s->capacity, site);
        if (number == SIZE_MAX || !vec_push(s->path, s->length, s->path_capacity, number + 1))
            return NULL;
    }
    return node;
}

const char *site_name(const struct sites *s, const struct site *site)
{
    const char *name = frames_at(s->contexts->frames, s->used->items[site->frame])->name;
    return *name ? name : "?";
}

const struct frame *site_line(const struct sites *s, const struct site *site)
{
    const struct frame *line =
        site->line == SITE_NO_LINE ? NULL : frames_at(s->contexts->frames, s->used->items[site->line]);
    return line && line->source ? line : NULL;
}

/* A text with all programs from the outermost to this one, "make > sh > cc1"; *node becomes the node above them. NULL: out of memory. */
static char *join_programs(const struct contexts *c, const struct cct_node **node)
{
    char *joined = strdup(frames_at(c->frames, (*node)->item)->name);
    for (*node = cct_parent(*node); joined && cct_parent(*node); *node = cct_parent(*node)) {
        const struct frame *frame = frames_at(c->frames, (*node)->item);
        char *longer;
        if (level_of(frame) != LEVEL_PROGRAMS)
            break;
        if (asprintf(&longer, "%s > %s", frame->name, joined) < 0)
            longer = NULL;
        free(joined);
        joined = longer;
    }
    return joined;
}

int level_labels(const struct contexts *c, const struct cct_node *node, struct level_label labels[LEVELS])
{
    int count = 0;
    while (cct_parent(node)) {
        const struct frame *frame = frames_at(c->frames, node->item);
        const enum level level = level_of(frame);
        const bool programs = level == LEVEL_PROGRAMS;
        if (level != LEVEL_PID && level != LEVEL_TID) {
            struct level_label *label = &labels[count++];
            *label = (struct level_label){level_name(level),
                                          programs ? join_programs(c, &node) : strdup(frame->name)};
            if (!label->text) {
                level_labels_clear(labels, count);
                return -ENOMEM;
            }
        }
        if (!programs)
            node = cct_parent(node);
    }
    return count;
}

void level_labels_clear(struct level_label *labels, int count)
{
    for (int i = 0; i < count; i++)
        free(labels[i].text);
}
