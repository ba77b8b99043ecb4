/* facts.c - reads the facts; see facts.h. */
#include "collector/capability/facts.h"

#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collector/events/open.h"
#include "collector/rings/cpus.h"

#define PATH_SIZE 1024
#define TEXT_SIZE 8192 /* the first of /proc/cpuinfo's processors has 2,000 bytes or so */

const struct fact_places fact_places_here = {"/proc", "/sys"};

/* The beginning of a file; "" if it cannot be read. */
static void read_text(const char *root, const char *name, char text[TEXT_SIZE])
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", root, name);
    FILE *file = fopen(path, "re");
    size_t size = file ? fread(text, 1, TEXT_SIZE - 1, file) : 0;
    text[size] = '\0';
    if (file)
        fclose(file);
}

/* Its first line, shortened. */
static void read_line(const char *root, const char *name, char *out, size_t size)
{
    char text[TEXT_SIZE];
    read_text(root, name, text);
    snprintf(out, size, "%.*s", (int)strcspn(text, "\n"), text);
}

static long read_number(const char *root, const char *name)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", root, name);
    return open_setting(path, FACT_NONE);
}

static bool exists(const char *root, const char *name)
{
    char path[PATH_SIZE];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", root, name);
    return stat(path, &st) == 0;
}

/* What follows "KEY" and blanks or a colon in a line of its own; NULL: no such line. */
static const char *value_of(const char *text, const char *key)
{
    size_t length = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) != 0)
            continue;
        const char *value = line + length;
        size_t skipped = strspn(value, " \t:");
        if (skipped)
            return value + skipped;
    }
    return NULL;
}

static void copy_value(const char *text, const char *key, char *out, size_t size)
{
    const char *value = value_of(text, key);
    snprintf(out, size, "%.*s", value ? (int)strcspn(value, "\n") : 0, value ? value : "");
}

static void read_kernel(const struct fact_places *at, struct fact_kernel *out)
{
    char lockdown[80];
    read_line(at->proc, "sys/kernel/osrelease", out->release, sizeof out->release);
    if (sscanf(out->release, "%u.%u", &out->major, &out->minor) != 2)
        out->major = out->minor = 0;
    read_line(at->sys, "kernel/security/lockdown", lockdown, sizeof lockdown);
    out->lockdown = strstr(lockdown, "[confidentiality]") ? LOCKDOWN_CONFIDENTIALITY
                    : strstr(lockdown, "[integrity]")     ? LOCKDOWN_INTEGRITY
                                                          : LOCKDOWN_NONE;
}

static unsigned count_cpus(const struct fact_places *at)
{
    char path[PATH_SIZE];
    int *list;
    size_t count;
    snprintf(path, sizeof path, "%s/devices/system/cpu/online", at->sys);
    if (cpus_online(path, &list, &count) != 0)
        return 1;
    free(list);
    return (unsigned)count;
}

