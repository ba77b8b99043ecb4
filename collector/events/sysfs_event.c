/* sysfs_event.c - see sysfs_event.h. */
#include "collector/events/sysfs_event.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE 64

struct parse {
    const struct pmus *pmus;
    char pmu[NAME_SIZE];
    const char *whole; /* for messages */
    struct perf_event_attr *attr;
    bool nested; /* inside of events/NAME, which may not name another event */
};

/* The first line of a PMU's file "KIND/NAME". */
static bool read_line(const struct parse *p, const char *kind, const char *name, char *out, size_t size)
{
    char file[2 * NAME_SIZE];
    snprintf(file, sizeof file, "%s/%s", kind, name);
    return pmus_text(p->pmus, p->pmu, file, out, size);
}

static __u64 *field(struct perf_event_attr *attr, const char *name, size_t size)
{
    if (size == 6 && memcmp(name, "config", 6) == 0)
        return &attr->config;
    if (size == 7 && memcmp(name, "config1", 7) == 0)
        return &attr->config1;
    return size == 7 && memcmp(name, "config2", 7) == 0 ? &attr->config2 : NULL;
}

/* Stores the value's bits, the lowest first, in those named by the format. false: the value has more, or the
 * format is not understood. */
static bool place_field(struct perf_event_attr *attr, const char *format, uint64_t value)
{
    const char *at = strchr(format, ':');
    __u64 *to = at ? field(attr, format, (size_t)(at - format)) : NULL;
    while (to && *at) {
        unsigned low, high;
        int used = 0;
        if (sscanf(at + 1, "%u%n", &low, &used) != 1)
            return false;
        at += 1 + used;
        high = low;
        if (*at == '-') {
            if (sscanf(at + 1, "%u%n", &high, &used) != 1)
                return false;
            at += 1 + used;
        }
        if ((*at && *at != ',') || low > high || high > 63)
            return false;
        unsigned bits = high - low + 1;
        uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
        *to = (*to & ~(mask << low)) | (value & mask) << low;
        value = bits == 64 ? 0 : value >> bits;
    }
    return to && value == 0;
}

static int parse_terms(struct parse *p, const char *terms, size_t size, struct fathom_error *err);

static int parse_term(struct parse *p, const char *term, size_t size, struct fathom_error *err)
{
    char name[NAME_SIZE], line[256];
    uint64_t value = 1;
    if (size == 0)
        return 0;
    if (size >= sizeof name)
        return error_set(err, EINVAL, "event '%s': a term is too long", p->whole);
    memcpy(name, term, size);
    name[size] = '\0';
    char *equals = strchr(name, '=');
    if (equals) {
        char *end;
        errno = 0;
        *equals = '\0';
        value = strtoull(equals + 1, &end, 0);
        if (errno || end == equals + 1 || *end)
            return error_set(err, EINVAL, "event '%s': the value of '%s' is not a number", p->whole, name);
    }
    bool plain =
        *name &&
        name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")] == '\0';
    if (plain && read_line(p, "format", name, line, sizeof line)) {
        if (place_field(p->attr, line, value))
            return 0;
        return error_set(err, EINVAL, "event '%s': %#llx is too large for '%s'", p->whole,
                         (unsigned long long)value, name);
    }
    if (plain && !equals && !p->nested && read_line(p, "events", name, line, sizeof line)) {
        p->nested = true;
        int rc = parse_terms(p, line, strlen(line), err);
        p->nested = false;
        return rc;
    }
    return error_set(err, EINVAL, "event '%s': PMU %s has no term '%s': %s/%s/format lists them", p->whole,
                     p->pmu, name, p->pmus->devices, p->pmu);
}

static int parse_terms(struct parse *p, const char *terms, size_t size, struct fathom_error *err)
{
    int rc = 0;
    for (const char *end = terms + size; rc == 0 && terms < end;) {
        const char *comma = memchr(terms, ',', (size_t)(end - terms));
        size_t length = (size_t)((comma ? comma : end) - terms);
        rc = parse_term(p, terms, length, err);
        terms += length + 1;
    }
    return rc;
}

int sysfs_event_parse(const struct pmus *pmus, const char *text, struct perf_event_attr *attr,
                      struct fathom_error *err)
{
    struct perf_event_attr made = {0};
    struct parse p = {.pmus = pmus, .whole = text, .attr = &made};
    const char *slash = strchr(text, '/'), *last = strrchr(text, '/');
    size_t size = slash ? (size_t)(slash - text) : 0;
    if (!size || size >= sizeof p.pmu || last == slash || last[1] || text[0] == '.')
        return -ENOENT;
    memcpy(p.pmu, text, size);
    long type = pmus_type(pmus, p.pmu);
    if (type < 0)
        return -ENOENT;
    int rc = parse_terms(&p, slash + 1, (size_t)(last - slash - 1), err);
    if (rc)
        return rc;
    attr->type = (__u32)type;
    attr->config = made.config;
    attr->config1 = made.config1;
    attr->config2 = made.config2;
    return 0;
}
