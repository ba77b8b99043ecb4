/*
 * written_names.h - what a running process was told about names of the code that it makes: the flags that it was started with, and the file that
 * it writes them to.
 *
 * The file is /tmp/perf-PID.map in the process's root directory, by the PID in its own PID namespace; or a jitdump, jit-PID.dump, which it maps.
 * As record does, it takes a map for the process's own if it is a regular file of its user's or of root's, and was written since the process
 * started.
 */
#ifndef FATHOM_API_DOCTOR_WRITTEN_NAMES_H
#define FATHOM_API_DOCTOR_WRITTEN_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum written_file {
    WRITTEN_NONE,    /* or it cannot be looked at */
    WRITTEN_OWN,     /* it is there */
    WRITTEN_FOREIGN, /* a map of another user's is there */
};

struct written_names {
    enum written_file file;
    pid_t own_pid;     /* the process's, in its namespace; 0: unknown */
    char *words;       /* those of its command line, with a NUL behind each; owned; NULL: unknown */
    size_t words_size; /* bytes */
    char *settings;    /* likewise, its environment */
    size_t settings_size;
};

/* What is not known, or of a process that is gone, is as if it were not there. written_names_free() frees it. */
void written_names_read(pid_t pid, struct written_names *out);
void written_names_free(struct written_names *names);

/* Whether a word of the command line begins with the flag, or the value of the variable has it; '-' and '_' are the same, as V8 takes them. */
bool written_names_flag(const struct written_names *names, const char *variable, const char *flag);

#endif
