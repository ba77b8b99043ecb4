/*
 * images.h - hooks the images of the process: those loaded at its start, and those that dlopen brings later.
 */
#ifndef FATHOM_PATHMAP_PROBE_IMAGES_H
#define FATHOM_PATHMAP_PROBE_IMAGES_H

#include "pathmap/wire/mail.h"

/* Hooks all images that are loaded, and the loader, so that images_update() runs when it has mapped or
 * unmapped some. directory and mail: the session's; both must stay. Once, after core_start(). */
void images_start(const char *directory, struct mail *mail);
/* Looks through the loader's lists: hooks what is new, forgets what is gone. Runs in the loader, with its
 * lock held. */
void images_update(void);
/* Takes all hooks out for good; images that are opened later are left alone. */
void images_leave(void);

#endif
