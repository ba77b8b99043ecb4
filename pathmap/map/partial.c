/* partial.c - see partial.h. */
#include "pathmap/map/partial.h"

#include <string.h>

#include "base/checksum.h"

bool partial_is_image(const char *path)
{
    return strcmp(path, PARTIAL_IMAGE) == 0;
}

uint32_t partial_root(struct trie *trie, const char *text)
{
    const struct build_id none = {0};
    uint32_t image = trie_image(trie, PARTIAL_IMAGE, &none);
    return image == TRIE_NONE ? TRIE_NONE : trie_function(trie, image, checksum_of(text, strlen(text)), text);
}
