/* notes.c - see notes.h. */
#include "pathmap/probe/notes.h"

#include <sys/auxv.h>

#include "base/raw.h"

static struct mail *mail;
static char program[sizeof((struct mail_note *)0)->path];

void notes_start(struct mail *to)
{
    const char *name = (const char *)getauxval(AT_EXECFN);
    raw_append(program, sizeof program, 0, name ? name : "a program");
    mail = to;
}

static bool is_taken(struct mail_note *n)
{
    uint32_t none = 0;
    return __atomic_compare_exchange_n(&n->state, &none, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

void note(enum mail_note_kind kind, int detail, const char *path)
{
    if (!mail)
        return;
    for (uint32_t i = 0; i < MAIL_NOTES; i++) {
        struct mail_note *n = &mail->notes[i];
        if (!is_taken(n))
            continue;
        n->kind = kind;
        n->detail = detail;
        raw_append(n->path, sizeof n->path, 0, path ? path : program);
        __atomic_store_n(&n->state, 2, __ATOMIC_RELEASE);
        return;
    }
    __atomic_fetch_add(&mail->notes_lost, 1, __ATOMIC_RELAXED);
}
