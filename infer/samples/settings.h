/*
 * settings.h - where samples were taken: what their stack begins with, and which files their process had
 * mapped. No path can be where it was not possible to be (admission.h).
 *
 * Settings are numbered; equal ones have one number. SETTING_ANY stands for nothing known: any path can be.
 */
#ifndef FATHOM_INFER_SAMPLES_SETTINGS_H
#define FATHOM_INFER_SAMPLES_SETTINGS_H

#include "infer/samples/origins.h"

#define SETTING_ANY 0u

enum setting_start {
    SETTING_START_ANY,
    SETTING_START_PROGRAM, /* the stack begins with a program's `_start` */
    SETTING_START_THREAD,  /* with a thread's first function */
    SETTING_START_OTHER,   /* a coroutine's or a signal handler's stack */
};

/* A file that was mapped. */
struct setting_file {
    const char *path;
    struct build_id build_id; /* size 0: unknown */
};

struct setting {
    enum setting_start start;
    uint32_t called; /* as in struct origin */
    uint32_t files;  /* number of the set of files; 0: any */
};

struct settings;

struct settings *settings_new(void); /* NULL: out of memory */
void settings_free(struct settings *settings);
/* A new pass over the recording begins, with processes of its own. */
void settings_begin_pass(struct settings *settings);
/* The number of the setting of a sample. 0 or -ENOMEM. */
int settings_of(struct settings *settings, const struct origins *origins, const struct process *process,
                const struct sample *sample, uint32_t *out);
/* The same for a setting that is put together. */
int settings_number(struct settings *settings, struct setting setting, uint32_t *out);
uint32_t settings_count(const struct settings *settings);
struct setting settings_at(const struct settings *settings, uint32_t number);

/* Sets of files, numbered from 1 on; set 0 has none and stands for all. */
uint32_t settings_sets(const struct settings *settings);
/* Whether the set has the file with this build-id, or where one of the two is unknown, this path. */
bool settings_set_has(const struct settings *settings, uint32_t set, const char *path,
                      const struct build_id *build_id);
/* Whether two files are in one set, or one of them is in none. */
bool settings_together(const struct settings *settings, const struct setting_file *a,
                       const struct setting_file *b);
/* A setting in which at least the paths of this one can be, the same for many: where the file that is mapped
 * lowest (the program itself) is the same, with all files that it ever had. 0 or -ENOMEM. */
int settings_wider(struct settings *settings, uint32_t number, uint32_t *out);

#endif
