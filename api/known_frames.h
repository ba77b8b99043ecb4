/* known_frames.h - the functions of a path map as public frames (fathom/contexts.h). Each is named only once. */
#ifndef FATHOM_API_KNOWN_FRAMES_H
#define FATHOM_API_KNOWN_FRAMES_H

#include "api/fathom/contexts.h"
#include "image/cache.h"
#include "pathmap/map/pathmap.h"

#define KNOWN_FRAMES_NAME 1024 /* bytes of a name */

struct known_frames {
    struct image_cache *images; /* borrowed, like the map; NULL at first */
    const struct pathmap *map;
    struct fathom_frame *known; /* by function; its name is NULL before it was looked up */
};

/* The frame of a function of the map; valid until known_frames_clear(). NULL: out of memory. */
const struct fathom_frame *known_frames_at(struct known_frames *frames, uint32_t function);
void known_frames_clear(struct known_frames *frames); /* the map must still be open */

#endif
