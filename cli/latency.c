#include "cli/latency.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool latencies_take(struct terminal *terminal, const struct option_row *row, char *text, void *value)
{
    struct latencies *l = value;
    if (l->count == sizeof l->functions / sizeof *l->functions)
        return terminal_wrong(terminal, "--%s: at most %u at a time, of which each can be a pattern",
                              row->name, l->count),
               false;
    l->functions[l->count++] = text;
    return true;
}

/* Whether it has the name of a file before a colon; "::" is from C++. */
static bool names_file(const char *function)
{
    const char *colon = strchr(function, ':');
    return colon && colon[1] != ':';
}

/* Finds the program's file, for events of functions. false: there is not exactly one. */
static bool find_program(const struct fathom_target *target, char *out, size_t size)
{
    const struct fathom_pids *pids = target->pids.count ? &target->pids : &target->tids;
    struct stat first = {0}, file;
    if (target->command)
        return snprintf(out, size, "%s", target->command[0]) < (int)size;
    for (size_t i = 0; i < pids->count; i++) {
        snprintf(out, size, "/proc/%d/exe", (int)pids->pids[i]);
        if (stat(out, &file) != 0)
            break; /* it has ended, or is another user's: attaching to it will report that */
        first = i ? first : file;
        if (file.st_dev != first.st_dev || file.st_ino != first.st_ino)
            return false;
    }
    return pids->count > 0;
}

int latencies_complete(const struct latencies *latencies, struct fathom_target *target,
                       struct terminal *terminal)
{
    char program[4096];
    for (unsigned i = latencies->count; i-- > 0;) {
        const char *function = latencies->functions[i], *more = target->event;
        const bool named = names_file(function);
        char *event;
        if (!named && !find_program(target, program, sizeof program))
            return option_usage(terminal,
                                "--latency %s: several programs may be recorded: give the function's file, "
                                "too, as in ./program:%s",
                                function, function);
        if (asprintf(&event, "latency:%s%s%s%s%s", named ? "" : program, named ? "" : ":", function,
                     more ? "," : "", more ? more : "") < 0)
            return option_usage(terminal, "--latency: out of memory");
        free((char *)(uintptr_t)more);
        target->event = event;
    }
    return -1;
}
