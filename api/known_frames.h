/* known_frames.h - the functions of a path map as frames of the public header (fathom/contexts.h), each named once. */
#ifndef FATHOM_API_KNOWN_FRAMES_H
#define FATHOM_API_KNOWN_FRAMES_H

#include "api/fathom/contexts.h"
#include "image/cache.h"
#include "pathmap/map/pathmap.h"

#define KNOWN_FRAMES_NAME 1024 /* bytes of a name */

struct known_frames {
    struct image_cache *images; /* borrowed, like the map; NULL at first */
    const struct pathmap *map;
    struct fathom_frame *known; /* by function; name NULL before it was looked up */
};

/* The frame of a function of the map, as long as these. NULL: out of memory. */
const struct fathom_frame *known_frames_at(struct known_frames *frames, uint32_t function);
void known_frames_clear(struct known_frames *frames); /* while the map is open */

#endif
