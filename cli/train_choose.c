/* train_choose.c - chooses the training method for a command if --via was not given. */
#include <string.h>
#include <unistd.h>

#include "cli/train_ways.h"
#include "image/elf/program.h"

/* The method for a program into which nothing can be loaded. */
static enum train_way without_runtime(struct terminal *terminal, const char *name, const char *why)
{
    bool root = geteuid() == 0;
    terminal_say(terminal, LOG_NOTE,
                 root ? "%s %s: using the kernel's uprobes to see every call, which is slow (--via unwind "
                        "samples instead)"
                      : "%s %s: sampling stacks (root can see every call, with --via uprobe)",
                 name, why);
    return root ? TRAIN_UPROBE : TRAIN_UNWIND;
}

int train_choose(const struct train_options *options, struct terminal *terminal, enum train_way *way,
                 struct fathom_error *err)
{
    if (!options->target.command || options->sampling) {
        *way = TRAIN_UNWIND;
        return 0;
    }
    struct program program;
    const char *name = options->target.command[0];
    int rc = program_find(name, &program, err);
    if (rc < 0)
        return rc;
    if (program.kind == PROGRAM_FOREIGN) {
        terminal_say(terminal, LOG_NOTE, "%s is not a readable x86-64 program: sampling stacks",
                     program.path);
        *way = TRAIN_UNWIND;
    } else if (program.raised) {
        *way = without_runtime(terminal, program.path, "is set-user-ID or has capabilities");
    } else if (program.kind == PROGRAM_STATIC) {
        *way = without_runtime(terminal, program.path, "is statically linked");
    } else if (!strstr(program.loader, "/ld-linux")) { /* musl's and others */
        terminal_say(terminal, LOG_NOTE, "%s does not use glibc: sampling stacks", program.path);
        *way = TRAIN_UNWIND;
    } else {
        *way = TRAIN_PATCH;
    }
    return 0;
}
