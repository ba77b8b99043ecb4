/* train_choose.c - chooses the training method for a command if --via was not given. */
#include <string.h>
#include <unistd.h>

#include "api/hooks/hooks.h"
#include "cli/train_ways.h"

static void say_way(struct terminal *terminal, const struct program *program, enum fathom_train_way way,
                    const char *why)
{
    bool root_could = program->raised || program->kind == PROGRAM_STATIC;
    terminal_say(terminal, LOG_NOTE,
                 way == FATHOM_TRAIN_UPROBE
                     ? "%s %s: using the kernel's uprobes to see every call, which is slow (--via unwind "
                       "samples instead)"
                 : root_could ? "%s %s: sampling stacks (root can see every call, with --via uprobe)"
                              : "%s %s: sampling stacks",
                 program->path, why);
}

int train_choose(const struct train_options *options, struct terminal *terminal, enum fathom_train_way *way,
                 struct fathom_error *err)
{
    if (!options->target.command || options->sampling) {
        *way = FATHOM_TRAIN_UNWIND;
        return 0;
    }
    struct program program;
    const char *why;
    int rc = program_find(options->target.command[0], &program, err);
    if (rc < 0)
        return rc;
    *way = hooks_way(&program, &why);
    if (why)
        say_way(terminal, &program, *way, why);
    return 0;
}
