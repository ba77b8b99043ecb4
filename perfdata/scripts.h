/*
 * scripts.h - what interpreters run in threads, from script records (script_record.h): each function with the line that runs or
 * calls.
 *
 * Equal frames with equal callers are one struct script_frame, even in different processes. They live as long as the struct
 * scripts.
 */
#ifndef FATHOM_PERFDATA_SCRIPTS_H
#define FATHOM_PERFDATA_SCRIPTS_H

#include "base/error.h"
#include "perfdata/record.h"
#include "perfdata/script_record.h"

struct script_code {
    const char *name; /* qualified; UTF-8; "": unknown */
    /* as the runtime has it: mostly its path; "": unknown. A long one lacks its beginning */
    const char *file;
    uint32_t line;     /* the first line */
    uint32_t language; /* enum script_language */
};

struct script_frame;

/* What was read of a thread at a moment that is not a sample's (SCRIPT_POLLED). */
struct script_reading {
    const struct script_frame *innermost;
    /* NULL: there is none; `after` is set once that one has come */
    const struct script_reading *before, *after;
    uint32_t entered; /* how often machine code called the interpreter's loop */
};

struct script_frame {
    const struct script_frame *outer; /* its caller; NULL: it is the outermost known one */
    const struct script_code *code;
    uint32_t line;
    bool entered; /* machine code called the interpreter's loop, which began with this function */
    bool cut;     /* for the outermost: it has callers that are unknown */
    uint16_t zero;
    /* from scripts_of(): the last reading, of which this is a copy; NULL: it belongs to the sample itself */
    const struct script_reading *reading;
};

struct scripts;

struct scripts *scripts_new(void);          /* NULL: out of memory */
void scripts_free(struct scripts *scripts); /* NULL is allowed */
/* Forgets what threads run: the recording is read again. */
void scripts_restart(struct scripts *scripts);
/* Takes a script record. 1; 0: the sample's raw data is not one; -ENOMEM. Damaged ones are counted, and their thread's chain
 * becomes unknown. */
int scripts_take(struct scripts *scripts, const struct sample *sample, struct fathom_error *err);
/* Drops what was announced for a thread: it is another one, or has another program. */
void scripts_forget(struct scripts *scripts, uint32_t tid);
/* The innermost function of a thread, as announced last; NULL: it runs none. &script_not_read: it runs some that are unknown. */
const struct script_frame *scripts_of(const struct scripts *scripts, uint32_t tid);
extern const struct script_frame script_not_read;
uint64_t scripts_damaged(const struct scripts *scripts);
/* Number of chains that were read at other moments than the samples'. */
uint64_t scripts_readings(const struct scripts *scripts);
/* Frees the readings so far, and the copies that scripts_of() returned, for callers that run for hours. 0 or -ENOMEM. */
int scripts_forget_readings(struct scripts *scripts);

#endif
