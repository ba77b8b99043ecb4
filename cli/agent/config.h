/* config.h - the agent's configuration: lines "NAME VALUE", and comments after '#'. fathom-agent(1) lists the names. */
#ifndef FATHOM_CLI_AGENT_CONFIG_H
#define FATHOM_CLI_AGENT_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define AGENT_TEXT 512 /* bytes of a value */

struct agent_config {
    char store[AGENT_TEXT];       /* URL */
    char credentials[AGENT_TEXT]; /* "": none */
    char spool[AGENT_TEXT];       /* directory */
    char host[AGENT_TEXT];        /* "": the machine's name */
    char events[AGENT_TEXT];      /* as for `fathom record -e` */
    char listen[AGENT_TEXT];      /* "127.0.0.1:PORT" for metrics; "": none */
    uint64_t frequency;           /* Hz */
    uint64_t phase_ms;            /* as for `fathom record --phases`; 0: all events are always on */
    char phases_policy[AGENT_TEXT], trigger[AGENT_TEXT], control[AGENT_TEXT]; /* likewise; "": not given */
    uint64_t part_seconds; /* length of a recording in the spool */
    uint64_t spool_bytes;  /* maximum size on disk */
};

/* Also checks that the machine has the events, and that the store's kind and credentials are valid. Errors: of the file, and of
 * fathom_recorder_check() and fathom_store_check(); -EINVAL: "FILE:LINE: SENTENCE"; -ENOMSG, -EBADMSG: not a regular file, or more than
 * 1 MB. */
int agent_config_read(const char *path, struct agent_config *out, struct fathom_error *err);
/* Whether both record in the same way, so that the recorder need not be restarted. */
bool agent_config_records_alike(const struct agent_config *a, const struct agent_config *b);

#endif
