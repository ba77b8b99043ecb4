/*
 * attrs.c - prints what the kernel would be asked for: `attrs [-b] [-c PERIOD] [-F HZ] [-d] [-k] [-l] DEVICES PRECISE RELEASE
 * [EVENT]`.
 *
 * DEVICES describes a machine's PMUs, as /sys/bus/event_source/devices does, whose highest precise level is PRECISE (a PMU may
 * have less; a file no_baseline in it: its PEBS records are bare), under
 * the kernel RELEASE; the CPU is that of LIBPFM_FORCE_PMU. -b: as `record --passive`. -d: as `record --data`. -k: as `record --kernel`. -l: lists the aliases instead. For attrs.test.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/events/event.h"
#include "collector/events/event_list.h"
#include "collector/events/pebs.h"

static unsigned max_precise;
static const char *devices;

/* The kernel's answer as far as events.c depends on it (arch/x86/events/core.c, x86_pmu_hw_config; intel/core.c,
 * intel_pmu_hw_config; amd/ibs.c, perf_ibs_init). */
static int probe(const struct perf_event_attr *attr)
{
    const struct pmus pmus = {devices, NULL, NULL};
    if (attr_is_hardware(attr) && !pmus_counters(&pmus))
        return -ENOENT;
    if (attr->precise_ip > max_precise)
        return -EOPNOTSUPP;
    for (size_t i = 0; pmus_cores[i]; i++)
        if (attr->precise_ip && pmus_type(&pmus, pmus_cores[i]) == (long)attr->type &&
            (attr->precise_ip > pmus_number(&pmus, pmus_cores[i], "caps/max_precise", 0) ||
             (attr->sample_regs_intr >> 32 && pmus_has(&pmus, pmus_cores[i], "no_baseline"))))
            return -EOPNOTSUPP;
    if (event_is_ibs(&pmus, attr) &&
        (attr->exclude_guest || (attr->exclude_kernel && !attr->config2) || attr->sample_period % 16))
        return -EINVAL;
    if (attr->type == PERF_TYPE_RAW && (attr->config & 0xffff) == 0x1cd &&
        pmus_has(&pmus, "cpu", "events/mem-loads-aux"))
        return -ENODATA;
    return 0;
}

static void say(void *context, enum log_level level, const char *text)
{
    (void)context;
    printf("  %s: %s\n", level == LOG_WARNING ? "warning" : "note", text);
}

static void print_fields(uint64_t type)
{
    static const struct {
        uint64_t bit;
        const char *name;
    } fields[] = {{PERF_SAMPLE_IDENTIFIER, "IDENTIFIER"},
                  {PERF_SAMPLE_IP, "IP"},
                  {PERF_SAMPLE_TID, "TID"},
                  {PERF_SAMPLE_TIME, "TIME"},
                  {PERF_SAMPLE_ADDR, "ADDR"},
                  {PERF_SAMPLE_PERIOD, "PERIOD"},
                  {PERF_SAMPLE_CALLCHAIN, "CALLCHAIN"},
                  {PERF_SAMPLE_WEIGHT, "WEIGHT"},
                  {PERF_SAMPLE_DATA_SRC, "DATA_SRC"},
                  {PERF_SAMPLE_REGS_INTR, "REGS_INTR"},
                  {PERF_SAMPLE_REGS_USER, "REGS_USER"}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (type & fields[i].bit)
            printf(" %s", fields[i].name);
        type &= ~fields[i].bit;
    }
    if (type)
        printf(" %#" PRIx64, type);
}

static void print_event(const struct event *event, const struct pmus *pmus)
{
    const struct perf_event_attr *a = &event->attr;
    struct pebs_machine machine;
    pebs_machine_for(pmus, a, &machine);
    const char *refusal = pebs_refusal(a, &machine);
    printf(
        "  %s: type %u config %#llx config1 %#llx config2 %#llx precise %u %s %llu%s%s%s%s group %u%s\n   ",
        event->name, a->type, (unsigned long long)a->config, (unsigned long long)a->config1,
        (unsigned long long)a->config2, a->precise_ip, a->freq ? "frequency" : "period",
        (unsigned long long)a->sample_period, a->exclude_kernel ? " exclude_kernel" : "",
        a->exclude_hv ? " exclude_hv" : "", a->exclude_guest ? " exclude_guest" : "",
        a->watermark ? " watermark" : "", event->group, event->helper ? " helper" : "");
    print_fields(a->sample_type);
    printf(" intr %#llx user %#llx\n", (unsigned long long)a->sample_regs_intr,
           (unsigned long long)a->sample_regs_user);
    if (a->sample_type & PERF_SAMPLE_CALLCHAIN)
        printf("    chain:%s%s, at most %u\n", a->exclude_callchain_kernel ? "" : " kernel",
               a->exclude_callchain_user ? "" : " user", a->sample_max_stack);
    if (a->precise_ip)
        printf("    large PEBS: %s\n", refusal ? refusal : "yes");
}

static void list(void *context, const struct listed_event *event)
{
    (void)context;
    if (strcmp(event->group, "aliases") == 0)
        printf("  %s: %s [%s] %u%s%s%s%s\n", event->name, event->stands_for ? event->stands_for : "none",
               event->precise, event->bytes, event->address ? " address" : "",
               event->latency ? " latency" : "", event->source ? " source" : "",
               event->batched ? " batched" : "");
}

int main(int argc, char **argv)
{
    struct event_options options = {0};
    struct event events[EVENT_PARSED];
    struct fathom_error err = {0};
    struct log log = {say, NULL};
    bool lists = false;
    size_t count;
    for (int o; (o = getopt(argc, argv, "+bc:F:dkl")) != -1;) {
        options.period = o == 'c' ? strtoull(optarg, NULL, 10) : options.period;
        options.frequency = o == 'F' ? strtoull(optarg, NULL, 10) : options.frequency;
        options.data_address |= o == 'd';
        options.batches |= o == 'b';
        options.kernel |= o == 'k';
        lists |= o == 'l';
    }
    if (argc - optind < 3) {
        fprintf(stderr,
                "usage: attrs [-b] [-c PERIOD] [-F HZ] [-d] [-k] [-l] DEVICES PRECISE RELEASE [EVENT]\n");
        return 2;
    }
    devices = argv[optind];
    max_precise = (unsigned)atoi(argv[optind + 1]);
    const struct pmus pmus = {devices, probe, argv[optind + 2]};
    options.pmus = &pmus;
    options.name = argv[optind + 3];
    if (lists) {
        event_list(&pmus, list, NULL);
        return 0;
    }
    if (events_parse(&options, &log, events, &count, &err) != 0) {
        printf("  error: %s\n", err.text);
        return 0;
    }
    for (size_t i = 0; i < count; i++)
        print_event(&events[i], &pmus);
    return 0;
}
