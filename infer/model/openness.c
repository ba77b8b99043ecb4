/* openness.c - see openness.h. */
#include "infer/model/openness.h"

bool openness_hooked(const struct pathmap *map)
{
    for (uint32_t i = 0; i < pathmap_image_count(map); i++)
        if (pathmap_image(map, i).hooked)
            return true;
    return false;
}

/* Whether training saw the CID, whose function the map knows. */
static bool was_seen(const struct pathmap *trained, const struct pathmap *map, const struct wanted *cid)
{
    struct pathmap_function f = pathmap_function(map, cid->function);
    struct pathmap_image image = pathmap_image(map, f.image);
    uint32_t there = pathmap_find_image(trained, image.path, &image.build_id, NULL), first;
    uint32_t function = there == PATHMAP_NONE ? there : pathmap_find_function(trained, there, f.address);
    return function != PATHMAP_NONE && pathmap_find(trained, function, cid->height, &first) > 0;
}

double openness_of(const struct survey *survey, const struct pathmap *map, const struct pathmap *trained)
{
    const struct wanted *cids;
    size_t count = survey_cids(survey, &cids);
    double all = 0, unseen = 0;
    if (!trained || !openness_hooked(trained))
        return 1;
    for (size_t i = 0; i < count; i++) {
        if (!pathmap_image(map, pathmap_function(map, cids[i].function).image).hooked)
            continue;
        all += (double)cids[i].samples;
        if (!was_seen(trained, map, &cids[i]))
            unseen += (double)cids[i].samples;
    }
    return all > 0 ? unseen / all : 0;
}
