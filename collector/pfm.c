/* pfm.c - event names by libpfm4; see pfm.h. */
#include "collector/pfm.h"

#include <perfmon/pfmlib_perf_event.h>

#include <errno.h>
#include <string.h>

int pfm_encode(const char *name, struct pfm_code *code, const char **reason)
{
    int rc = pfm_initialize(); /* idempotent */
    if (rc != PFM_SUCCESS) {
        *reason = pfm_strerror(rc);
        return -ENOENT;
    }
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    pfm_perf_encode_arg_t arg;
    memset(&arg, 0, sizeof arg);
    arg.attr = &attr;
    arg.size = sizeof arg;
    rc = pfm_get_os_event_encoding(name, PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg);
    if (rc != PFM_SUCCESS) {
        *reason = pfm_strerror(rc);
        return rc == PFM_ERR_NOTFOUND || rc == PFM_ERR_NOTSUPP || rc == PFM_ERR_NOINIT ? -ENOENT : -EINVAL;
    }
    *code = (struct pfm_code){.type = attr.type,
                              .config = attr.config,
                              .config1 = attr.config1,
                              .config2 = attr.config2,
                              .period = attr.sample_period,
                              .freq = attr.freq,
                              .precise = attr.precise_ip};
    return 0;
}
