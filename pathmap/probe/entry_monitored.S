/* entry_monitored.S - entry.S for recordings in which not all nodes have a weight (counters.c). */
#define MONITORED
#include "pathmap/probe/entry.S"
