/*
 * event_attr.h - the parts of a perf_event_attr that depend on how an event is to be sampled, not on which it is.
 *
 * All our events have this layout: one sample is IDENTIFIER, IP, TID, TIME and three registers, 72 bytes with its
 * header. The registers are those at the interrupt; only an event that fires inside the kernel (a tracepoint, a context
 * switch) has the user's registers instead.
 */
#ifndef FATHOM_COLLECTOR_EVENTS_EVENT_ATTR_H
#define FATHOM_COLLECTOR_EVENTS_EVENT_ATTR_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* PERF_REG_X86_BP, _SP and _IP (arch/x86/include/uapi/asm/perf_regs.h) */
#define ATTR_REGISTERS (1ULL << 6 | 1ULL << 7 | 1ULL << 8)

/* The fields that all our events share. in_kernel: the event fires in kernel mode. */
void attr_set_layout(bool in_kernel, struct perf_event_attr *attr);
/* After that, and once the precision is known: also samples in the kernel, with the registers with which the
 * thread entered it, and the kernel's call chain. For samples in user mode a precise event keeps the
 * registers of its own record: the interrupt's are later. */
void attr_set_kernel(struct perf_event_attr *attr);
bool attr_is_hardware(const struct perf_event_attr *attr); /* counted by the CPU */
/* events per sample, or Hz; both 0: 1000 Hz for clocks and hardware events, else every event. -EINVAL: too often, or
 * both. */
int attr_set_rate(const char *name, uint64_t period, uint64_t frequency, struct perf_event_attr *attr,
                  struct fathom_error *err);
/* A clock gets a fixed period in ns: the kernel converts a frequency the same way. */
int attr_set_clock(const char *name, uint64_t period, uint64_t frequency, struct perf_event_attr *attr,
                   struct fathom_error *err);
uint64_t attr_clock_period_min(void); /* ns */
/* Time between two samples on a busy CPU, ns: from a clock's period, or the frequency. 0: unknown. */
uint64_t attr_interval(const struct perf_event_attr *attr);
/* Adds a stack dump of stack_size bytes. The kernel takes its start from the user registers, so they are
 * sampled as well. */
int attr_set_dump(uint32_t stack_size, struct perf_event_attr *attr, struct fathom_error *err);

#endif
