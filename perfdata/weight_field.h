/*
 * weight_field.h - a field of a tracepoint's raw data that is used as each sample's weight, such as the bytes of a request. Its
 * location is stored in attr.config1, which the kernel ignores for tracepoints (kernel/events/core.c, perf_tp_event_init()), so
 * that it is in every kind of recording.
 */
#ifndef FATHOM_PERFDATA_WEIGHT_FIELD_H
#define FATHOM_PERFDATA_WEIGHT_FIELD_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

struct weight_field {
    uint16_t at;  /* bytes from the beginning of the raw data */
    uint8_t size; /* 1, 2, 4 or 8; 0: there is no field */
    bool is_signed;
};

/* Makes samples of the event, a tracepoint, have raw data, and weigh the value of this field. */
void weight_field_set(struct perf_event_attr *attr, const struct weight_field *field);
/* size 0: it has no field, or an invalid one. */
struct weight_field weight_field_of(const struct perf_event_attr *attr);
/* The field's value in this raw data; 0: it is negative, such as the error of a system call, or the data is too short. */
uint64_t weight_field_in(const struct weight_field *field, const uint8_t *raw, uint32_t size);

#endif
