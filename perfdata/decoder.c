/*
 * decoder.c - determines which event a record belongs to and where the fields of its records are.
 *
 * With several events the ID must be at the same place in all samples, as tools/perf/util/evsel.c requires
 * (__evsel__calc_id_pos, __evsel__calc_is_pos): IDENTIFIER first, or ID after the same fields.
 */
#include "perfdata/record.h"

#include <errno.h>
#include <stdlib.h>

#include "perfdata/latency.h"
#include "perfdata/layout.h"

/* Register numbers of arch/x86/include/uapi/asm/perf_regs.h. */
enum { REG_BP = 6, REG_SP = 7, REG_IP = 8 };

#define BRANCH_HW_INDEX (UINT64_C(1) << 17)
#define BRANCH_COUNTERS (UINT64_C(1) << 19) /* since Linux 6.8 */

static int8_t register_place(uint64_t mask, int number)
{
    if (!(mask >> number & 1))
        return -1;
    return (int8_t)__builtin_popcountll(mask & ((UINT64_C(1) << number) - 1));
}

static struct register_places register_places(uint64_t mask)
{
    return (struct register_places){
        .count = (uint8_t)__builtin_popcountll(mask),
        .sp = register_place(mask, REG_SP),
        .ip = register_place(mask, REG_IP),
        .bp = register_place(mask, REG_BP),
        .mask = mask,
    };
}

/* Bytes of the flagged fields, 8 each. */
static uint16_t fields_size(uint64_t flags)
{
    return (uint16_t)(8 * __builtin_popcountll(flags));
}

/* Place of the field `flag` in a sample if only IDENTIFIER and `before` can precede it. */
static uint16_t sample_place(uint64_t sample_type, uint64_t flag, uint64_t before)
{
    if (!(sample_type & flag))
        return 0;
    return (uint16_t)(RECORD_HEADER_SIZE + fields_size(sample_type & (PERF_SAMPLE_IDENTIFIER | before)));
}

/* Place of the trailer's field `flag`, counted back from the end: its own size and that of what follows. */
static uint16_t trailer_place(uint64_t sample_type, uint64_t flag, uint64_t behind)
{
    return sample_type & flag ? fields_size(sample_type & (flag | behind)) : 0;
}

#define BEHIND_ID   (PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)
#define BEHIND_TIME (PERF_SAMPLE_ID | BEHIND_ID)
#define BEHIND_TID  (PERF_SAMPLE_TIME | BEHIND_TIME)

static uint16_t sample_id_place(uint64_t type)
{
    if (type & PERF_SAMPLE_IDENTIFIER)
        return RECORD_HEADER_SIZE;
    return sample_place(type, PERF_SAMPLE_ID,
                        PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR);
}

static uint16_t trailer_id_place(uint64_t type)
{
    return type & PERF_SAMPLE_IDENTIFIER ? 8 : trailer_place(type, PERF_SAMPLE_ID, BEHIND_ID);
}

/* The number of events that a sample represents if it does not say so itself. */
static uint64_t default_period(const struct perf_event_attr *attr)
{
    if (!attr->freq)
        return attr->sample_period ? attr->sample_period : 1;
    if (attr_is_clock(attr) && attr->sample_freq && attr->sample_freq <= 1000000000)
        return 1000000000 / attr->sample_freq;
    return 1;
}

void layout_of(const struct perf_event_attr *attr, struct layout *layout)
{
    uint64_t type = attr->sample_type;
    *layout = (struct layout){
        .sample_type = type,
        .read_format = attr->read_format,
        .fixed_size = fields_size(type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                                          PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
                                          PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)),
        .time_at = sample_place(type, PERF_SAMPLE_TIME, PERF_SAMPLE_IP | PERF_SAMPLE_TID),
        .branch_index = attr->branch_sample_type & BRANCH_HW_INDEX,
        .branch_counters = attr->branch_sample_type & BRANCH_COUNTERS,
        .precise = attr->precise_ip >= 2,
        .ibs = attr->type > PERF_TYPE_BREAKPOINT && !attr->precise_ip && type & PERF_SAMPLE_CALLCHAIN,
        .user = register_places(attr->sample_regs_user),
        .intr = register_places(attr->sample_regs_intr),
        .default_period = default_period(attr),
        .weight = weight_field_of(attr),
        .waits = attr_is_waits(attr),
        .wakeups = attr_is_wakeups(attr),
        .heap = heap_event_of(attr),
        .heap_mean = heap_event_mean(attr),
        .stack_size = attr->sample_stack_user,
    };
    if (attr->sample_id_all) {
        layout->time_back = trailer_place(type, PERF_SAMPLE_TIME, BEHIND_TIME);
        layout->tid_back = trailer_place(type, PERF_SAMPLE_TID, BEHIND_TID);
        layout->trailer_size = fields_size(type & (PERF_SAMPLE_TID | BEHIND_TID));
    }
}

