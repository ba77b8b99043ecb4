/*
 * phase_control.h - requests to a running recording about events that are on only in some intervals (phase_switch.h): from signal handlers
 * and other threads (fathom_recorder_control()), and through a socket (control_socket.h). All files of a recording share one.
 */
#ifndef FATHOM_API_RECORD_PHASE_CONTROL_H
#define FATHOM_API_RECORD_PHASE_CONTROL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/fathom/record.h"

struct phase_control {
    atomic_int held;  /* FATHOM_CONTROL_AUTO, _ON or _OFF */
    atomic_bool once; /* on in the next interval */
    /* The rest is only for the recording thread. */
    const void
        *of; /* the file that handles requests: after a switch, records still come for the previous one */
    bool on;
    uint64_t intervals, profiled; /* number of ended intervals */
};

static inline void phase_control_ask(struct phase_control *control, enum fathom_control what)
{
    if (what == FATHOM_CONTROL_ONCE)
        atomic_store(&control->once, true);
    else
        atomic_store(&control->held, (int)what);
}

#endif
