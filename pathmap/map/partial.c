/* partial.c - see partial.h. */
#include "pathmap/map/partial.h"

#include <string.h>

#include "base/checksum.h"

bool partial_is_image(const char *path)
{
    return strcmp(path, PARTIAL_IMAGE) == 0;
}

static uint32_t partial_root(struct trie *trie, const char *text)
{
    const struct build_id none = {0};
    uint32_t image = trie_image(trie, PARTIAL_IMAGE, &none);
    return image == TRIE_NONE ? TRIE_NONE : trie_function(trie, image, checksum_of(text, strlen(text)), text);
}

uint32_t partial_node(struct trie *trie, const char *text)
{
    const uint32_t root = partial_root(trie, text);
    return root == TRIE_NONE ? TRIE_NONE : trie_child(trie, TRIE_ROOT, root, PARTIAL_HEIGHT, 0);
}

uint32_t partial_find(const struct pathmap *map, const char *text)
{
    const struct build_id none = {0};
    uint32_t first;
    const uint32_t image = pathmap_find_image(map, PARTIAL_IMAGE, &none, NULL),
                   function = image == PATHMAP_NONE
                                  ? PATHMAP_NONE
                                  : pathmap_find_function(map, image, checksum_of(text, strlen(text)));
    return function != PATHMAP_NONE && pathmap_find(map, function, PARTIAL_HEIGHT, &first) ? first
                                                                                           : PATHMAP_NONE;
}
