/* train_choose.c - chooses the training method for a command if --via was not given. */
#include <string.h>
#include <unistd.h>

#include "cli/train_ways.h"

enum train_way train_way_of(const struct program *program, const char **why)
{
    enum train_way without = geteuid() == 0 ? TRAIN_UPROBE : TRAIN_UNWIND;
    *why = NULL;
    if (program->kind == PROGRAM_FOREIGN) {
        *why = "is not a readable x86-64 program";
        return TRAIN_UNWIND;
    }
    if (program->raised) {
        *why = "is set-user-ID or has capabilities";
        return without;
    }
    if (program->kind == PROGRAM_STATIC) {
        *why = "is statically linked";
        return without;
    }
    if (!strstr(program->loader, "/ld-linux")) { /* musl's and others */
        *why = "does not use glibc";
        return TRAIN_UNWIND;
    }
    return TRAIN_PATCH;
}

static void say_way(struct terminal *terminal, const struct program *program, enum train_way way,
                    const char *why)
{
    bool root_could = program->raised || program->kind == PROGRAM_STATIC;
    terminal_say(terminal, LOG_NOTE,
                 way == TRAIN_UPROBE
                     ? "%s %s: using the kernel's uprobes to see every call, which is slow (--via unwind "
                       "samples instead)"
                 : root_could ? "%s %s: sampling stacks (root can see every call, with --via uprobe)"
                              : "%s %s: sampling stacks",
                 program->path, why);
}

int train_choose(const struct train_options *options, struct terminal *terminal, enum train_way *way,
                 struct fathom_error *err)
{
    if (!options->target.command || options->sampling) {
        *way = TRAIN_UNWIND;
        return 0;
    }
    struct program program;
    const char *why;
    int rc = program_find(options->target.command[0], &program, err);
    if (rc < 0)
        return rc;
    *way = train_way_of(&program, &why);
    if (why)
        say_way(terminal, &program, *way, why);
    return 0;
}
