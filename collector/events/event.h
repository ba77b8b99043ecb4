/*
 * event.h - turns an event's name into a perf_event_attr: libpfm4's names, aliases ("cache-miss"), the kernel's software
 * events, tracepoints ("syscalls:sys_enter_getppid") and hardware breakpoints ("mem:0x1234:rw").
 *
 * Events that fire in kernel mode (tracepoints, context-switches, ...) have REGS_USER instead of REGS_INTR.
 */
#ifndef FATHOM_COLLECTOR_EVENTS_EVENT_H
#define FATHOM_COLLECTOR_EVENTS_EVENT_H

#include "base/log.h"
#include "collector/events/event_attr.h"
#include "collector/events/pmus.h"
#include "perfdata/record.h"

struct event_options {
    const char *name; /* NULL: the default, cycles if there is a PMU, else cpu-clock (with a note) */
    uint64_t period;  /* events per sample; 0: by frequency */
    /* Hz; 0: by period. Both 0: an alias's period; 1000 Hz for clocks and hardware events, else period
     * 1. */
    uint64_t frequency;
    /* bytes of STACK_USER dump per sample; 0: none; rounded up to 8, at most 65280 used */
    uint32_t stack_size;
    const char *filter; /* of tracepoints, for the kernel; NULL: none */
    const char *weight; /* of tracepoints: the field to use as a sample's weight; NULL: its period alone */
    bool batches;       /* precise hardware events by a period, if no rate is given: in batches (pebs.h) */
    bool kernel;        /* samples in the kernel too, with its chain of callers */
    bool data_address;  /* ADDR, WEIGHT, DATA_SRC if the event has them; memory events have them without */
    const struct pmus *pmus; /* NULL: pmus_here */
};

#define EVENT_PARSED 16 /* maximum events from one option, including those for other cores and helpers */

/* Fills attr and name of the events that the option names: several, separated by commas; those in {} count at the same
 * time. A name can stand for more than one event: one for each kind of core, with the same name; and behind one that
 * needs it, a helper. *count: how many, at most EVENT_PARSED. Errors as event_parse(); -EINVAL: too many. */
int events_parse(const struct event_options *options, const struct log *log,
                 struct event events[EVENT_PARSED], size_t *count, struct fathom_error *err);
/* The first event with this name: fills event->attr and event->name. Errors: -ENOENT: no such event (the
 * message says how to list them); -EINVAL: a rate too high for the machine (above perf_event_max_sample_rate,
 * or a clock period under 50 us). event->ids stays NULL. */
int event_parse(const struct event_options *options, const struct log *log, struct event *event,
                struct fathom_error *err);
/* A dummy event without samples: carries the task and mapping records if the others are opened by CPU. */
void event_tasks(struct event *event);
/* Makes a precise event that would be sampled in batches interrupt at each record, so that its stack can be
 * compared. */
void event_interrupts(struct event *event);
/* The event for the BPF program's output (perfdata/stack_record.h). It is opened by CPU. */
void event_stacks(struct event *event);
/* The audit event: cpu-clock at about `hz` with a dump of stack_size bytes. */
int event_audit(uint64_t hz, uint32_t stack_size, struct event *event, struct fathom_error *err);
/* Whether the event uses AMD's instruction-based sampling: it is opened by its PMU's type, with the
 * interrupt's own IP as a call chain, as SP and BP are those at the interrupt. */
bool event_is_ibs(const struct pmus *pmus, const struct perf_event_attr *attr);
/* The audit event's period for `hz`, above 0: ns, at least the minimum of a clock. */
uint64_t event_audit_period(double hz);

#endif
