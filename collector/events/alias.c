/* alias.c - see alias.h. */
#include "collector/events/alias.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/events/pebs.h"
#include "collector/events/pfm.h"
#include "collector/events/pfm_cpu.h"
#include "collector/events/sysfs_event.h"
#include "perfdata/software.h"

enum kind { CACHE_MISS, L2_MISS, L1_MISS, LOAD_LATENCY, DTLB_MISS, BRANCH_MISS, CYCLES, PAGE_FAULT };

/* In the order of `kind`. The periods are those that Intel suggests with its events (perfmon, ADL and SKX). */
const struct alias aliases[] = {
    {"cache-miss", NULL, "loads from beyond the last cache (L3)", 50021},
    {"l2-miss", NULL, "loads that missed the L2 cache", 100021},
    {"l1-miss", NULL, "loads that missed the L1 cache", 200003},
    {"load-latency", "CYCLES", "loads that took at least so many cycles (default: 30)", 100007},
    {"dtlb-miss", NULL, "loads whose page was in no TLB", 100003},
    {"branch-miss", NULL, "branches that were predicted wrong", 400009},
    {"cycles", NULL, "cycles of the CPU while it runs", 0},
    {"page-fault", NULL, "page faults", 0},
    {NULL, NULL, NULL, 0},
};

/* perf mem's default; and what the register holds (MSR 3f6h, 16 bits; at least 3, arch/x86/events/intel/core.c). */
#define LATENCY_DEFAULT 30
#define LATENCY_LEAST   3
#define LATENCY_MOST    65535
/* What Zen 5 can filter by (arch/x86/events/amd/ibs.c). */
#define IBS_LEAST 128
#define IBS_MOST  2048

/* For all operations, about four per ns: about a thousand samples a second, each with an interrupt. */
#define ALL_OPS_PERIOD 4000000
#define ALL_OPS        "samples all micro-operations, and tells of each what it waited for"

/* Events that count it; the first that the CPU has is used. "%u" stands for the latency. */
struct candidate {
    enum kind kind;
    unsigned precise;
    const char *event;
    const char *caveat; /* alias.h */
};

static const struct candidate candidates[] = {
    /* AMD: Zen 4 can sample only L3 misses; Zen 5 only operations with a long latency. */
    {CACHE_MISS, 0, "ibs_op/cnt_ctl=1,l3missonly=1/", NULL},
    {LOAD_LATENCY, 0, "ibs_op/cnt_ctl=1,ldlat=%u/", NULL},
    {CACHE_MISS, 0, "ibs_op/cnt_ctl=1/", ALL_OPS},
    {L2_MISS, 0, "ibs_op/cnt_ctl=1/", ALL_OPS},
    {L1_MISS, 0, "ibs_op/cnt_ctl=1/", ALL_OPS},
    {LOAD_LATENCY, 0, "ibs_op/cnt_ctl=1/", ALL_OPS},
    {DTLB_MISS, 0, "ibs_op/cnt_ctl=1/", ALL_OPS},
    /* Skylake to Sapphire Rapids, and Nehalem */
    {CACHE_MISS, 2, "MEM_LOAD_RETIRED:L3_MISS", NULL},
    {L2_MISS, 2, "MEM_LOAD_RETIRED:L2_MISS", NULL},
    {L1_MISS, 2, "MEM_LOAD_RETIRED:L1_MISS", NULL},
    {DTLB_MISS, 2, "MEM_INST_RETIRED:STLB_MISS_LOADS", NULL},
    {DTLB_MISS, 2, "MEM_LOAD_RETIRED:DTLB_MISS", NULL},
    /* Sandy Bridge to Broadwell, and Atoms */
    {CACHE_MISS, 2, "MEM_LOAD_UOPS_RETIRED:L3_MISS", NULL},
    {CACHE_MISS, 2, "MEM_LOAD_UOPS_MISC_RETIRED:LLC_MISS", NULL},
    {CACHE_MISS, 2, "MEM_LOAD_UOPS_RETIRED:DRAM_HIT", NULL},
    {L2_MISS, 2, "MEM_LOAD_UOPS_RETIRED:L2_MISS", NULL},
    {L2_MISS, 2, "MEM_UOP_RETIRED:LD_L2_MISS", NULL},
    {L2_MISS, 2, "MEM_UOPS_RETIRED:LD_L2_MISS", NULL},
    {L1_MISS, 2, "MEM_LOAD_UOPS_RETIRED:L1_MISS", NULL},
    {DTLB_MISS, 2, "MEM_UOPS_RETIRED:STLB_MISS_LOADS", NULL},
    {DTLB_MISS, 2, "MEM_UOPS_RETIRED:DTLB_MISS_LOADS", NULL},
    {DTLB_MISS, 2, "MEM_UOP_RETIRED:LD_DTLB_MISS", NULL},
    {LOAD_LATENCY, 2, "MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=%u", NULL},
    {LOAD_LATENCY, 2, "MEM_TRANS_RETIRED:LATENCY_ABOVE_THRESHOLD:ldlat=%u", NULL},
    {LOAD_LATENCY, 2, "MEM_INST_RETIRED:LATENCY_ABOVE_THRESHOLD:ldlat=%u", NULL},
    {BRANCH_MISS, 2, "BR_MISP_RETIRED:ALL_BRANCHES", NULL},
    /* Zen without IBS, as in virtual machines */
    {CACHE_MISS, 0, "DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:DRAM_IO_NEAR:DRAM_IO_FAR", NULL},
    {CACHE_MISS, 0, "DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:MEM_IO_LCL:MEM_IO_RMT", NULL},
    {CACHE_MISS, 0, "DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_LCL_DRAM:LS_MABRESP_RMT_DRAM", NULL},
    {BRANCH_MISS, 0, "RETIRED_BRANCH_INSTRUCTIONS_MISPREDICTED", NULL},
};

