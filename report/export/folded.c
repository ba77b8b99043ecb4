/*
 * folded.c - folded stacks, the input of flamegraph.pl and most other flame graph programs.
 *
 * Lines are sorted bytewise, like the output of `LC_ALL=C sort`, without holding all of them in memory:
 * sibling nodes with the same text are merged, each becomes up to two entries among its siblings ("name 12",
 * its own line, and "name;", all lines below), and the entries of each node are sorted.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "report/export/export.h"

/* Sets the number of each item's text in `texts`. In a text, characters that would break a line are replaced; kernel functions get the
 * suffix of stackcollapse-perf.pl --kernel, by which flamegraph.pl colours them. */
static int fold_names(const struct frames *frames, struct names *texts, uint32_t *numbers,
                      struct fathom_error *err)
{
    for (uint32_t item = 0; item < frames_count(frames); item++) {
        const struct frame *frame = frames_at(frames, item);
        char *text;
        if (asprintf(&text, "%s%s", frame->name, frame->kind == FRAME_KERNEL ? "_[k]" : "") < 0)
            return error_memory(err);
        for (char *p = text; *p; p++)
            *p = *p == ';' ? ':' : *p;
        numbers[item] = names_intern(texts, *text ? text : "?");
        free(text);
        if (numbers[item] == NAMES_NONE)
            return error_memory(err);
    }
    return 0;
}

/* Copies the tree with texts as items: siblings with the same text become one node. */
static int join_by_text(const struct branches *from, const uint32_t *numbers, uint32_t rest,
                        struct cct *joined, struct fathom_error *err)
{
    struct cct_node **place = malloc(from->count * sizeof(*place));
    if (!place)
        return error_memory(err);
    place[0] = cct_root(joined);
    int rc = 0;
    for (uint32_t i = 1; i < from->count; i++) {
        const struct branch *branch = &from->at[i];
        place[i] = cct_child(joined, place[branch->parent], numbers[branch->item]);
        if (!place[i]) {
            rc = error_memory(err);
            break;
        }
        place[i]->self[0] = add_saturating(place[i]->self[0], branch->self);
    }
    if (rc == 0 && from->at[0].self > 0) {
        struct cct_node *node = cct_child(joined, cct_root(joined), rest);
        if (node)
            node->self[0] = add_saturating(node->self[0], from->at[0].self);
        else
            rc = error_memory(err);
    }
    free(place);
    return rc;
}

/* Compares a1 followed by a2 with b1 followed by b2, by bytes. */
static int compare_pieces(const char *a1, const char *a2, const char *b1, const char *b2)
{
    for (;; a1++, b1++) {
        if (*a1 == 0 && a2) {
            a1 = a2;
            a2 = NULL;
        }
        if (*b1 == 0 && b2) {
            b1 = b2;
            b2 = NULL;
        }
        if (*a1 != *b1 || *a1 == 0)
            return (unsigned char)*a1 - (unsigned char)*b1;
    }
}

enum { SUFFIX_SIZE = 24 };

/* The text after an entry's name: its weight, or ";" for the entry of the lines below it. */
static const char *entry_suffix(char suffix[SUFFIX_SIZE], const struct branch *entry)
{
    if (entry->self == 0)
        return ";";
    snprintf(suffix, SUFFIX_SIZE, " %llu", (unsigned long long)entry->self);
    return suffix;
}

static int compare_entries(const struct branch *a, const struct branch *b, const void *texts)
{
    char x[SUFFIX_SIZE], y[SUFFIX_SIZE];
    return compare_pieces(names_text(texts, a->item), entry_suffix(x, a), names_text(texts, b->item),
                          entry_suffix(y, b));
}

/* Makes the entries of a tree in preorder. */
static int make_entries(const struct branches *nodes, struct branches *entries, struct fathom_error *err)
{
    uint32_t *place = calloc(nodes->count, sizeof *place); /* by node: the entry of the lines below it */
    if (!place)
        return error_memory(err);
    int rc = branches_init(entries, nodes->count, err);
    for (uint32_t i = 1; i < nodes->count && rc == 0; i++) {
        const struct branch *node = &nodes->at[i];
        uint32_t parent = place[node->parent], line = 0;
        bool has_children = i + 1 < nodes->count && nodes->at[i + 1].parent == i;
        if (node->self > 0)
            line = branches_add(entries, parent, node->item, node->self, 0);
        if (has_children)
            place[i] = branches_add(entries, parent, node->item, 0, 0);
        if (line == BRANCHES_NONE || place[i] == BRANCHES_NONE) {
            branches_clear(entries);
            rc = error_memory(err);
        }
    }
    free(place);
    return rc;
}

/* Text of the frames from the root to the walk's current position. */
struct line {
    char *text;
    size_t length, capacity;
};

static bool line_append(struct line *line, const char *text, char end)
{
    size_t length = strlen(text);
    if (!vec_reserve(line->text, line->length, line->capacity, length + 2))
        return false;
    memcpy(line->text + line->length, text, length);
    line->length += length;
    line->text[line->length++] = end;
    return true;
}

static int write_entries(const struct branches *entries, const struct names *texts, struct printer *printer,
                         struct fathom_error *err)
{
    struct line line = {0};
    uint32_t open = 0; /* the entry with which the line's text ends */
    int rc = 0;
    for (uint32_t i = 1; i < entries->count && !printer->failed && rc == 0; i++) {
        const struct branch *entry = &entries->at[i];
        for (; open != entry->parent; open = entries->at[open].parent)
            line.length -= strlen(names_text(texts, entries->at[open].item)) + 1;
        const char *name = names_text(texts, entry->item);
        if (entry->self > 0) {
            printer_bytes(printer, line.text, line.length);
            printer_write(printer, "%s %llu\n", name, (unsigned long long)entry->self);
        } else if (line_append(&line, name, ';')) {
            open = i;
        } else {
            rc = error_memory(err);
        }
    }
    free(line.text);
    return rc;
}

static int write_joined(struct cct *joined, const struct names *texts, FILE *out, struct fathom_error *err)
{
    struct branches nodes, entries;
    int rc = branches_of_cct(&nodes, joined, NULL, err);
    if (rc)
        return rc;
    rc = make_entries(&nodes, &entries, err);
    branches_clear(&nodes);
    if (rc)
        return rc;
    struct printer printer = {.out = out};
    rc = branches_arrange(&entries, compare_entries, texts, err);
    if (rc == 0)
        rc = write_entries(&entries, texts, &printer, err);
    if (rc == 0)
        rc = printer_finish(&printer, err);
    branches_clear(&entries);
    return rc;
}

int folded_write(const struct contexts *contexts, FILE *out, struct fathom_error *err)
{
    const struct frames *frames = contexts->frames;
    uint32_t items = frames_count(frames);
    struct names *texts = names_new();
    uint32_t *numbers = malloc(((size_t)items + 1) * sizeof *numbers);
    struct cct *joined = cct_new(1);
    struct branches nodes = {0};
    int rc = texts && numbers && joined ? 0 : error_memory(err);
    if (rc == 0)
        rc = fold_names(frames, texts, numbers, err);
    uint32_t rest = rc == 0 ? names_intern(texts, EXPORT_NOT_KEPT) : 0;
    if (rest == NAMES_NONE)
        rc = error_memory(err);
    if (rc == 0)
        rc = export_branches(contexts, &nodes, err);
    if (rc == 0)
        rc = join_by_text(&nodes, numbers, rest, joined, err);
    branches_clear(&nodes);
    if (rc == 0)
        rc = write_joined(joined, texts, out, err);
    cct_free(joined);
    free(numbers);
    names_free(texts);
    return rc;
}
