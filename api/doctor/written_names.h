/*
 * written_names.h - how a running process names the code that it makes: the flags that it was started with, and the file that it writes
 * names to.
 *
 * The file is /tmp/perf-PID.map in the process's root directory, with the PID in its own PID namespace; or a jitdump, jit-PID.dump, which it
 * maps. As `fathom record` does, a map is accepted if it is a regular file of the process's user or of root, and was written since the
 * process started.
 */
#ifndef FATHOM_API_DOCTOR_WRITTEN_NAMES_H
#define FATHOM_API_DOCTOR_WRITTEN_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum written_file {
    WRITTEN_NONE,    /* none, or it cannot be examined */
    WRITTEN_OWN,     /* a file of the process */
    WRITTEN_FOREIGN, /* another user's map */
};

struct written_names {
    enum written_file file;
    pid_t own_pid;     /* the PID in its namespace; 0: unknown */
    char *words;       /* of its command line, each ended by a NUL; owned; NULL: unknown */
    size_t words_size; /* bytes */
    char *settings;    /* its environment, likewise */
    size_t settings_size;
};

/* What cannot be read, e.g. as the process has ended, counts as missing. Free *out with written_names_free(). */
void written_names_read(pid_t pid, struct written_names *out);
void written_names_free(struct written_names *names);

/* Whether a word of the command line, or of the variable's value, begins with the flag. '-' and '_' are equal, as in V8. */
bool written_names_flag(const struct written_names *names, const char *variable, const char *flag);

#endif