/* Events of any CPU. */
static const struct candidate generic[] = {
    {BRANCH_MISS, 0, "branch-misses", NULL},
    {CYCLES, 0, "cycles", NULL},
    {PAGE_FAULT, 0, "page-faults", NULL},
};

/* Kinds of cores, by the meaning of their event numbers. */
enum core {
    CORE_BIG,       /* Intel's fast ones since Skylake */
    CORE_GRACEMONT, /* the slow ones: Alder Lake, Raptor Lake */
    CORE_CRESTMONT, /* Meteor Lake, Sierra Forest, and all that followed */
    CORE_ZEN,       /* 3 and later */
    CORES
};

/* The same for cores that libpfm4 does not know, in terms that the kernel's PMUs take. */
static const char *const terms[PAGE_FAULT + 1][CORES] = {
    [CACHE_MISS] = {"event=0xd1,umask=0x20", "event=0xd2,umask=0x20", "event=0xd3,umask=0xff",
                    "event=0x43,umask=0x48"},
    [L2_MISS] = {"event=0xd1,umask=0x10", "event=0xd1,umask=0x10", "event=0xd1,umask=0x80"},
    [L1_MISS] = {"event=0xd1,umask=0x08", "event=0xd1,umask=0x08", "event=0xd1,umask=0x40"},
    [LOAD_LATENCY] = {"event=0xcd,umask=0x01,ldlat=%u", "event=0xd0,umask=0x05,ldlat=%u",
                      "event=0xd0,umask=0x05,ldlat=%u"},
    [DTLB_MISS] = {"event=0xd0,umask=0x11", "event=0xd0,umask=0x11", "event=0xd0,umask=0x11"},
    [BRANCH_MISS] = {"event=0xc5", "event=0xc5", "event=0xc5"},
    [CYCLES] = {"event=0x3c", "event=0x3c", "event=0x3c"},
};

/* false: the CPU does not have it. */
static bool encode_event(const struct pmus *pmus, const char *text, struct perf_event_attr *attr)
{
    struct pfm_code code;
    const char *reason;
    if (strchr(text, '/'))
        return sysfs_event_parse(pmus, text, attr, NULL) == 0;
    const struct software_event *software = software_find(text);
    if (software) {
        attr->type = PERF_TYPE_SOFTWARE;
        attr->config = software->config;
        return true;
    }
    if (strcmp(text, "cycles") == 0 || strcmp(text, "branch-misses") == 0) {
        attr->type = PERF_TYPE_HARDWARE; /* also where libpfm4 does not know the CPU */
        attr->config = *text == 'c' ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_HW_BRANCH_MISSES;
        return true;
    }
    if (pfm_encode(text, &code, &reason) != 0)
        return false;
    attr->type = code.type;
    attr->config = code.config;
    attr->config1 = code.config1;
    attr->config2 = code.config2;
    return true;
}

static bool make_event(const struct pmus *pmus, const struct candidate *candidate, unsigned latency,
                       struct alias_event *out)
{
    const char *event = candidate->event;
    *out =
        (struct alias_event){.caveat = candidate->caveat,
                             .period = candidate->caveat ? ALL_OPS_PERIOD : aliases[candidate->kind].period};
    const char *number = strstr(event, "%u");
    if (strncmp(event, "ibs_op/", 7) == 0)
        latency = latency < IBS_LEAST ? IBS_LEAST : latency > IBS_MOST ? IBS_MOST : latency;
    if (number)
        snprintf(out->text, sizeof out->text, "%.*s%u%s", (int)(number - event), event, latency, number + 2);
    else
        snprintf(out->text, sizeof out->text, "%s", event);
    if (!encode_event(pmus, out->text, &out->attr))
        return false;
    out->attr.precise_ip = candidate->precise & 3;
    return true;
}

