/*
 * scene.h - which steps of a call path are possible, by the code of the images that a process has mapped.
 *
 * A step leads from a function to one that it calls. It is possible when the caller's code has
 *   - a direct call or one by symbol of the callee, or of a function that jumps to it (DIRECT), or
 *   - a call through a pointer, and the callee's address is taken somewhere, or it stands in a place of the
 *     functions that jump to it (INDIRECT); what dlsym() can find of a plug-in counts as taken;
 *   - or when the callee is a signal's restorer, or the caller is one and the callee's address is taken
 *     (SIGNAL).
 *
 * It reads image/calls/calls.h and nothing of the inference whose answers it is there to judge.
 */
#ifndef FATHOM_TESTS_CHECKER_SCENE_H
#define FATHOM_TESTS_CHECKER_SCENE_H

#include "process/process.h"

struct function {
    const struct image *image;
    uint32_t number;
};

enum step_kind { STEP_NONE, STEP_DIRECT, STEP_INDIRECT, STEP_SIGNAL };

struct scenes; /* all that were met, each set of images once, with the code of the images */
struct scene;  /* the images that are mapped at a time; lives as long as the scenes */

struct scenes *scenes_new(void); /* NULL: out of memory */
void scenes_free(struct scenes *scenes);
/* What the process has mapped now; opens the files. NULL: out of memory. */
struct scene *scenes_of(struct scenes *scenes, const struct process *process);

bool scene_has(const struct scene *scene, const struct image *image);
/* -ENOMEM, else an enum step_kind. */
int scene_step(struct scene *scene, struct function caller, struct function callee);
/* Whether it is one of the C library's that go over to another stack: it is the first function there until it has
 * returned to what runs on it. */
bool scene_switches(struct function function);
/* Whether the function's address is taken, or a function whose address is taken jumps to it: 1, 0,
 * -ENOMEM. */
int scene_taken(struct scene *scene, struct function function);
/* Whether a program begins with this function, or the loader, whose own entry code is part of no path. */
bool scene_begins_program(const struct scene *scene, struct function function);
/* Whether the C library starts threads with it. */
int scene_begins_thread(struct scene *scene, struct function function);

#endif
