/* saved_tree.c - see saved_tree.h. */
#include "hcct/saved_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/checksum.h"
#include "base/file.h"
#include "base/saturate.h"
#include "base/text.h"
#include "base/vec.h"

/* Writing ----------------------------------------------------------------------------------------------------- */

struct writing {
    uint8_t *data;
    size_t count, capacity;
    bool failed; /* out of memory */
};

static void put_bytes(struct writing *w, const void *from, size_t size)
{
    if (w->failed || !vec_reserve(w->data, w->count, w->capacity, size)) {
        w->failed = true;
        return;
    }
    memcpy(w->data + w->count, from, size);
    w->count += size;
}

static void put_text(struct writing *w, const char *text)
{
    put_bytes(w, text, strlen(text) + 1);
}

static void put_number(struct writing *w, uint64_t value)
{
    uint8_t bytes[BYTES_ULEB_MAX];
    put_bytes(w, bytes, (size_t)(bytes_put_uleb(bytes, value) - bytes));
}

static void put_u64(struct writing *w, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++) {
        uint8_t byte = (uint8_t)(value >> 8 * i);
        put_bytes(w, &byte, 1);
    }
}

static void put_nodes(struct writing *w, struct cct *tree)
{
    struct cct_node *root = cct_root(tree), *node = root;
    uint64_t up = 0;
    put_number(w, cct_count(tree));
    while (node) {
        put_number(w, up);
        put_number(w, node == root ? 0 : node->item);
        put_number(w, node->self[0]);
        put_number(w, cct_error(node));
        struct cct_node *next = cct_next(root, node);
        up = 0;
        for (struct cct_node *n = node; next && cct_parent(next) != n; n = cct_parent(n))
            up++;
        node = next;
    }
}

int saved_tree_write(const struct saved_tree *tree, int fd, const char *path, struct fathom_error *err)
{
    static const uint8_t magic[16] = SAVED_TREE_MAGIC "\x01";
    struct writing payload = {0}, head = {0};
    put_text(&payload, tree->unit);
    put_text(&payload, tree->command);
    put_u64(&payload, tree->bound);
    put_number(&payload, tree->function_count);
    for (size_t i = 0; i < tree->function_count; i++) {
        put_text(&payload, tree->functions[i].image);
        put_text(&payload, tree->functions[i].name);
        put_number(&payload, tree->functions[i].address);
    }
    put_nodes(&payload, tree->tree);
    put_bytes(&head, magic, sizeof magic);
    put_u64(&head, payload.count);
    put_u64(&head, payload.failed ? 0 : checksum_of(payload.data, payload.count));
    int rc = payload.failed || head.failed ? error_memory(err) : 0;
    if (rc == 0)
        rc = file_write_all(fd, head.data, head.count, path, err);
    if (rc == 0)
        rc = file_write_all(fd, payload.data, payload.count, path, err);
    free(payload.data);
    free(head.data);
    return rc;
}

/* Reading ----------------------------------------------------------------------------------------------------- */

struct reading {
    struct saved_tree tree;
    struct bytes bytes;
    const char *name;
    struct fathom_error *err;
};

static int damaged_tree(const struct reading *r, const char *what)
{
    return error_set(r->err, EBADMSG, "%s is damaged: %s", r->name, what);
}

/* A copy without control characters. NULL: out of memory, or there is none. */
static const char *take_text(struct reading *r)
{
    const char *text = bytes_string(&r->bytes);
    char *copy = text ? arena_strdup(r->tree.texts, text) : NULL;
    if (copy)
        text_clean(copy);
    return copy;
}

static int read_functions(struct reading *r)
{
    struct saved_tree *t = &r->tree;
    uint64_t count = bytes_uleb(&r->bytes);
    size_t capacity = 0;
    if (r->bytes.failed || count > bytes_left(&r->bytes) / 3) /* minimum bytes of each */
        return damaged_tree(r, "more functions than it has room for");
    while (t->function_count < count) {
        const char *image = take_text(r), *name = take_text(r);
        struct trace_function f = {image, name, bytes_uleb(&r->bytes)};
        if (r->bytes.failed)
            return damaged_tree(r, "a function is cut short");
        if (!f.image || !f.name || !vec_push(t->functions, t->function_count, capacity, f))
            return error_memory(r->err);
    }
    return 0;
}

