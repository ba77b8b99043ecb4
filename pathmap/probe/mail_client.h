/*
 * mail_client.h - the runtime's side of the mailbox (mail.h): requests an image's plan from `fathom train`.
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

/* Maps the mailbox of a session directory. NULL: there is none, or its trainer has died, so this program is
 * not being trained. */
struct mail *mail_open(const char *directory);
/* Whether the trainer has ended, or died. */
bool mail_is_over(const struct mail *mail);
/* Waits for the answer, MAIL_PATIENCE seconds at most. path: as in /proc/self/maps, at most 4095 bytes.
 * false: there was none (as the answer also says), and asking again is pointless. */
bool mail_ask(struct mail *mail, const char *path, struct mail_answer *out);

#endif