static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at += length)
        if ((at == text || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\n' || !at[length]))
            return true;
    return false;
}

static void read_cpu(const struct fact_places *at, const char *release, struct fact_cpu *out)
{
    char text[TEXT_SIZE], devices[512];
    read_text(at->proc, "cpuinfo", text);
    copy_value(text, "vendor_id", out->vendor, sizeof out->vendor);
    copy_value(text, "model name", out->model, sizeof out->model);
    const char *flags = value_of(text, "flags");
    out->virtual_machine = flags && has_word(flags, "hypervisor");
    out->online = count_cpus(at);
    snprintf(devices, sizeof devices, "%s/bus/event_source/devices", at->sys);
    /* Only the kernel that runs here can be asked. */
    const struct pmus pmus = {
        .devices = devices, .probe = at == &fact_places_here ? pmus_here.probe : NULL, .release = release};
    out->kinds = pmus_kinds(&pmus);
    out->pmu = pmus_counters(&pmus);
    const char *unit = pmus_type(&pmus, "cpu") >= 0 ? "cpu" : PMUS_CORE;
    char name[64];
    snprintf(name, sizeof name, "%s/caps/pmu_name", unit);
    read_line(devices, name, out->pmu_name, sizeof out->pmu_name);
    out->branches = pmus_number(&pmus, unit, "caps/branches", 0);
    if (out->branches < 0)
        out->branches = 0;
    out->ibs_op = pmus_type(&pmus, "ibs_op") >= 0;
    out->ibs_fetch = pmus_type(&pmus, "ibs_fetch") >= 0;
    pebs_machine_of(&pmus, &out->pebs);
}

static void read_user(const struct fact_places *at, struct fact_user *out)
{
    char text[TEXT_SIZE];
    read_text(at->proc, "self/status", text);
    const char *value = value_of(text, "Uid");
    if (!value || sscanf(value, "%*u %u", &out->id) != 1)
        out->id = UINT32_MAX;
    value = value_of(text, "CapEff");
    if (!value || sscanf(value, "%" SCNx64, &out->capabilities) != 1)
        out->capabilities = 0;
    value = value_of(text, "Seccomp");
    out->filtered = value && *value == '2';
    unsigned inside, outside;
    uint64_t count;
    read_text(at->proc, "self/uid_map", text);
    out->namespaced = sscanf(text, "%u %u %" SCNu64, &inside, &outside, &count) == 3 &&
                      (inside != 0 || outside != 0 || count != UINT32_MAX);
}

static void read_settings(const struct fact_places *at, struct fact_settings *out)
{
    const struct {
        const char *name;
        long *value;
    } numbers[] = {
        {"perf_event_paranoid", &out->paranoid},
        {"kptr_restrict", &out->kptr_restrict},
        {"yama/ptrace_scope", &out->ptrace_scope},
        {"unprivileged_bpf_disabled", &out->unprivileged_bpf_disabled},
        {"perf_event_mlock_kb", &out->mlock_kb},
        {"perf_event_max_sample_rate", &out->max_sample_rate},
        {"perf_cpu_time_max_percent", &out->cpu_time_percent},
        {"nmi_watchdog", &out->nmi_watchdog},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char name[64];
        snprintf(name, sizeof name, "sys/kernel/%s", numbers[i].name);
        *numbers[i].value = read_number(at->proc, name);
    }
    out->btf = exists(at->sys, "kernel/btf/vmlinux");
    out->uprobe_pmu = exists(at->sys, "bus/event_source/devices/uprobe");
}

/* A number of /proc/self/limits; UINT64_MAX: "unlimited", or unknown. */
static const char *take_limit(const char *text, uint64_t *out)
{
    int used = 0;
    *out = UINT64_MAX;
    if (!text)
        return NULL;
    if (sscanf(text, " unlimited%n", &used) == 0 && used > 0)
        return text + used;
    return sscanf(text, "%" SCNu64 "%n", out, &used) == 1 ? text + used : NULL;
}

static void read_limits(const struct fact_places *at, struct fact_limits *out)
{
    char text[TEXT_SIZE];
    read_text(at->proc, "self/limits", text);
    take_limit(value_of(text, "Max locked memory"), &out->locked);
    take_limit(take_limit(value_of(text, "Max open files"), &out->files), &out->files_most);
}

void facts_read(const struct fact_places *places, struct facts *out)
{
    *out = (struct facts){0};
    read_kernel(places, &out->kernel);
    read_cpu(places, out->kernel.release, &out->cpu);
    read_user(places, &out->user);
    read_settings(places, &out->settings);
    read_limits(places, &out->limits);
}

bool facts_can(const struct facts *facts, unsigned capability)
{
    uint64_t stands = UINT64_C(1) << capability;
    if (capability == CAP_PERFMON || capability == CAP_BPF)
        stands |= UINT64_C(1) << CAP_SYS_ADMIN;
    return !facts->user.namespaced && facts->user.capabilities & stands;
}

bool facts_privileged(const struct facts *facts)
{
    return facts_can(facts, CAP_PERFMON);
}

bool facts_kernel_since(const struct facts *facts, unsigned major, unsigned minor)
{
    const struct fact_kernel *k = &facts->kernel;
    return k->major > major || (k->major == major && k->minor >= minor);
}
