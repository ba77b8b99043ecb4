/* session_notes.c - see session_notes.h. The mailbox is hostile: texts in it are bounded and made safe. */
#include "pathmap/train/session_notes.h"

#include <stdio.h>
#include <string.h>

static void add_note(struct session_notes *notes, const struct session_note *note)
{
    for (size_t i = 0; i < notes->count; i++) {
        struct session_note *known = &notes->all[i];
        if (known->kind == note->kind && known->detail == note->detail &&
            strcmp(known->path, note->path) == 0) {
            known->count++;
            return;
        }
    }
    if (notes->count == SESSION_NOTES_MAX)
        notes->lost++;
    else
        notes->all[notes->count++] = *note;
}

void session_notes_take(struct session_notes *notes, struct mail *mail)
{
    for (size_t i = 0; i < MAIL_NOTES; i++) {
        struct mail_note *from = &mail->notes[i];
        if (__atomic_load_n(&from->state, __ATOMIC_ACQUIRE) != 2)
            continue;
        struct session_note note = {
            .kind = (enum mail_note_kind)from->kind, .detail = from->detail, .count = 1};
        memcpy(note.path, from->path, sizeof note.path - 1);
        __atomic_store_n(&from->state, 0, __ATOMIC_RELEASE);
        if ((unsigned)note.kind < NOTE_KINDS)
            add_note(notes, &note);
    }
    notes->lost += __atomic_exchange_n(&mail->notes_lost, 0, __ATOMIC_RELAXED);
}

uint32_t session_filters(void)
{
    char line[256];
    unsigned filters = 0;
    FILE *status = fopen("/proc/self/status", "re");
    while (status && fgets(line, sizeof line, status) && sscanf(line, "Seccomp_filters: %u", &filters) != 1)
        continue;
    if (status)
        fclose(status);
    return filters;
}
