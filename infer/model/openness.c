/* openness.c - see openness.h. */
#include "infer/model/openness.h"

#include <errno.h>

#include "infer/samples/numbering.h"

bool openness_hooked(const struct pathmap *map)
{
    for (uint32_t i = 0; i < pathmap_image_count(map); i++)
        if (pathmap_image(map, i).hooked)
            return true;
    return false;
}

/* Whether training saw the CID. */
static bool was_seen(const struct pathmap *trained, uint32_t function, uint32_t height)
{
    uint32_t first;
    return function != PATHMAP_NONE && pathmap_find(trained, function, height, &first) > 0;
}

int openness_of(const struct survey *survey, struct trie *trie, const struct pathmap *map,
                const struct pathmap *trained, double *out)
{
    struct numbering now = {0}, then = {0};
    const struct wanted *cids;
    size_t count = survey_cids(survey, &cids);
    double all = 0, unseen = 0;
    if (!trained || !openness_hooked(trained)) {
        *out = 1;
        return 0;
    }
    bool good = numbering_make(&now, trie, map) && numbering_make(&then, trie, trained);
    for (size_t i = 0; good && i < count; i++) {
        uint32_t function = now.to_map[cids[i].function];
        if (function == PATHMAP_NONE || !pathmap_image(map, pathmap_function(map, function).image).hooked)
            continue;
        all += (double)cids[i].samples;
        if (!was_seen(trained, then.to_map[cids[i].function], cids[i].height))
            unseen += (double)cids[i].samples;
    }
    numbering_clear(&now);
    numbering_clear(&then);
    if (!good)
        return -ENOMEM;
    *out = all > 0 ? unseen / all : 0;
    return 0;
}
