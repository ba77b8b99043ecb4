/* events.c - what can be sampled on this machine, and what a record of it carries; see fathom/events.h. */
#include "api/fathom/events.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "base/error.h"
#include "collector/events/event_list.h"
#include "collector/events/near.h"
#include "collector/events/pebs.h"
#include "report/export/json.h"

struct listing {
    const struct fathom_events_options *options;
    struct printer printer;
    struct json json;
    char pattern[FATHOM_EVENTS_PATTERN + 6]; /* lower case, between stars if it has no wildcard; "": all */
    char group[64];                          /* of the previous event */
    uint64_t count;                          /* number of matches */
};

static void copy_lower(const char *text, char *out, size_t size)
{
    size_t i = 0;
    for (; text[i] && i + 1 < size; i++)
        out[i] = (char)tolower((unsigned char)text[i]);
    out[i] = '\0';
}

static void set_pattern(struct listing *l, const char *pattern)
{
    if (strpbrk(pattern, "*?["))
        copy_lower(pattern, l->pattern, sizeof l->pattern);
    else {
        l->pattern[0] = '*';
        copy_lower(pattern, l->pattern + 1, sizeof l->pattern - 2);
        strcat(l->pattern, "*");
    }
}

static bool matches(const struct listing *l, const char *text)
{
    char small[512];
    copy_lower(text, small, sizeof small);
    return fnmatch(l->pattern, small, 0) == 0;
}

static bool is_wanted(const struct listing *l, const struct listed_event *event)
{
    return !*l->pattern || matches(l, event->name) || matches(l, event->description) ||
           (event->stands_for && matches(l, event->stands_for));
}

/* "96 B: address, latency, source; batched" */
static void write_record(struct printer *p, const struct listed_event *event)
{
    const char *const parts[] = {event->address ? "address" : NULL, event->latency ? "latency" : NULL,
                                 event->source ? "source" : NULL, event->batched ? "in batches" : NULL};
    const char *between = ": ";
    if (!event->bytes) {
        printer_write(p, " [not here]");
        return;
    }
    printer_write(p, " [%s%s%u B", event->precise, *event->precise ? ", " : "", event->bytes);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i]) {
            printer_write(p, "%s%s", between, parts[i]);
            between = ", ";
        }
    printer_write(p, "]");
}

static void print_event(void *context, const struct listed_event *event)
{
    struct listing *l = context;
    if (!is_wanted(l, event))
        return;
    l->count++;
    if (strcmp(l->group, event->group) != 0) {
        printer_write(&l->printer, "%s%s:\n", *l->group ? "\n" : "", event->group);
        snprintf(l->group, sizeof l->group, "%.63s", event->group);
    }
    printer_write(&l->printer, "  %-32s %s", event->name, event->description);
    if (event->stands_for && strcmp(event->stands_for, event->name) != 0)
        printer_write(&l->printer, ": %s", event->stands_for);
    write_record(&l->printer, event);
    printer_write(&l->printer, "\n");
}

static void print_tracepoint(void *context, const char *name)
{
    struct listing *l = context;
    if (!matches(l, name))
        return;
    if (strcmp(l->group, "tracepoints") != 0)
        printer_write(&l->printer, "%stracepoints:\n", *l->group ? "\n" : "");
    strcpy(l->group, "tracepoints");
    l->count++;
    printer_write(&l->printer, "  ");
    printer_foreign(&l->printer, name);
    printer_write(&l->printer, "\n");
}

static void print_rest(struct listing *l)
{
    long tracepoints = event_list_tracepoints(NULL, NULL);
    if (tracepoints >= 0)
        printer_write(&l->printer,
                      "\ntracepoints:\n  SYSTEM:NAME                      %ld; 'fathom events SYSTEM:' lists "
                      "those of a system\n",
                      tracepoints);
    else
        printer_write(&l->printer,
                      "\ntracepoints:\n  SYSTEM:NAME                      "
                      "/sys/kernel/tracing/available_events lists them to those who may read it (root)\n");
    printer_write(&l->printer,
                  "\nbreakpoints:\n  mem:ADDRESS[/LENGTH][:rwx]       accesses to an address [72 B]\n");
}

static void print_text(struct listing *l)
{
    event_list(&pmus_here, print_event, l);
    if (*l->pattern)
        event_list_tracepoints(print_tracepoint, l);
    else
        print_rest(l);
}

static void write_event(void *context, const struct listed_event *event)
{
    struct listing *l = context;
    if (!is_wanted(l, event))
        return;
    l->count++;
    json_object(&l->json, NULL);
    json_text(&l->json, "name", event->name);
    json_text(&l->json, "group", event->group);
    json_text(&l->json, "description", event->description);
    json_text(&l->json, "stands_for", event->stands_for);
    json_number(&l->json, "precise", strlen(event->precise));
    json_number(&l->json, "record_bytes", event->bytes);
    json_number(&l->json, "address", event->address);
    json_number(&l->json, "latency", event->latency);
    json_number(&l->json, "source", event->source);
    json_number(&l->json, "batched", event->batched);
    json_end(&l->json);
}

static void write_tracepoint(void *context, const char *name)
{
    struct listing *l = context;
    if (*l->pattern && !matches(l, name))
        return;
    l->count++;
    json_text(&l->json, NULL, name);
}

static void write_json(struct listing *l)
{
    struct pebs_machine machine;
    pebs_machine(&machine);
    l->json.printer = &l->printer;
    json_object(&l->json, NULL);
    json_number(&l->json, "counters", pmus_counters(&pmus_here));
    json_number(&l->json, "core_types", pmus_kinds(&pmus_here) > 1 ? pmus_kinds(&pmus_here) : 1);
    json_number(&l->json, "precise", machine.max_precise);
    json_array(&l->json, "events");
    event_list(&pmus_here, write_event, l);
    json_end(&l->json);
    json_array(&l->json, "tracepoints");
    event_list_tracepoints(write_tracepoint, l);
    json_end(&l->json);
    json_end(&l->json);
}

static int refuse_pattern(const struct listing *l, struct fathom_error *err)
{
    char near[300];
    near_names(l->options->pattern, near, sizeof near);
    return error_set(err, ENOENT,
                     "no event that can be sampled here has '%s' in its name or description%s%s%s",
                     l->options->pattern, near[0] ? ": did you mean " : "", near, near[0] ? "?" : "");
}

int fathom_events_write(const struct fathom_events_options *options, FILE *out, struct fathom_error *err)
{
    struct listing l = {.options = options, .printer.out = out};
    if (options->pattern && strlen(options->pattern) > FATHOM_EVENTS_PATTERN)
        return error_set(err, EINVAL, "the pattern is longer than %d bytes", FATHOM_EVENTS_PATTERN);
    if (options->pattern)
        set_pattern(&l, options->pattern);
    if (options->json)
        write_json(&l);
    else
        print_text(&l);
    int rc = printer_finish(&l.printer, err);
    return rc == 0 && options->pattern && !l.count && !options->json ? refuse_pattern(&l, err) : rc;
}
