#include "api/hooks/hooks.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "image/name.h"

#define LEFT_OUT_NAMED 10 /* functions named per image, unless --verbose names all */

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

void hooks_say_unhooked(const struct host *host, const struct session_notes *notes)
{
    for (size_t i = 0; i < notes->count; i++) {
        const struct session_note *n = &notes->all[i];
        char times[40] = "";
        if (n->count > 1)
            snprintf(times, sizeof times, " (%llu times)", (unsigned long long)n->count);
        log_write(&host->log, LOG_WARNING, "%s %s%s%s%s", n->path, reasons[n->kind], n->detail ? ": " : "",
                  n->detail ? strerror(n->detail) : "", times);
    }
    if (notes->lost)
        log_write(&host->log, LOG_WARNING, "%llu more processes were not hooked",
                  (unsigned long long)notes->lost);
}

/* Names the functions that have no hook: some of them, or all with --verbose. */
static void say_left_out(const struct host *host, const struct session_image *image)
{
    uint32_t count = image->plan.left_out_count;
    for (uint32_t i = 0; i < count; i++) {
        const struct plan_left_out *left = &image->plan.left_out[i];
        char name[1024];
        name_format(image->path, left->name, left->function, name, sizeof name);
        log_write(&host->log, i < LEFT_OUT_NAMED ? LOG_NOTE : LOG_DEBUG, "%s is left out: %s", name,
                  left->reason);
    }
    if (count > LEFT_OUT_NAMED && !host_is_verbose(host))
        log_write(&host->log, LOG_NOTE, "%s: %u more are left out (--verbose names them all)", image->path,
                  count - LEFT_OUT_NAMED);
}

/* Returns whether there was anything to report. Images that training saw only on stacks have no hooks, and no reason for that. */
static bool say_image(const struct host *host, const struct harvest_image *image)
{
    const struct store_summary *h = &image->hooks;
    uint32_t hooked = h->sleds + h->detours + h->pads + h->breakpoints;
    if (hooked)
        log_write(
            &host->log, LOG_NOTE,
            "%s: %u functions hooked (%u sleds, %u detours, %u short jumps, %u breakpoints), %u left out",
            image->path, hooked, h->sleds, h->detours, h->pads, h->breakpoints, h->left_out + h->failed);
    if (!h->reason[0])
        return hooked || h->left_out;
    if (hooked || h->failed)
        log_write(&host->log, LOG_WARNING,
                  hooked ? "%s: %u functions are not hooked: %s" : "%s: none of %u functions is hooked: %s",
                  image->path, h->failed, h->reason);
    else
        log_write(&host->log, LOG_WARNING, "%s is not hooked: %s", image->path, h->reason);
    return true;
}

void hooks_say(const struct host *host, const struct harvest *h, const struct session *session, bool chosen)
{
    bool said = false;
    for (size_t i = 0; i < h->image_count; i++)
        said |= say_image(host, &h->images[i]);
    if (!said && chosen)
        log_write(&host->log, LOG_WARNING, "no function was hooked: no file name matches --image");
    for (size_t i = 0; i < session_image_count(session); i++)
        say_left_out(host, session_image(session, i));
}

enum fathom_train_way hooks_way(const struct program *program, const char **why)
{
    enum fathom_train_way without = geteuid() == 0 ? FATHOM_TRAIN_UPROBE : FATHOM_TRAIN_UNWIND;
    *why = NULL;
    if (program->kind == PROGRAM_FOREIGN) {
        *why = "is not a readable x86-64 program";
        return FATHOM_TRAIN_UNWIND;
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
        return FATHOM_TRAIN_UNWIND;
    }
    return FATHOM_TRAIN_PATCH;
}

enum fathom_train_way fathom_train_choose(const char *command, const char **why)
{
    struct program program;
    *why = NULL;
    return program_find(command, &program, NULL) == 0 ? hooks_way(&program, why) : FATHOM_TRAIN_PATCH;
}

int hooks_none(const char *command, const struct session_notes *notes, bool chosen, struct fathom_error *err)
{
    const char *why;
    fathom_train_choose(command, &why);
    if (why)
        return error_set(err, ECHILD,
                         "no calls of %s were seen: it %s, so that none of its functions has a hook", command,
                         why);
    return error_set(err, ECHILD, "no calls of %s were seen: %s", command,
                     notes->count || notes->lost ? "it was not hooked, for the reason above"
                     : chosen ? "no file name matches --image, or none of its functions has a hook"
                              : "none of its functions has a hook");
}

void hooks_say_losses(const struct host *host, const struct harvest *h, const char *directory)
{
    uint64_t dropped = h->dropped + h->dropped_depth + h->dropped_stack;
    if (dropped)
        log_write(&host->log, LOG_WARNING,
                  "%llu calls could not be kept (%llu: no room%s%s; %llu: too deep; %llu: an unknown stack)",
                  (unsigned long long)dropped, (unsigned long long)h->dropped, h->failure ? ", " : "",
                  h->failure ? strerror(h->failure) : "", (unsigned long long)h->dropped_depth,
                  (unsigned long long)h->dropped_stack);
    if (h->unread > 1)
        log_write(&host->log, LOG_WARNING,
                  "the same happened in %llu processes in all (is there room in %s?)",
                  (unsigned long long)h->unread, directory);
    if (h->unsound)
        log_write(&host->log, LOG_WARNING, "%llu contexts of a damaged store are left out",
                  (unsigned long long)h->unsound);
}
