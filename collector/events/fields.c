/* fields.c - see fields.h. */
#include "collector/events/fields.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "collector/events/tracefs.h"
#include "perfdata/latency.h"

/* A line of a format: "\tfield:unsigned long bytes;\toffset:16;\tsize:8;\tsigned:0;" */
struct line {
    const char *declared, *name;
    size_t length;
    unsigned at, size;
    int is_signed;
};

static bool is_word(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The next line with a field of one number, skipping the fields common to all tracepoints. *text: set behind
 * the line. */
static bool next_field(const char **text, struct line *out)
{
    static const char key[] = "\tfield:", common[] = "common_";
    for (const char *at = *text; (at = strstr(at, key));) {
        const char *declared = at + strlen(key), *end = strchr(declared, ';');
        at = declared;
        if (!end ||
            sscanf(end, ";\toffset:%u;\tsize:%u;\tsigned:%d;", &out->at, &out->size, &out->is_signed) != 3)
            continue;
        const char *name = end;
        while (name > declared && is_word(name[-1]))
            name--;
        out->declared = declared;
        out->name = name;
        out->length = (size_t)(end - name);
        if (out->length == 0 || strncmp(name, common, strlen(common)) == 0)
            continue;
        *text = end;
        return true;
    }
    return false;
}

/* Whether the field is an address, or the position of a text in the raw data ("__data_loc char[] name"). */
static bool is_reference(const struct line *line)
{
    static const char data[] = "__data_loc", relative[] = "__rel_loc";
    return memchr(line->declared, '*', (size_t)(line->name - line->declared)) ||
           strncmp(line->declared, data, strlen(data)) == 0 ||
           strncmp(line->declared, relative, strlen(relative)) == 0;
}

static bool is_number(const struct line *line)
{
    return !is_reference(line) && line->at <= UINT16_MAX &&
           (line->size == 1 || line->size == 2 || line->size == 4 || line->size == 8);
}

struct weight_field fields_find(const char *format, const char *name)
{
    struct line line;
    while (next_field(&format, &line))
        if (is_number(&line) && strlen(name) == line.length && memcmp(name, line.name, line.length) == 0)
            return (struct weight_field){(uint16_t)line.at, (uint8_t)line.size, line.is_signed != 0};
    return (struct weight_field){0};
}

/* "nr, fd, count": the fields that can be weights, or all that the kernel can filter by. */
static void list_fields(const char *format, bool all, char *out, size_t size)
{
    struct line line;
    size_t used = 0;
    *out = '\0';
    while (next_field(&format, &line) && used < size)
        if (all || is_number(&line))
            used += (size_t)snprintf(out + used, size - used, "%s%.*s", used ? ", " : "", (int)line.length,
                                     line.name);
}

/* The text of an event's format; NULL: none. The caller frees it. */
static char *read_format(const struct event *event)
{
    char path[sizeof event->name + 32], *text, *colon;
    size_t size;
    snprintf(path, sizeof path, "events/%s", event->tracepoint ? event->tracepoint : event->name);
    colon = strchr(path, ':');
    if (!colon)
        return NULL;
    *colon++ = '/';
    colon[strcspn(colon, ":/")] = '\0'; /* a modifier, or the field added by use_weight() */
    strcat(path, "/format");
    return tracefs_read(path, &text, &size) == 0 ? text : NULL;
}

bool fields_of_probe(const struct event *event)
{
    char *format = read_format(event);
    const bool is = format && (strstr(format, " __probe_ip;") || strstr(format, " __probe_func;"));
    free(format);
    return is;
}

/* told: write the field into the event's name. */
static int use_weight(struct event *event, const char *weight, bool told, struct fathom_error *err)
{
    char names[512] = "";
    char *format = read_format(event);
    if (!format)
        return error_set(err, EINVAL, "the fields of event %s cannot be read in tracefs", event->name);
    const struct weight_field field = fields_find(format, weight);
    list_fields(format, false, names, sizeof names);
    free(format);
    if (!field.size)
        return error_set(err, EINVAL, "event %s has no number '%s'; it has: %s", event->name, weight,
                         *names ? names : "none");
    weight_field_set(&event->attr, &field);
    const size_t used = strlen(event->name);
    if (told)
        snprintf(event->name + used, sizeof event->name - used, "/%s/", weight);
    return 0;
}

int fields_use(struct event *events, size_t count, const char *filter, const char *weight,
               struct fathom_error *err)
{
    size_t tracepoints = 0;
    int rc = 0;
    for (size_t i = 0; i < count && rc == 0; i++) {
        if (events[i].attr.type != PERF_TYPE_TRACEPOINT || latency_event_of(&events[i].attr))
            continue;
        tracepoints++;
        events[i].filter = events[i].weight ? NULL : filter;
        if (events[i].weight)
            rc = use_weight(&events[i], events[i].weight, false, err);
        else if (weight)
            rc = use_weight(&events[i], weight, true, err);
    }
    if (rc == 0 && !tracepoints && (filter || weight))
        return error_set(
            err, EINVAL,
            "only tracepoints have fields to filter or to weigh by, such as -e syscalls:sys_exit_read: %s "
            "is none",
            events[0].name);
    return rc;
}

/* calc_stack() of kernel/trace/trace_events_filter.c returns -1, -2 or -3 for an extra parenthesis, a missing
 * one, and an unterminated quote. */
static bool is_syntax(int code)
{
    return code == EINVAL || code == EPERM || code == ENOENT || code == ESRCH;
}

int fields_filter(const struct event *event, int fd, struct fathom_error *err)
{
    char names[512] = "";
    if (!event->filter || ioctl(fd, PERF_EVENT_IOC_SET_FILTER, event->filter) == 0)
        return 0;
    const int code = errno;
    char *format = is_syntax(code) ? read_format(event) : NULL;
    if (!format)
        return error_system(err, code, "cannot filter event '%s'", event->name);
    list_fields(format, true, names, sizeof names);
    free(format);
    return error_set(err, EINVAL,
                     "the kernel does not understand '%s' as a filter of event %s, whose fields are: %s",
                     event->filter, event->name, names);
}
