/* hooks.c - see hooks.h. */
#include "cli/hooks.h"

#include <errno.h>
#include <string.h>

#include "cli/terminal.h"
#include "cli/train_ways.h"
#include "image/name.h"

#define LEFT_OUT_NAMED 10 /* functions named per image, unless --verbose names all */

/* Names the functions that have no hook: some of them, or all with --verbose. */
static void say_left_out(struct terminal *terminal, const struct session_image *image)
{
    uint32_t count = image->plan.left_out_count;
    for (uint32_t i = 0; i < count; i++) {
        const struct plan_left_out *left = &image->plan.left_out[i];
        char name[1024];
        name_format(image->path, left->name, left->function, name, sizeof name);
        terminal_say(terminal, i < LEFT_OUT_NAMED ? LOG_NOTE : LOG_DEBUG, "%s is left out: %s", name,
                     left->reason);
    }
    if (count > LEFT_OUT_NAMED && !terminal->verbose)
        terminal_say(terminal, LOG_NOTE, "%s: %u more are left out (--verbose names them all)", image->path,
                     count - LEFT_OUT_NAMED);
}

static void say_image(struct terminal *terminal, const struct harvest_image *image)
{
    const struct store_summary *h = &image->hooks;
    uint32_t hooked = h->sleds + h->detours + h->pads + h->breakpoints;
    if (hooked)
        terminal_say(
            terminal, LOG_NOTE,
            "%s: %u functions hooked (%u sleds, %u detours, %u short jumps, %u breakpoints), %u left out",
            image->path, hooked, h->sleds, h->detours, h->pads, h->breakpoints, h->left_out + h->failed);
    if (!h->reason[0])
        return;
    if (hooked || h->failed)
        terminal_say(terminal, LOG_WARNING,
                     hooked ? "%s: %u functions are not hooked: %s"
                            : "%s: none of %u functions is hooked: %s",
                     image->path, h->failed, h->reason);
    else
        terminal_say(terminal, LOG_WARNING, "%s is not hooked: %s", image->path, h->reason);
}

void hooks_say(struct terminal *terminal, const struct harvest *h, const struct session *session, bool chosen)
{
    for (size_t i = 0; i < h->image_count; i++)
        say_image(terminal, &h->images[i]);
    if (h->image_count == 0 && chosen)
        terminal_say(terminal, LOG_WARNING, "no function was hooked: no file name matches --image");
    for (size_t i = 0; i < session_image_count(session); i++)
        say_left_out(terminal, session_image(session, i));
}

int hooks_none(const char *command, const struct session_notes *notes, bool chosen, struct fathom_error *err)
{
    struct program program;
    const char *why = NULL;
    if (program_find(command, &program, NULL) == 0)
        train_way_of(&program, &why);
    if (why)
        return error_set(err, ECHILD,
                         "no calls of %s were seen: it %s, so that none of its functions has a hook", command,
                         why);
    return error_set(err, ECHILD, "no calls of %s were seen: %s", command,
                     notes->count || notes->lost ? "it was not hooked, for the reason above"
                     : chosen ? "no file name matches --image, or none of its functions has a hook"
                              : "none of its functions has a hook");
}

void hooks_say_losses(struct terminal *terminal, const struct harvest *h, const char *directory)
{
    uint64_t dropped = h->dropped + h->dropped_depth + h->dropped_stack;
    if (dropped)
        terminal_say(
            terminal, LOG_WARNING,
            "%llu calls could not be kept (%llu: no room%s%s; %llu: too deep; %llu: an unknown stack)",
            (unsigned long long)dropped, (unsigned long long)h->dropped, h->failure ? ", " : "",
            h->failure ? strerror(h->failure) : "", (unsigned long long)h->dropped_depth,
            (unsigned long long)h->dropped_stack);
    if (h->unread > 1)
        terminal_say(terminal, LOG_WARNING,
                     "the same happened in %llu processes in all (is there room in %s?)",
                     (unsigned long long)h->unread, directory);
    if (h->unsound)
        terminal_say(terminal, LOG_WARNING, "%llu contexts of a damaged store are left out",
                     (unsigned long long)h->unsound);
}
