/*
 * images.h - hooks the images of the process: those loaded at its start, and those loaded later by dlopen.
 */
#ifndef FATHOM_PATHMAP_PROBE_IMAGES_H
#define FATHOM_PATHMAP_PROBE_IMAGES_H

#include "pathmap/probe/patch.h"
#include "pathmap/wire/mail.h"

/* Hooks all loaded images, and the loader, so that images_update() runs after it mapped or unmapped some.
 * directory and mail: the session's; both must stay in place. Call once, after core_start(). */
void images_start(const char *directory, struct mail *mail);
/* Scans the loader's lists: hooks new images, forgets unloaded ones. Runs in the loader, with its lock held.
 */
void images_update(void);
/* Changes the hooks of all images while the program runs (bursts.c), if the mailbox asks for bursts. Between
 * begin and end no image is opened or closed. false: an image is being opened or closed, hooks were removed for
 * good, or code cannot be written. */
bool images_begin(void);
void images_step(enum patch_step step);
void images_end(bool out); /* out: the hooks are out now, and those of images opened later will be */
/* Between begin and end: patch_is_inside() for all images. */
bool images_inside(uint64_t pc);
/* In a forked child, whose only thread is this one: takes the hooks out, even if its parent was changing them. */
void images_fork_child(void);
/* Removes all hooks for good; images opened later are left alone. */
void images_leave(void);

#endif
