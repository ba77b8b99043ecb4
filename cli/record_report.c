/* record_report.c - `fathom record --report`; see record.h. */
#include "cli/exit.h"
#include "cli/interrupt.h"
#include "cli/pager.h"
#include "cli/privilege.h"
#include "cli/record.h"

INTERRUPT_BY(stop_live, fathom_live_stop)

static int run_live(struct fathom_live *live, struct terminal *terminal, struct fathom_error *err)
{
    struct interrupts before;
    interrupt_catch(stop_live, live, &before);
    int rc = fathom_live_run(live, err);
    interrupt_restore(&before);
    terminal_progress_end(terminal);
    return rc;
}

static int print_report(struct fathom_live *live, struct terminal *terminal, struct fathom_error *err)
{
    privilege_only_read(terminal);
    int rc = fathom_live_infer(live, err);
    terminal_progress_end(terminal);
    return rc == 0 ? fathom_live_write(live, stdout, err) : rc;
}

/* The result of recording, and that of reporting. `err` is only valid if `rc` is negative. */
struct step {
    int rc;
    struct fathom_error err;
};

/* The exit code of the failed recording, else of the failed report; the command's own if both succeeded. */
static int code_of(const struct fathom_live *live, bool launched, const struct step steps[2],
                   struct terminal *terminal)
{
    struct fathom_recorder_summary summary;
    for (unsigned i = 0; i < 2; i++)
        if (steps[i].rc < 0)
            terminal_error(terminal, &steps[i].err);
    if (steps[0].rc < 0 || steps[1].rc < 0)
        return exit_code_of(&steps[steps[0].rc < 0 ? 0 : 1].err);
    fathom_live_summary(live, &summary);
    if (summary.nothing && !launched)
        return EXIT_NOTHING;
    int code = summary.status >= 0 ? exit_code_of_status(summary.status) : EXIT_OK;
    return code == EXIT_OK && fathom_live_lacks(live) & FATHOM_REPORT_STALE ? EXIT_BUILD : code;
}

int record_and_report(const struct fathom_recorder_options *o, struct terminal *terminal)
{
    struct fathom_report_options asked;
    struct fathom_live *live = NULL;
    struct step steps[2] = {{0}};
    fathom_report_defaults(&asked);
    asked.profile.no_cache = o->no_cache;
    asked.profile.map = o->map;
    asked.colour = terminal_colour(COLOUR_AUTO, stdout);
    asked.width = terminal_width(stdout);
    asked.verbose = terminal->verbose;
    pager_start(terminal);
    steps[0].rc = fathom_live_open(o, &asked, &terminal->listener, &live, &steps[0].err);
    if (steps[0].rc == 0) {
        privilege_only_observe(&(struct privilege_observing){.launched = o->target.command}, terminal);
        steps[0].rc = run_live(live, terminal, &steps[0].err);
        if (fathom_live_usable(live))
            steps[1].rc = print_report(live, terminal, &steps[1].err);
    }
    int code = code_of(live, o->target.command, steps, terminal);
    fathom_live_close(live);
    return code;
}
