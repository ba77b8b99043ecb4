#include "api/known_frames.h"

#include <stdlib.h>
#include <string.h>

#include "infer/samples/locate.h"

const struct fathom_frame *known_frames_at(struct known_frames *f, uint32_t function)
{
    if (!f->known)
        f->known = calloc((size_t)pathmap_function_count(f->map) + 1, sizeof *f->known);
    struct fathom_frame *frame = f->known ? &f->known[function] : NULL;
    if (frame && !frame->function) {
        char name[KNOWN_FRAMES_NAME];
        struct pathmap_function of_map = pathmap_function(f->map, function);
        locate_name(f->images, f->map, function, name, sizeof name);
        frame->function = strdup(name);
        frame->image = pathmap_image(f->map, of_map.image).path;
        frame->address = of_map.address;
    }
    return frame && frame->function ? frame : NULL;
}

void known_frames_clear(struct known_frames *f)
{
    for (uint32_t i = 0; f->known && i < pathmap_function_count(f->map); i++)
        free((char *)(uintptr_t)f->known[i].function);
    free(f->known);
    f->known = NULL;
}
