/*
 * scene.h - determines which steps of a call path are possible by the code of the images that a process has
 * mapped.
 *
 * A step leads from a function to one that it calls. It is possible if the caller's code has
 *   - a direct call or one by symbol of the callee, or of a function that jumps to it (DIRECT), or
 *   - a call through a pointer, and the address of the callee or of a function that jumps to it is taken
 * somewhere (INDIRECT); what dlsym() can find in a plug-in counts as taken;
 *   - or if the callee is a signal's restorer, or the caller is one and the callee's address is taken
 * (SIGNAL).
 *
 * It uses image/calls/calls.h but nothing of the inference that it is to judge.
 */
#ifndef FATHOM_TESTS_CHECKER_SCENE_H
#define FATHOM_TESTS_CHECKER_SCENE_H

#include "process/process.h"

struct function {
    const struct image *image;
    uint32_t number;
};

enum step_kind { STEP_NONE, STEP_DIRECT, STEP_INDIRECT, STEP_SIGNAL };

struct scenes; /* all scenes so far, one per set of images, with the code of the images */
struct scene;  /* the images mapped at a time; lives as long as the scenes */

struct scenes *scenes_new(void); /* NULL: out of memory */
void scenes_free(struct scenes *scenes);
/* What the process currently has mapped; opens the files. NULL: out of memory. */
struct scene *scenes_of(struct scenes *scenes, const struct process *process);

bool scene_has(const struct scene *scene, const struct image *image);
/* -ENOMEM, else an enum step_kind. */
int scene_step(struct scene *scene, struct function caller, struct function callee);
/* Whether it is a C library function that switches to another stack: it is the first function there until it
 * has returned to the code that runs on it. */
bool scene_switches(struct function function);
/* Whether the function's address is taken, or a function whose address is taken jumps to it: 1, 0,
 * -ENOMEM. */
int scene_taken(struct scene *scene, struct function function);
/* Whether a program begins with this function, or the loader does, whose own entry code is not part of any
 * path. */
bool scene_begins_program(const struct scene *scene, struct function function);
/* Whether the C library starts threads with it. */
int scene_begins_thread(struct scene *scene, struct function function);

#endif
