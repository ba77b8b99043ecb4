/*
 * scripts.h - what interpreters run in threads, by script records (script_record.h): each function with the line that runs or calls.
 *
 * Equal frames with equal callers are one struct script_frame, whichever process they are of. They live as long as the struct scripts.
 */
#ifndef FATHOM_PERFDATA_SCRIPTS_H
#define FATHOM_PERFDATA_SCRIPTS_H

#include "base/error.h"
#include "perfdata/record.h"
#include "perfdata/script_record.h"

struct script_code {
    const char *name; /* qualified; UTF-8; "": not known */
    const char *
        file; /* as the runtime has it: its path, mostly; "": not known. Without its beginning if it is long */
    uint32_t line;     /* the first */
    uint32_t language; /* enum script_language */
};

struct script_frame;

/* What was read of a thread at an instant that is not a sample's (SCRIPT_POLLED). */
struct script_reading {
    const struct script_frame *innermost;
    const struct script_reading *before, *after; /* NULL: there was none; after: once it has come */
    uint32_t entered;                            /* how often machine code called the interpreter's loop */
};

struct script_frame {
    const struct script_frame *outer; /* its caller; NULL: it is the outermost that is known */
    const struct script_code *code;
    uint32_t line;
    bool entered; /* machine code called the interpreter's loop, which began with this one */
    bool cut;     /* of the outermost: it has callers that are not known */
    uint16_t zero;
    const struct script_reading *
        reading; /* of scripts_of(): the last one, of which this is a copy; NULL: it is of the sample itself */
};

struct scripts;

struct scripts *scripts_new(void);          /* NULL: out of memory */
void scripts_free(struct scripts *scripts); /* NULL is allowed */
/* No thread is known to run anything: the recording is read again. */
void scripts_restart(struct scripts *scripts);
/* Takes a script record. 1; 0: the sample's raw data is none; -ENOMEM. A damaged one is counted, and its thread's chain is not known. */
int scripts_take(struct scripts *scripts, const struct sample *sample, struct fathom_error *err);
/* What was announced of a thread does not count any more: it is another one, or has another program. */
void scripts_forget(struct scripts *scripts, uint32_t tid);
/* The innermost function of a thread, by what was announced last; NULL: it runs none. &script_not_read: it runs some that are not known. */
const struct script_frame *scripts_of(const struct scripts *scripts, uint32_t tid);
extern const struct script_frame script_not_read;
uint64_t scripts_damaged(const struct scripts *scripts);
/* How many chains are readings at other instants than the samples'. */
uint64_t scripts_readings(const struct scripts *scripts);
/* Frees the readings so far, with the copies that scripts_of() returned: for who has no more use for them and goes on for hours. 0 or -ENOMEM. */
int scripts_forget_readings(struct scripts *scripts);

#endif
