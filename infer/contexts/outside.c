/* outside.c - see outside.h. */
#include "infer/contexts/outside.h"

#include <string.h>

#include "base/path.h"
#include "pathmap/map/partial.h"
#include "process/partial.h"

static uint32_t root_of(const struct pathmap *map, uint32_t node)
{
    struct pathmap_node n = pathmap_node(map, node);
    for (; n.parent != PATHMAP_NONE; n = pathmap_node(map, node))
        node = n.parent;
    return node;
}

bool outside_is_partial(const struct pathmap *map, uint32_t node)
{
    return node != PATHMAP_NONE && pathmap_node(map, root_of(map, node)).height == PARTIAL_HEIGHT;
}

bool outside_has_frames(const struct pathmap *map, uint32_t node, uint32_t partial, uint32_t *outermost)
{
    struct pathmap_node own = pathmap_node(map, partial), n = pathmap_node(map, node);
    const uint32_t between = own.height - n.height;
    for (; own.height != PARTIAL_HEIGHT && node != PATHMAP_NONE; node = n.parent) {
        n = pathmap_node(map, node);
        if (n.function != own.function || own.height - n.height != between)
            return false;
        *outermost = node;
        own = pathmap_node(map, own.parent);
    }
    return own.height == PARTIAL_HEIGHT;
}

static const char *image_path_of(const struct pathmap *map, uint32_t node, struct pathmap_image *image)
{
    const uint32_t function = node == PATHMAP_NONE ? PATHMAP_NONE : pathmap_node(map, node).function;
    if (function == PATHMAP_NONE)
        return NULL;
    *image = pathmap_image(map, pathmap_function(map, function).image);
    return image->path;
}

/* Whether a root's text names the file, as "[no unwind table: FILE]" does (process/partial.h). */
static bool names_file(const char *text, const char *file)
{
    const size_t length = strlen(text), size = strlen(file);
    if (strcmp(text, file) == 0) /* "[vdso]" */
        return true;
    return length > size + 2 && text[length - 1] == ']' && text[length - size - 2] == ' ' &&
           memcmp(text + length - 1 - size, file, size) == 0;
}

/* Whether frames may be missing between a node and its parent: hooks saw the function's entry, and its call came from outside
 * of the parent's code. */
static bool may_leave_out(const struct pathmap *map, uint32_t node)
{
    struct pathmap_image image = {0};
    return pathmap_leaves_out(map) || (pathmap_node(map, node).site == 0 &&
                                       image_path_of(map, node, &image) && (image.hooked || image.entered));
}

/* Whether the frames beyond this root were not read: the copy ended, they are on another stack, or the return address was
 * replaced. */
static bool is_unread(const char *root)
{
    return strcmp(root, PARTIAL_CUT) == 0 || strcmp(root, PARTIAL_SWITCHED) == 0 ||
           strcmp(root, PARTIAL_UPROBE) == 0;
}

bool outside_contradicts(const struct pathmap *map, uint32_t partial, uint32_t outermost)
{
    const struct pathmap_node root = pathmap_node(map, root_of(map, partial));
    const char *text = root.function == PATHMAP_NONE ? NULL : pathmap_function(map, root.function).name;
    if (!text || is_unread(text) || may_leave_out(map, outermost))
        return false;
    struct pathmap_image image = {0};
    const char *path = image_path_of(map, pathmap_node(map, outermost).parent, &image);
    return !path || !names_file(text, path_base(path));
}
