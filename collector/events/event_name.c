/* event_name.c - event names and their modifiers; see event_name.h. */
#include "collector/events/event_name.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/events/near.h"
#include "collector/events/pfm.h"
#include "collector/events/sysfs_event.h"
#include "collector/events/tracefs.h"
#include "perfdata/software.h"

/* Removes a final ":..." consisting only of u, k and p from name->text. */
static int take_modifiers(const char *text, struct event_name *name, struct fathom_error *err)
{
    if (strlen(text) >= sizeof name->text - 1)
        return error_set(err, EINVAL, "the event name is longer than %zu bytes", sizeof name->text - 2);
    strcpy(name->text, text);
    char *colon = strrchr(name->text, ':'), *slash = strrchr(name->text, '/');
    if (slash && (!colon || colon < slash) && slash[1] && slash[1 + strspn(slash + 1, "ukp")] == '\0') {
        colon = slash + 1; /* as perf writes them: pmu/term/pp */
        memmove(colon + 1, colon, strlen(colon) + 1);
        *colon = ':';
    }
    if (!colon || colon == name->text || colon[1] == '\0' || colon[1 + strspn(colon + 1, "ukp")] != '\0')
        return 0;
    if (strchr(colon, 'k'))
        return error_set(err, EINVAL,
                         "event '%s': ':k' asks for the kernel alone, but calling contexts are those of user "
                         "code; use --kernel for both, or no modifier",
                         text);
    for (const char *c = colon; *c; c++)
        name->precise += *c == 'p';
    *colon = '\0';
    return 0;
}

/* mem:ADDR[/LEN][:rwx] */
static int parse_breakpoint(const char *text, struct perf_event_attr *attr, struct fathom_error *err)
{
    char *end;
    errno = 0;
    uint64_t address = strtoull(text + 4, &end, 0), length = 0;
    if (errno || end == text + 4)
        goto bad;
    if (*end == '/') {
        const char *at = end + 1;
        length = strtoull(at, &end, 0);
        if (end == at || (length != 1 && length != 2 && length != 4 && length != 8))
            return error_set(err, EINVAL, "event '%s': a breakpoint is 1, 2, 4 or 8 bytes long", text);
    }
    uint32_t type = 0;
    if (*end == ':') {
        for (end++; *end; end++) {
            if (*end == 'r')
                type |= HW_BREAKPOINT_R;
            else if (*end == 'w')
                type |= HW_BREAKPOINT_W;
            else if (*end == 'x')
                type |= HW_BREAKPOINT_X;
            else
                goto bad;
        }
    }
    if (*end)
        goto bad;
    if (type == 0)
        type = HW_BREAKPOINT_R | HW_BREAKPOINT_W;
    if ((type & HW_BREAKPOINT_X) && (type & HW_BREAKPOINT_RW))
        return error_set(err, EINVAL, "event '%s': x cannot be combined with r or w", text);
    attr->type = PERF_TYPE_BREAKPOINT;
    attr->bp_type = type;
    attr->bp_addr = address;
    /* x86 requires sizeof(long) for an instruction breakpoint (arch/x86/kernel/hw_breakpoint.c). */
    attr->bp_len = type == HW_BREAKPOINT_X ? sizeof(long) : length ? length : HW_BREAKPOINT_LEN_4;
    return 0;
bad:
    return error_set(err, EINVAL, "event '%s' is not of the form mem:ADDRESS[/LENGTH][:rwx]", text);
}

static bool parse_software(const char *text, struct perf_event_attr *attr)
{
    const struct software_event *event = software_find(text);
    if (!event)
        return false;
    attr->type = PERF_TYPE_SOFTWARE;
    attr->config = event->config;
    return true;
}

/* SYSTEM:NAME, each a plain file name. -ENOENT without a message: not of this form, or not found. */
static int parse_tracepoint(const char *text, struct perf_event_attr *attr)
{
    const char *colon = strchr(text, ':');
    if (!colon || colon == text || !colon[1] || strchr(text, '/') || strchr(colon + 1, ':') || text[0] == '.')
        return -ENOENT;
    char path[256];
    snprintf(path, sizeof path, "events/%.*s/%s/id", (int)(colon - text), text, colon + 1);
    uint64_t id;
    int rc = tracefs_number(path, &id);
    if (rc)
        return -ENOENT;
    attr->type = PERF_TYPE_TRACEPOINT;
    attr->config = id;
    return 0;
}

