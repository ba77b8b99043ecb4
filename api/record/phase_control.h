/*
 * phase_control.h - what is asked for, while a recording runs, of events that are on in some intervals only (phase_switch.h): by signal handlers
 * and other threads (fathom_recorder_control()) and through a socket (control_socket.h). One for all files of a recording.
 */
#ifndef FATHOM_API_RECORD_PHASE_CONTROL_H
#define FATHOM_API_RECORD_PHASE_CONTROL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/fathom/record.h"

struct phase_control {
    atomic_int held;  /* FATHOM_CONTROL_AUTO, _ON or _OFF */
    atomic_bool once; /* the next interval */
    /* The rest is of the thread that records. */
    const void *
        of; /* the file that is to do it: where one takes over, the one before still has some records to come */
    bool on;
    uint64_t intervals, profiled; /* that have ended */
};

static inline void phase_control_ask(struct phase_control *control, enum fathom_control what)
{
    if (what == FATHOM_CONTROL_ONCE)
        atomic_store(&control->once, true);
    else
        atomic_store(&control->held, (int)what);
}

#endif
