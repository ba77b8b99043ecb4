/* pfm.c - event names from libpfm4; see pfm.h. */
#include "collector/events/pfm.h"

#include <perfmon/pfmlib_perf_event.h>

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static int begun;

static void initialise_pfm(void)
{
    begun = pfm_initialize();
}

int pfm_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, initialise_pfm);
    return begun;
}

int pfm_encode(const char *name, struct pfm_code *code, const char **reason)
{
    int rc = pfm_begin();
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

/* For perf's own events, the description is mostly just the kernel's name for them. */
static const char *describe_event(const char *text)
{
    return text && strncmp(text, "PERF_COUNT_", 11) != 0 ? text : "";
}

static void see_umasks(int index, struct pfm_event event, int count,
                       void (*see)(void *context, const struct pfm_event *event), void *context)
{
    for (int i = 0; i < count; i++) {
        pfm_event_attr_info_t info = {.size = sizeof info};
        if (pfm_get_event_attr_info(index, i, PFM_OS_PERF_EVENT_EXT, &info) != PFM_SUCCESS ||
            info.type != PFM_ATTR_UMASK)
            continue;
        event.umask = info.name;
        event.description = describe_event(info.desc);
        event.precise = info.is_precise;
        see(context, &event);
    }
}

void pfm_events(void (*see)(void *context, const struct pfm_event *event), void *context)
{
    if (pfm_begin() != PFM_SUCCESS)
        return;
    for (int pmu = PFM_PMU_NONE; pmu < PFM_PMU_MAX; pmu++) {
        pfm_pmu_info_t unit = {.size = sizeof unit};
        if (pmu == PFM_PMU_PERF_EVENT_RAW || pfm_get_pmu_info((pfm_pmu_t)pmu, &unit) != PFM_SUCCESS ||
            !unit.is_present)
            continue;
        for (int i = unit.first_event; i != -1; i = pfm_get_event_next(i)) {
            pfm_event_info_t info = {.size = sizeof info};
            if (pfm_get_event_info(i, PFM_OS_PERF_EVENT_EXT, &info) != PFM_SUCCESS)
                continue;
            char name[64];
            snprintf(name, sizeof name, "%s", info.name);
            for (char *c = name; *c && pmu == PFM_PMU_PERF_EVENT; c++)
                *c = (char)tolower((unsigned char)*c);
            struct pfm_event event = {.pmu = pmu == PFM_PMU_PERF_EVENT ? "events of most CPUs" : unit.desc,
                                      .generic = pmu == PFM_PMU_PERF_EVENT,
                                      .name = pmu == PFM_PMU_PERF_EVENT ? name : info.name,
                                      .description = describe_event(info.desc),
                                      .precise = info.is_precise};
            see(context, &event);
            see_umasks(i, event, info.nattrs, see, context);
        }
    }
}
