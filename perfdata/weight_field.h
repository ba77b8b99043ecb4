/*
 * weight_field.h - a field of a tracepoint's raw data that is what each sample weighs, such as the bytes of a request. Where it lies is kept in
 * attr.config1, which the kernel does not look at for tracepoints (kernel/events/core.c, perf_tp_event_init()), so that it is in every kind of
 * recording.
 */
#ifndef FATHOM_PERFDATA_WEIGHT_FIELD_H
#define FATHOM_PERFDATA_WEIGHT_FIELD_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

struct weight_field {
    uint16_t at;  /* bytes from the beginning of the raw data */
    uint8_t size; /* 1, 2, 4 or 8; 0: there is none */
    bool is_signed;
};

/* The samples of the event, a tracepoint, get raw data, and weigh what this field has. */
void weight_field_set(struct perf_event_attr *attr, const struct weight_field *field);
/* size 0: it has none, or one that cannot be. */
struct weight_field weight_field_of(const struct perf_event_attr *attr);
/* What it has in this raw data; 0: less than 0, as an error that a system call returns, or the data is too short. */
uint64_t weight_field_in(const struct weight_field *field, const uint8_t *raw, uint32_t size);

#endif
