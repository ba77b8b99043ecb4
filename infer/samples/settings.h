/*
 * settings.h - where samples were taken: what their stack begins with, and which files their process had
 * mapped. This excludes paths that are impossible there (admission.h).
 *
 * Settings are numbered; equal ones have the same number. SETTING_ANY means that nothing is known: any path
 * is possible.
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
/* Begins a new pass over the recording, with new processes. */
void settings_begin_pass(struct settings *settings);
/* The number of the setting of a sample. 0 or -ENOMEM. */
int settings_of(struct settings *settings, const struct origins *origins, const struct process *process,
                const struct sample *sample, uint32_t *out);
/* The same for a given setting. */
int settings_number(struct settings *settings, struct setting setting, uint32_t *out);
uint32_t settings_count(const struct settings *settings);
struct setting settings_at(const struct settings *settings, uint32_t number);

/* The number of sets of files, counted from 1; set 0 is empty and means any files. */
uint32_t settings_sets(const struct settings *settings);
/* Whether the set has the file with this build-id or, if either is unknown, this path. */
bool settings_set_has(const struct settings *settings, uint32_t set, const char *path,
                      const struct build_id *build_id);
/* Whether two files are in the same set, or one of them is in none. */
bool settings_together(const struct settings *settings, const struct setting_file *a,
                       const struct setting_file *b);
/* A setting that allows at least the paths of this one and is shared by many: those whose lowest mapped file
 * (the program itself) is the same, with all files that it ever had. 0 or -ENOMEM. */
int settings_wider(struct settings *settings, uint32_t number, uint32_t *out);

#endif
