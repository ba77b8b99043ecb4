/*
 * host.h - private to perfdata/: what a recording says about the machine that made it, in stock perf's format
 * (tools/perf/util/header.c, write_*() and arch/x86/util/header.c).
 */
#ifndef FATHOM_PERFDATA_HOST_H
#define FATHOM_PERFDATA_HOST_H

#include <stdint.h>
#include <sys/utsname.h>

struct host {
    struct utsname name;
    char cpu[128];   /* "model name" of /proc/cpuinfo; "unknown" if it has none */
    char cpuid[64];  /* "GenuineIntel,6,85,7": vendor, family, model, stepping */
    uint64_t memory; /* KiB; 0: unknown */
    uint32_t cpus_available, cpus_online;
};

void host_read(struct host *host);

#endif
