/* locate.c - see locate.h. */
#include "infer/samples/locate.h"

#include "image/name.h"
#include "pathmap/map/partial.h"

bool locate_function(struct image_cache *images, const struct pathmap *map, uint32_t function,
                     struct image **image, uint32_t *index)
{
    struct pathmap_function f = pathmap_function(map, function);
    struct pathmap_image i = pathmap_image(map, f.image);
    struct image *found;
    if (partial_is_image(i.path))
        return false;
    if (image_cache_get(images, i.path, &i.build_id, &found, NULL) < 0)
        return false;
    uint32_t entry = image_function_entry(found, f.address);
    if (entry == IMAGE_NO_FUNCTION)
        return false;
    *image = found;
    *index = entry;
    return true;
}

int locate_name(struct image_cache *images, const struct pathmap *map, uint32_t function, char *out,
                size_t size)
{
    struct image *image;
    uint32_t index;
    if (locate_function(images, map, function, &image, &index))
        return image_function_format(image, index, out, size);
    struct pathmap_function f = pathmap_function(map, function);
    return name_format(pathmap_image(map, f.image).path, f.name, f.address, out, size);
}
