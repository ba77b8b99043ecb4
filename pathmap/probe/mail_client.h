/*
 * mail_client.h - the runtime's side of the mailbox (mail.h): asks `fathom train` for an image's plan.
 */
#ifndef FATHOM_PATHMAP_PROBE_MAIL_CLIENT_H
#define FATHOM_PATHMAP_PROBE_MAIL_CLIENT_H

#include <stdbool.h>

#include "pathmap/wire/mail.h"

struct mail_answer {
    uint32_t status; /* enum mail_status */
    char plan[64];   /* MAIL_PLAN: a file name in the session directory */
    char reason[256];
};

/* Maps the mailbox of a session directory. NULL: there is none, or its trainer has died, so nobody is
 * training this program. */
struct mail *mail_open(const char *directory);
/* Whether the trainer has ended, or died. */
bool mail_is_over(const struct mail *mail);
/* Waits for the answer, MAIL_PATIENCE seconds at most. path: as in /proc/self/maps, at most 4095 bytes.
 * false: there was none (the answer says so, too), and there is no point in asking again. */
bool mail_ask(struct mail *mail, const char *path, struct mail_answer *out);

#endif
