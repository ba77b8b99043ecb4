/*
 * call_log.h - the calls of a thread in order, as the probe runtime logs them on request (`log_calls` in struct
 * recording).
 *
 * DIR/calls-TID-N, one for each thread's state (which a new thread takes over when its owner has ended), mapped
 * shared and written by plain stores: after kill -9 it has every call up to then. Its nodes are those of the
 * process's store (store.h). The file has its full size from the start, as a hole. An event of zeros is none: its
 * place was claimed but never written, or is behind the last one.
 */
#ifndef FATHOM_PATHMAP_WIRE_CALL_LOG_H
#define FATHOM_PATHMAP_WIRE_CALL_LOG_H

#include <stdint.h>

#define CALL_LOG_PREFIX "calls-"
#define CALL_LOG_MAGIC  0x474c5446u /* "FTLG" */

#define CALL_LOG_SIZE     (1ull << 32) /* limit of a file's bytes: there may be thousands of threads */
#define CALL_LOG_SIZE_FEW (1ull << 25) /* the same if the address space is limited */
#define CALL_LOG_STEP     (1u << 20)   /* bytes for which disk space is allocated at a time */

struct call_log_header {
    uint32_t magic, reserved;
    uint64_t store; /* `token` of its process's store */
    uint8_t rest[4096 - 16];
};
_Static_assert(sizeof(struct call_log_header) == 4096, "one page");

struct call_log_event {
    uint32_t node;  /* of the function that was entered */
    uint32_t ticks; /* of the time-stamp counter since the previous event, at most UINT32_MAX; first: 0 */
};
_Static_assert(sizeof(struct call_log_event) == 8, "no padding");

#endif
