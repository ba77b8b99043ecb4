/* session_notes.h - sums up what the processes of a training reported on programs that are not trained
 * (mail.h). */
#ifndef FATHOM_PATHMAP_TRAIN_SESSION_NOTES_H
#define FATHOM_PATHMAP_TRAIN_SESSION_NOTES_H

#include <stddef.h>
#include <stdint.h>

#include "pathmap/wire/mail.h"

#define SESSION_NOTES_MAX 256

struct session_note {
    enum mail_note_kind kind;
    int detail;
    char path[sizeof((struct mail_note *)0)->path];
    uint64_t count; /* of processes, or executions */
};

struct session_notes {
    struct session_note all[SESSION_NOTES_MAX];
    size_t count;
    uint64_t lost; /* those without room */
};

/* Takes the notes from the mailbox, making room there. */
void session_notes_take(struct session_notes *notes, struct mail *mail);
/* The seccomp filters of this process, for struct mail. */
uint32_t session_filters(void);

#endif
