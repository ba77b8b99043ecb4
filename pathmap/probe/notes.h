/*
 * notes.h - tells the trainer what is not trained and why (struct mail_note). Makes no system call, so that
 * no filter can object.
 */
#ifndef FATHOM_PATHMAP_PROBE_NOTES_H
#define FATHOM_PATHMAP_PROBE_NOTES_H

#include "pathmap/wire/mail.h"

/* The mailbox, which must stay in place; the program is named as it was executed. */
void notes_start(struct mail *mail);
/* path: NULL: this program. Does nothing before notes_start(). */
void note(enum mail_note_kind kind, int detail, const char *path);

#endif