/* Whether the text begins with a system of tracepoints: libpfm4, which knows tracepoints where debugfs is
 * mounted, would parse the rest as an attribute. */
static bool has_system(const char *text)
{
    char path[256];
    const size_t length = strcspn(text, ":/.");
    if (!length || text[length] != ':')
        return false;
    snprintf(path, sizeof path, "events/%.*s", (int)length, text);
    const int fd = tracefs_open(path, O_RDONLY | O_DIRECTORY);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* Software events that are raised in kernel mode: with exclude_kernel they would never fire. */
static bool fires_in_kernel(const struct perf_event_attr *attr)
{
    return attr->type == PERF_TYPE_TRACEPOINT ||
           (attr->type == PERF_TYPE_SOFTWARE &&
            (attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES || attr->config == PERF_COUNT_SW_CPU_MIGRATIONS ||
             attr->config == PERF_COUNT_SW_CGROUP_SWITCHES));
}

static int refuse_unknown(const char *text, struct fathom_error *err)
{
    char near[300], *events;
    size_t size;
    if (!err) /* the caller only wants to know */
        return -ENOENT;
    near_names(text, near, sizeof near);
    const char *tracepoints = "";
    if (strchr(text, ':') && tracefs_read("available_events", &events, &size) == 0)
        free(events);
    else if (strchr(text, ':'))
        tracepoints = " (for tracepoints, /sys/kernel/tracing must be readable; as root it need not be "
                      "mounted)";
    return error_set(err, ENOENT,
                     "there is no event '%s'%s%s%s 'fathom events' shows what can be sampled here%s", text,
                     near[0] ? ": did you mean " : "", near, near[0] ? "?" : ":", tracepoints);
}

/* Any name but an alias, a breakpoint or one of sysfs. */
static int parse_listed(struct event_name *name, struct perf_event_attr *attr, struct fathom_error *err)
{
    const char *reason = "";
    struct pfm_code code;
    int rc = pfm_encode(name->text, &code, &reason);
    if (rc == 0) {
        attr->type = code.type;
        attr->config = code.config;
        attr->config1 = code.config1;
        attr->config2 = code.config2;
        name->period = code.freq ? 0 : code.period;
        name->frequency = code.freq ? code.period : 0;
        if (!name->precise)
            name->precise = code.precise;
    } else if (!parse_software(name->text, attr) && parse_tracepoint(name->text, attr) != 0) {
        if (rc == -EINVAL && !has_system(name->text))
            return error_set(err, EINVAL, "event '%s': %s", name->text, reason);
        return refuse_unknown(name->text, err);
    }
    return 0;
}

static void take_alias(struct event_name *name, struct perf_event_attr attrs[ALIAS_EVENTS])
{
    name->kinds = name->alias.count;
    for (size_t i = 0; i < name->kinds; i++)
        attrs[i] = name->alias.events[i].attr;
    if (name->kinds && !name->precise)
        name->precise = attrs[0].precise_ip;
}

int event_name_parse(const struct pmus *pmus, const char *text, struct event_name *name,
                     struct perf_event_attr attrs[ALIAS_EVENTS], struct fathom_error *err)
{
    memset(name, 0, sizeof *name);
    memset(attrs, 0, ALIAS_EVENTS * sizeof *attrs);
    name->kinds = 1;
    if (strncmp(text, "mem:", 4) == 0) {
        if (strlen(text) >= sizeof name->text)
            return error_set(err, EINVAL, "the event name is longer than %zu bytes", sizeof name->text - 1);
        strcpy(name->text, text);
        return parse_breakpoint(text, attrs, err);
    }
    int rc = take_modifiers(text, name, err);
    if (rc == 0)
        rc = alias_find(pmus, name->text, &name->alias, err);
    if (rc == 0 && name->alias.alias) {
        take_alias(name, attrs);
        return 0;
    }
    if (rc == 0)
        rc = sysfs_event_parse(pmus, name->text, attrs, err);
    if (rc == -ENOENT)
        rc = parse_listed(name, attrs, err);
    name->in_kernel = rc == 0 && fires_in_kernel(attrs);
    return rc;
}
