/* host.c - see host.h. */
#include "perfdata/host.h"

#include <cpuid.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* "model name	: AMD  EPYC": the text after the colon, with single blanks, as stock perf writes it. */
static void read_cpu(char *out, size_t size)
{
    char line[512];
    FILE *file = fopen("/proc/cpuinfo", "re");
    snprintf(out, size, "unknown");
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
        size_t used = 0;
        for (const char *p = colon; p && *++p && *p != '\n' && used + 1 < size;) {
            if (*p != ' ' || (used && out[used - 1] != ' '))
                out[used++] = *p;
        }
        if (used) {
            out[used] = 0;
            break;
        }
    }
    if (file)
        fclose(file);
}

static void read_cpuid(char *out, size_t size)
{
    unsigned a = 0, b = 0, c = 0, d = 0, family = 0, model = 0, stepping = 0;
    char vendor[13] = "unknown";
    if (__get_cpuid(0, &a, &b, &c, &d)) {
        memcpy(vendor, &b, 4);
        memcpy(vendor + 4, &d, 4);
        memcpy(vendor + 8, &c, 4);
        vendor[12] = 0;
    }
    if (__get_cpuid(1, &a, &b, &c, &d)) {
        family = a >> 8 & 0xf;
        model = a >> 4 & 0xf;
        stepping = a & 0xf;
        if (family == 0xf)
            family += a >> 20 & 0xff;
        if (family >= 6)
            model += (a >> 16 & 0xf) << 4;
    }
    snprintf(out, size, "%s,%u,%u,%u", vendor, family, model, stepping);
}

static uint64_t read_memory(void)
{
    char line[256];
    uint64_t kib = 0;
    FILE *file = fopen("/proc/meminfo", "re");
    while (file && !kib && fgets(line, sizeof line, file)) {
        if (sscanf(line, "MemTotal: %" SCNu64, &kib) != 1)
            kib = 0;
    }
    if (file)
        fclose(file);
    return kib;
}

void host_read(struct host *host)
{
    *host = (struct host){0};
    uname(&host->name);
    read_cpu(host->cpu, sizeof host->cpu);
    read_cpuid(host->cpuid, sizeof host->cpuid);
    host->memory = read_memory();
    host->cpus_available = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
    host->cpus_online = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
}
