/*
 * recover.h - recovers the maps of trainings that were killed, from the stores that their processes left.
 */
#ifndef FATHOM_API_MAP_RECOVER_H
#define FATHOM_API_MAP_RECOVER_H

#include "base/log.h"

/* Recovers every abandoned directory where new ones are made, each into its own file. A failure is reported
 * and leaves the directory in place. Those of recordings of calls are removed. */
void recover_abandoned(const struct log *log);

#endif
