/*
 * notes.h - tells the trainer what is not trained and why (struct mail_note). Memory accesses alone: no
 * system call is made, so that a filter cannot mind.
 */
#ifndef FATHOM_PATHMAP_PROBE_NOTES_H
#define FATHOM_PATHMAP_PROBE_NOTES_H

#include "pathmap/wire/mail.h"

/* The mailbox, which stays; the program is named by what it was executed as. */
void notes_start(struct mail *mail);
/* path: NULL: this program. Does nothing before notes_start(). */
void note(enum mail_note_kind kind, int detail, const char *path);

#endif
