/* recover.h - recovers the maps of trainings that were killed, from the stores that their processes left. */
#ifndef FATHOM_API_MAP_RECOVER_H
#define FATHOM_API_MAP_RECOVER_H

#include "base/log.h"

/* Recovers each abandoned training found where new ones are made, into a file of its own. After a failure, which is reported, its directory
 * stays. Directories of abandoned recordings of calls are removed. */
void recover_abandoned(const struct log *log);

#endif
