/*
 * images.h - hooks the images of the process: those loaded at its start, and those loaded later by dlopen.
 */
#ifndef FATHOM_PATHMAP_PROBE_IMAGES_H
#define FATHOM_PATHMAP_PROBE_IMAGES_H

#include "pathmap/wire/mail.h"

/* Hooks all loaded images, and the loader, so that images_update() runs after it mapped or unmapped some.
 * directory and mail: the session's; both must stay in place. Call once, after core_start(). */
void images_start(const char *directory, struct mail *mail);
/* Scans the loader's lists: hooks new images, forgets unloaded ones. Runs in the loader, with its lock held.
 */
void images_update(void);
/* Removes all hooks for good; images opened later are left alone. */
void images_leave(void);

#endif