/* The argument behind the name, if any. */
static int parse_latency(const char *name, const char *text, unsigned *latency, struct fathom_error *err)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || errno || *end || value < LATENCY_LEAST || value > LATENCY_MOST)
        return error_set(err, EINVAL, "event '%s': the latency is a number of cycles from %u to %u", name,
                         LATENCY_LEAST, LATENCY_MOST);
    *latency = (unsigned)value;
    return 0;
}

/* The kind of core that a PMU counts on; CORES: unknown. A PMU for all cores is recognised by the event that
 * perf mem uses, or, without PEBS (in a virtual machine), by its name. */
static enum core core_of(const struct pmus *pmus, const char *pmu)
{
    char text[128], name[64];
    bool named = pmus_text(pmus, pmu, "caps/pmu_name", name, sizeof name);
    bool big = strcmp(pmu, PMUS_CORE) == 0, small = strcmp(pmu, PMUS_ATOM) == 0 || strcmp(pmu, PMUS_LOW) == 0;
    if (big || small)
        ;
    else if (pmus_text(pmus, pmu, "events/mem-loads", text, sizeof text)) {
        big = strstr(text, "event=0xcd") != NULL;
        small = strstr(text, "event=0xd0") != NULL;
    } else if (named && strncmp(name, "generic", 7) != 0) {
        small = strstr(name, "mont") != NULL;
        big = !small;
    } else if (pmus_text(pmus, pmu, "format/event", text, sizeof text) && strstr(text, ",32-35"))
        return CORE_ZEN;
    const unsigned format = pebs_format(name);
    if (format && (format < 3 || (small && format == 3) || strstr(name, "remont")))
        return CORES; /* before Skylake, Goldmont and Tremont: other numbers, and names in libpfm4 */
    if (small)
        return !named || strncmp(name, "alderlake", 9) == 0 || strncmp(name, "gracemont", 9) == 0
                   ? CORE_GRACEMONT
                   : CORE_CRESTMONT;
    return big ? CORE_BIG : CORES;
}

static bool libpfm4_knows(void)
{
    char name[256];
    pfm_cpu(name, sizeof name);
    return *name;
}

/* Uses the kernel's terms, on each kind of core. */
static void take_terms(const struct pmus *pmus, enum kind kind, unsigned latency, struct alias_match *out)
{
    for (size_t i = 0; pmus_cores[i] && out->count < ALIAS_EVENTS; i++) {
        char event[ALIAS_TEXT];
        enum core core = pmus_type(pmus, pmus_cores[i]) < 0 ? CORES : core_of(pmus, pmus_cores[i]);
        if (core == CORES || !terms[kind][core])
            continue;
        snprintf(event, sizeof event, "%s/%s/", pmus_cores[i], terms[kind][core]);
        struct candidate c = {kind, kind == CYCLES || core == CORE_ZEN ? 0 : 2, event, NULL};
        out->count += make_event(pmus, &c, latency, &out->events[out->count]);
    }
}

static void take_first(const struct pmus *pmus, const struct candidate *from, size_t count, enum kind kind,
                       unsigned latency, struct alias_match *out)
{
    for (size_t i = 0; i < count && !out->count; i++)
        if (from[i].kind == kind)
            out->count = make_event(pmus, &from[i], latency, &out->events[0]);
}

int alias_find(const struct pmus *pmus, const char *name, struct alias_match *out, struct fathom_error *err)
{
    unsigned latency = LATENCY_DEFAULT;
    size_t length = strcspn(name, ":"), kind = 0;
    *out = (struct alias_match){0};
    while (aliases[kind].name &&
           (strlen(aliases[kind].name) != length || memcmp(aliases[kind].name, name, length) != 0))
        kind++;
    if (!aliases[kind].name || (name[length] && !aliases[kind].argument))
        return 0;
    if (name[length]) {
        int rc = parse_latency(name, name + length + 1, &latency, err);
        if (rc)
            return rc;
    }
    out->alias = &aliases[kind];
    const bool kinds = pmus_type(pmus, PMUS_CORE) >= 0; /* libpfm4 does not have one event for all */
    if (kinds)
        take_terms(pmus, kind, latency, out);
    take_first(pmus, candidates, sizeof candidates / sizeof *candidates, kind, latency, out);
    if (!out->count && kind != CYCLES && !libpfm4_knows())
        take_terms(pmus, kind, latency, out);
    take_first(pmus, generic, sizeof generic / sizeof *generic, kind, latency, out);
    return 0;
}