/* For several events: learns their IDs and the one place where these are found. */
static int learn_ids(struct decoder *decoder, const struct event *events, struct fathom_error *err)
{
    decoder->by_id = table_new();
    if (!decoder->by_id)
        return error_memory(err);
    decoder->id_at = sample_id_place(events[0].attr.sample_type);
    decoder->id_back = events[0].attr.sample_id_all ? trailer_id_place(events[0].attr.sample_type) : 0;
    for (size_t i = 0; i < decoder->count; i++) {
        const struct perf_event_attr *attr = &events[i].attr;
        uint16_t back = attr->sample_id_all ? trailer_id_place(attr->sample_type) : 0;
        if (!decoder->id_at || sample_id_place(attr->sample_type) != decoder->id_at ||
            back != decoder->id_back)
            return error_set(err, ENOTSUP,
                             "the samples of events '%s' and '%s' cannot be told apart: their IDs are "
                             "missing or at different places",
                             events[0].name, events[i].name);
        for (size_t k = 0; k < events[i].id_count; k++) {
            if (!table_set(decoder->by_id, events[i].ids[k], i))
                return error_memory(err);
        }
    }
    return 0;
}

/* perf's names for one event on several kinds of cores differ only in the PMU. */
static const char *without_core(const char *name)
{
    static const char *const units[] = {"cpu_core/", "cpu_atom/", "cpu_lowpower/"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strncmp(name, units[i], strlen(units[i])) == 0)
            return name + strlen(units[i]);
    return name;
}

/* The length of a name without its precision ("cycles:upp"), in which kinds of cores can differ. */
static size_t without_precision(const char *name)
{
    size_t all = strlen(name), length = all;
    while (length && name[length - 1] == 'p')
        length--;
    size_t mark = length && name[length - 1] == 'u' ? length - 1 : length;
    return mark && (name[mark - 1] == ':' || name[mark - 1] == '/') ? length : all;
}

/* Whether an event is the other one's counterpart for another kind of core (the kernel distinguishes PMUs by type, or by the
 * upper half of config), for another function whose calls are timed, or for another function that allocates. */
static bool is_same(const struct event *event, const struct event *other)
{
    const struct perf_event_attr *a = &event->attr, *b = &other->attr;
    if (latency_event_of(a))
        return latency_event_of(a) == latency_event_of(b);
    bool other_pmu =
        a->type != b->type || (a->type <= PERF_TYPE_HW_CACHE && a->config >> 32 != b->config >> 32);
    if (heap_event_of(a) == HEAP_ENTERED && heap_event_of(b) == HEAP_ENTERED)
        return true;
    const char *name = without_core(event->name), *others = without_core(other->name);
    size_t length = without_precision(name);
    return other_pmu && *name && length == without_precision(others) && memcmp(name, others, length) == 0;
}

static uint32_t first_of_name(const struct event *events, size_t event)
{
    size_t first = 0;
    while (first < event && !is_same(&events[event], &events[first]))
        first++;
    return (uint32_t)first;
}

int decoder_new(const struct event *events, size_t count, struct decoder **out, struct fathom_error *err)
{
    if (count == 0)
        return error_set(err, EINVAL, "a recording without events cannot be decoded");
    struct decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder)
        return error_memory(err);
    int rc = 0;
    decoder->count = count;
    decoder->empty_sample = (struct record){.kind = RECORD_SAMPLE, .type = PERF_RECORD_SAMPLE};
    decoder->layouts = calloc(count, sizeof *decoder->layouts);
    if (!decoder->layouts) {
        rc = error_memory(err);
        goto out;
    }
    decoder->named = calloc(count, sizeof *decoder->named);
    if (!decoder->named) {
        rc = error_memory(err);
        goto out;
    }
    for (size_t i = 0; i < count; i++)
        decoder->named[i] = first_of_name(events, i);
    decoder->same_time = true;
    for (size_t i = 0; i < count; i++) {
        layout_of(&events[i].attr, &decoder->layouts[i]);
        if (decoder->layouts[i].time_at != decoder->layouts[0].time_at ||
            decoder->layouts[i].time_back != decoder->layouts[0].time_back)
            decoder->same_time = false;
    }
    decoder->time_at = decoder->layouts[0].time_at;
    decoder->time_back = decoder->layouts[0].time_back;
    if (count > 1)
        rc = learn_ids(decoder, events, err);
out:
    if (rc == 0)
        *out = decoder;
    else
        decoder_free(decoder);
    return rc;
}

uint32_t decoder_first(const struct decoder *decoder, uint32_t event)
{
    return decoder->named[event];
}

void decoder_free(struct decoder *decoder)
{
    if (!decoder)
        return;
    table_free(decoder->by_id);
    free(decoder->layouts);
    free(decoder->named);
    free(decoder);
}
