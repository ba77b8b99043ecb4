/* trial_machine.c - whether a machine has what a check of its hardware needs; see trial.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/doctor/trial.h"
#include "collector/events/alias.h"
#include "collector/events/event.h"

/* Why samples of an alias are of no use to a check. NULL: they are. */
static const char *alias_refusal(const struct pmus *pmus, const char *name)
{
    struct alias_match match;
    if (alias_find(pmus, name, &match, NULL) < 0 || !match.count)
        return "this CPU has no such event";
    const struct alias_event *event = &match.events[0];
    if (event->caveat)
        return "this CPU has no event of its own for it, and samples all micro-operations instead";
    if (!event->attr.precise_ip && !event_is_ibs(pmus, &event->attr))
        return "samples of this CPU's event have no address";
    return NULL;
}

/* Why `record --passive` cannot take batches of the event. NULL: it can, or will report the error itself. */
static const char *batch_refusal(const struct pmus *pmus, const char *name)
{
    struct event event;
    struct pebs_machine machine;
    if (event_parse(&(struct event_options){.name = name, .batches = true, .pmus = pmus}, NULL, &event,
                    NULL) < 0)
        return NULL;
    pebs_machine_for(pmus, &event.attr, &machine);
    return pebs_refusal(&event.attr, &machine);
}

const char *trial_absent(const struct hardware_trial *trial, const struct doctor_machine *machine,
                         const struct pmus *pmus)
{
    const struct tries *tries = &machine->tries;
    const struct fact_cpu *cpu = &machine->facts.cpu;
    if (tries->user)
        return "this user may not sample";
    if (trial->needs & TRIAL_NEEDS_COUNTERS && !cpu->pmu)
        return "no hardware counters";
    if (trial->needs & TRIAL_NEEDS_COUNTERS && tries->hardware)
        return tries->hardware == -EACCES || tries->hardware == -EPERM
                   ? "this user may not sample hardware counters"
                   : "hardware counters are there, but the kernel refuses cycles";
    if (trial->needs & TRIAL_NEEDS_PEBS && !doctor_has_pebs(cpu))
        return "this CPU has no PEBS";
    if (trial->needs & TRIAL_NEEDS_PROGRAM && tries->program)
        return "the BPF program that compares stacks is not loaded";
    const char *refusal = trial->event ? alias_refusal(pmus, trial->event) : NULL;
    if (!refusal && trial->needs & TRIAL_NEEDS_BATCHES)
        refusal = batch_refusal(pmus, trial->event);
    return refusal;
}

bool trial_interrupts(const struct fact_places *places, uint64_t *out)
{
    char path[1024], *line = NULL;
    size_t capacity = 0;
    bool found = false;
    snprintf(path, sizeof path, "%s/interrupts", places->proc);
    FILE *file = fopen(path, "re");
    while (file && !found && getline(&line, &capacity, file) > 0) {
        char *at = line + strspn(line, " ");
        found = strncmp(at, "PMI:", 4) == 0;
        uint64_t sum = 0;
        for (at += 4; found && *(at += strspn(at, " ")) >= '0' && *at <= '9';)
            sum += strtoull(at, &at, 10);
        if (found)
            *out = sum;
    }
    free(line);
    if (file)
        fclose(file);
    return found;
}
