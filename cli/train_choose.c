/* train_choose.c - the way of training for a command where none was asked for. */
#include <string.h>
#include <unistd.h>

#include "cli/train_ways.h"
#include "image/elf/program.h"

/* The way for a program into which nothing can be loaded. */
static enum train_way without_runtime(struct terminal *terminal, const char *name, const char *why)
{
    bool root = geteuid() == 0;
    terminal_say(
        terminal, LOG_NOTE,
        root ? "%s %s: every call is seen by the kernel's uprobes, which is slow (--via unwind samples "
               "instead)"
             : "%s %s: stacks are sampled (root can see every call, --via uprobe)",
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
        terminal_say(terminal, LOG_NOTE, "%s is no x86-64 program that can be read: stacks are sampled",
                     program.path);
        *way = TRAIN_UNWIND;
    } else if (program.raised) {
        *way = without_runtime(terminal, program.path, "runs with rights of its own");
    } else if (program.kind == PROGRAM_STATIC) {
        *way = without_runtime(terminal, program.path, "is linked statically");
    } else if (!strstr(program.loader, "/ld-linux")) { /* musl's and others */
        terminal_say(terminal, LOG_NOTE, "%s does not run on glibc: stacks are sampled", program.path);
        *way = TRAIN_UNWIND;
    } else {
        *way = TRAIN_PATCH;
    }
    return 0;
}
