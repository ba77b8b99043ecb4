/* own.h - the thread in which a live recording of the caller itself runs (internal to record/). */
#ifndef FATHOM_API_RECORD_OWN_H
#define FATHOM_API_RECORD_OWN_H

#include "api/fathom/live.h"

struct own;

/* Waits for the thread, whose run must have been told to end. NULL is allowed. */
void own_free(struct own *own);
/* The place where a live recording keeps its thread, which it frees when it is closed. */
struct own **live_own(struct fathom_live *live);

#endif