static int read_node(struct reading *r, struct cct_node **node, bool first)
{
    struct saved_tree *t = &r->tree;
    uint64_t up = bytes_uleb(&r->bytes), function = bytes_uleb(&r->bytes), weight = bytes_uleb(&r->bytes),
             error = bytes_uleb(&r->bytes);
    if (r->bytes.failed)
        return damaged_tree(r, "a context is cut short");
    if (first) {
        *node = cct_root(t->tree);
    } else {
        struct cct_node *parent = *node;
        for (; up && parent; up--)
            parent = cct_parent(parent);
        if (!parent || function >= t->function_count)
            return damaged_tree(r, parent ? "a context of no function" : "a context above the root");
        *node = cct_child(t->tree, parent, (uint32_t)function);
        if (!*node)
            return error_memory(r->err);
    }
    if (error > add_saturating(weight, t->bound))
        return damaged_tree(r, "an error larger than its weight");
    cct_weigh(t->tree, *node, &weight);
    *cct_error_of(*node) = error;
    return 0;
}

static int read_nodes(struct reading *r)
{
    struct cct_node *node = NULL;
    uint64_t count = bytes_uleb(&r->bytes);
    int rc = 0;
    if (r->bytes.failed || count == 0 || count > bytes_left(&r->bytes) / 4) /* minimum bytes of each */
        return damaged_tree(r, "more contexts than it has room for");
    for (uint64_t i = 0; i < count && rc == 0; i++)
        rc = read_node(r, &node, i == 0);
    if (rc == 0 && cct_count(r->tree.tree) != count)
        return damaged_tree(r, "a context stands twice");
    return rc == 0 && bytes_left(&r->bytes) ? damaged_tree(r, "more bytes than contexts") : rc;
}

static int read_payload(struct reading *r)
{
    struct saved_tree *t = &r->tree;
    t->texts = arena_new(0);
    t->tree = t->texts ? cct_new(1) : NULL;
    if (!t->tree)
        return error_memory(r->err);
    t->unit = take_text(r);
    t->command = take_text(r);
    t->bound = bytes_u64(&r->bytes);
    if (r->bytes.failed)
        return damaged_tree(r, "its head is cut short");
    if (!t->unit || !t->command)
        return error_memory(r->err);
    int rc = t->bound > UINT64_MAX / 2 ? damaged_tree(r, "an impossible bound") : read_functions(r);
    return rc == 0 ? read_nodes(r) : rc;
}

int saved_tree_parse(const void *data, size_t size, const char *name, struct saved_tree *out,
                     struct fathom_error *err)
{
    struct reading r = {.bytes = bytes_of(data, size), .name = name, .err = err};
    const uint8_t *magic = bytes_take(&r.bytes, 16);
    if (!magic || memcmp(magic, SAVED_TREE_MAGIC, sizeof SAVED_TREE_MAGIC - 1) != 0)
        return error_set(err, ENOMSG, "%s is not a saved tree", name);
    if (magic[sizeof SAVED_TREE_MAGIC - 1] != SAVED_TREE_VERSION)
        return error_set(err, ENOTSUP, "%s is a saved tree of version %u, not %u", name,
                         magic[sizeof SAVED_TREE_MAGIC - 1], SAVED_TREE_VERSION);
    uint64_t length = bytes_u64(&r.bytes), sum = bytes_u64(&r.bytes);
    if (r.bytes.failed || length != bytes_left(&r.bytes))
        return damaged_tree(&r, "it is cut short, or has more than it should");
    if (checksum_of(r.bytes.at, length) != sum)
        return damaged_tree(&r, "it has another checksum");
    int rc = read_payload(&r);
    if (rc == 0)
        *out = r.tree;
    else
        saved_tree_free(&r.tree);
    return rc;
}

int saved_tree_read(const char *path, struct saved_tree *out, struct fathom_error *err)
{
    struct file_view view;
    int rc = file_view_read(path, &view, err);
    if (rc < 0)
        return rc;
    rc = saved_tree_parse(view.data, view.size, path, out, err);
    file_view_close(&view);
    return rc;
}

void saved_tree_free(struct saved_tree *t)
{
    cct_free(t->tree);
    free(t->functions);
    arena_free(t->texts);
    *t = (struct saved_tree){0};
}
