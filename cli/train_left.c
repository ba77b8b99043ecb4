/* train_left.c - see train_left.h. */
#include "cli/train_left.h"

#include <stdio.h>
#include <string.h>

static const char *const reasons[NOTE_KINDS] = {
    [NOTE_FILTERED] =
        "was not hooked: it runs under a seccomp filter, which may forbid system calls that hooks need",
    [NOTE_FILTERS] = "was hooked only until it installed a seccomp filter",
    [NOTE_STORE] = "was not hooked: it cannot create a file in the directory of the hooks' files",
    [NOTE_ROOM] = "was not hooked: there is no room for it in the directory of the hooks' files",
    [NOTE_LIBC] = "was not hooked: it does not use glibc",
    [NOTE_ENVIRONMENT] =
        "was not hooked: it was started without LD_PRELOAD and FATHOM_PROBE in its environment",
    [NOTE_RAISED] = "was not hooked: it is set-user-ID or has capabilities, so nothing can be loaded into it",
    [NOTE_STATIC] = "was not hooked: it is statically linked, so nothing can be loaded into it",
    [NOTE_FOREIGN] = "was not hooked: it is not an x86-64 program",
    [NOTE_UNREACHABLE] =
        "was not hooked: it has another user or root directory and cannot open the hooks' files",
    [NOTE_BURSTS] = "was counted all the time, not in bursts: its hooks cannot be taken out while it runs",
    [NOTE_SPACE] = "was run with up to 300 MB, plus 4 MB per thread, less address space (ulimit -v)",
};

void train_say_left(struct terminal *terminal, const struct session_notes *notes)
{
    for (size_t i = 0; i < notes->count; i++) {
        const struct session_note *n = &notes->all[i];
        char times[40] = "";
        if (n->count > 1)
            snprintf(times, sizeof times, " (%llu times)", (unsigned long long)n->count);
        terminal_say(terminal, LOG_WARNING, "%s %s%s%s%s", n->path, reasons[n->kind], n->detail ? ": " : "",
                     n->detail ? strerror(n->detail) : "", times);
    }
    if (notes->lost)
        terminal_say(terminal, LOG_WARNING, "%llu more processes were not hooked",
                     (unsigned long long)notes->lost);
}
