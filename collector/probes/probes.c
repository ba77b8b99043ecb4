/* probes.c - see probes.h. */
#include "collector/probes/probes.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "collector/probes/allocators.h"
#include "collector/probes/marker_arguments.h"
#include "collector/probes/probe_file.h"
#include "collector/probes/uprobes.h"
#include "image/probe_sites.h"
#include "perfdata/heap_event.h"
#include "perfdata/latency.h"

#define PLACES_MAX 4096

enum probe_kind { PROBE_ENTRY, PROBE_RETURN, PROBE_LATENCY, PROBE_MARKER, PROBE_HEAP, PROBE_ALLOCATOR };

static const struct kind {
    const char *prefix, *form;
    size_t parts;
    bool marker;
    const char *fields; /* fields of a function: argument registers of the System V ABI, section 3.2.3 */
    enum probe_of of;   /* likewise */
} kinds[] = {
    [PROBE_ENTRY] = {"uprobe:", "uprobe:FILE:FUNCTION[+OFFSET]", 2, false,
                     "arg1=%di arg2=%si arg3=%dx arg4=%cx arg5=%r8 arg6=%r9", PROBE_OF_ENTRIES},
    [PROBE_RETURN] = {"uretprobe:", "uretprobe:FILE:FUNCTION", 2, false, "ret=$retval", PROBE_OF_RETURNS},
    [PROBE_LATENCY] = {"latency:", "latency:FILE:FUNCTION", 2, false, NULL, PROBE_OF_CALLS},
    [PROBE_MARKER] = {"usdt:", "usdt:FILE:PROVIDER:NAME", 3, true, NULL, 0},
    [PROBE_HEAP] = {"heap:", "heap:FILE:NAME", 2, true, NULL, 0},
    [PROBE_ALLOCATOR] = {"allocator:", "allocator:BYTES", 1, false, NULL, PROBE_OF_ENTRIES},
};
#define KINDS (sizeof kinds / sizeof *kinds)
/* heap/runtime.c */
#define HEAP_PROVIDER         "fathom"
#define HEAP_ALLOCATED_MARKER "allocated"
#define HEAP_FREED_MARKER     "freed"

struct probe {
    struct uprobes *event;
    enum heap_event heap;
    enum latency_event latency;
    uint32_t mean;                   /* of HEAP_ENTERED: bytes */
    enum verify_allocator allocator; /* likewise */
    char name[UPROBES_NAME + 1];
    char shown[sizeof((struct event *)0)->name];
};

struct probes {
    struct probe **list;
    size_t count, capacity;
    bool define;
    char *names;
};

/* A probe being defined, with its places. */
struct defining {
    const char *text;   /* as the user wrote it */
    char parts[3][512]; /* file, then function or provider, then the marker's name */
    uint64_t distance;  /* from the function's beginning, bytes */
    enum probe_kind kind;
    enum verify_allocator allocator; /* of PROBE_ALLOCATOR */
    struct uprobe_place *places;
    struct marker_argument (*arguments)[MARKER_ARGUMENTS]; /* of a marker, per place */
    size_t count, capacity, arguments_count, arguments_capacity;
    struct uprobe_place *exits; /* of calls */
    size_t exit_count, exit_capacity;
    size_t tails, hidden;   /* tail calls among the places; and further ones that cannot be probed */
    enum probe_fault fault; /* of the first site that cannot be probed */
    size_t faults;
    char faulty[128]; /* its name */
};

static int refuse_malformed(const struct defining *d, struct fathom_error *err)
{
    return error_set(err, EINVAL, "event '%s' is not of the form %s", d->text, kinds[d->kind].form);
}

/* FUNCTION+OFFSET: splits off the offset. A name may end in "+", as C++ operators do. */
static bool take_distance(struct defining *d)
{
    char *plus = strrchr(d->parts[1], '+'), *end;
    if (kinds[d->kind].marker || !plus || plus == d->parts[1] || plus[1] < '0' || plus[1] > '9')
        return true;
    errno = 0;
    d->distance = strtoull(plus + 1, &end, 0);
    *plus = '\0';
    return d->kind == PROBE_ENTRY && !errno && !*end && d->distance < UINT32_MAX;
}

static int take_parts(struct defining *d, struct fathom_error *err)
{
    const size_t count = kinds[d->kind].parts;
    const char *at = d->text + strlen(kinds[d->kind].prefix);
    for (size_t i = 0; i < count; i++) {
        const size_t length = i + 1 < count ? strcspn(at, ":") : strlen(at);
        if (!length || (i + 1 < count && at[length] != ':'))
            return refuse_malformed(d, err);
        if (length >= sizeof d->parts[i])
            return error_set(err, EINVAL, "event '%s': a part of its name is longer than %zu bytes", d->text,
                             sizeof d->parts[i] - 1);
        memcpy(d->parts[i], at, length);
        at += length + 1;
    }
    if (d->kind == PROBE_HEAP && strcmp(d->parts[1], HEAP_ALLOCATED_MARKER) != 0 &&
        strcmp(d->parts[1], HEAP_FREED_MARKER) != 0)
        return refuse_malformed(d, err);
    return take_distance(d) ? 0 : refuse_malformed(d, err);
}

static int add_place(void *context, const struct probe_site *site)
{
    struct defining *d = context;
    if (site->fault != PROBE_FINE) {
        if (!d->faults++) {
            d->fault = site->fault;
            snprintf(d->faulty, sizeof d->faulty, "%s", site->name);
        }
        return 0;
    }
    if (d->count >= PLACES_MAX || d->exit_count >= PLACES_MAX)
        return -E2BIG;
    const char *fields = d->kind == PROBE_ALLOCATOR ? allocators[d->allocator].fields : kinds[d->kind].fields;
    const struct uprobe_place place = {site->offset, site->counter, fields};
    for (size_t i = 0; i < d->count && d->kind == PROBE_ALLOCATOR; i++)
        if (d->places[i].offset == site->offset) /* one function with two names */
            return 0;
    d->tails += site->place == PROBE_TAIL_PLACE;
    d->hidden += site->place == PROBE_HIDDEN_PLACE;
    if (site->place == PROBE_HIDDEN_PLACE)
        return 0;
    if (site->place != PROBE_ENTRY_PLACE)
        return vec_push(d->exits, d->exit_count, d->exit_capacity, place) ? 0 : -ENOMEM;
    if (!vec_push(d->places, d->count, d->capacity, place))
        return -ENOMEM;
    if (!kinds[d->kind].marker)
        return 0;
    if (!vec_reserve(d->arguments, d->arguments_count, d->arguments_capacity, 1))
        return -ENOMEM;
    memset(d->arguments[d->arguments_count], 0, sizeof *d->arguments);
    marker_arguments_read(site->arguments, d->arguments[d->arguments_count++]);
    return 0;
}

/* Finds the functions of one class of allocator functions. */
static int find_allocator(struct defining *d, const struct image *image)
{
    const char *const *names = allocators[d->allocator].functions;
    int rc = 0;
    for (size_t i = 0; names[i] && rc == 0; i++)
        rc = probe_sites_functions(image, names[i], 0, PROBE_OF_ENTRIES, add_place, d);
    return rc;
}

static int find_places(struct defining *d, const char *path, struct fathom_error *err)
{
    struct image *image;
    const char *provider = d->kind == PROBE_HEAP ? HEAP_PROVIDER : d->parts[1];
    int rc = image_open(path, NULL, &image, err);
    if (rc < 0)
        return rc;
    if (kinds[d->kind].marker)
        rc = probe_sites_markers(image, provider, d->parts[kinds[d->kind].parts - 1], add_place, d);
    else if (d->kind == PROBE_ALLOCATOR)
        rc = find_allocator(d, image);
    else
        rc = probe_sites_functions(image, d->parts[1], d->distance, kinds[d->kind].of, add_place, d);
    image_close(image);
    if (rc == -E2BIG)
        return error_set(err, EINVAL, "event '%s' is at more than %d places of %s", d->text, PLACES_MAX,
                         path);
    return rc < 0 ? error_memory(err) : 0;
}

/* Reasons why a place cannot be probed. */
static const char *const faults[] = {
    [PROBE_RESOLVER] =
        "which only chooses the function that is called, when the program starts (IFUNC): probe "
        "that one, such as __memmove_avx_unaligned_erms",
    [PROBE_VECTOR] = "where the kernel's probes cannot be, as they go wrong on vector instructions",
    [PROBE_NO_RETURN] = "which has no return address that the kernel may change",
    [PROBE_INSIDE] = "where no instruction of the function begins at that offset",
    [PROBE_AGAIN] = "which jumps back to its own beginning, so that calls cannot be told from that",
    [PROBE_ENDLESS] = "which never returns, as far as its code tells",
};

/* Sets the message why nothing in the file can be probed. */
static int tell_nothing(const struct defining *d, const char *path, struct fathom_error *err)
{
    if (d->faults)
        return error_set(err, EINVAL, "event '%s' is at %s of %s, %s", d->text, d->faulty, path,
                         faults[d->fault]);
    if (kinds[d->kind].marker)
        return error_set(err, ENOENT, "event '%s': %s has no such marker ('readelf -n' lists them)", d->text,
                         path);
    return error_set(
        err, ENOENT,
        "event '%s': %s has no function '%s' (it may be inlined wherever it is called, its "
        "name may be in a file of debug information that is not installed, or it is in another file, such "
        "as a library, which must be named then: libc.so.6:malloc)",
        d->text, path, d->parts[1]);
}

/* Reports the places if there are several, and those that could not be probed. */
static void tell_places(const struct defining *d, const char *path, const struct probe *probe,
                        const struct log *log)
{
    if (d->faults)
        log_write(log, LOG_WARNING,
                  "event %s is at %zu place%s of %s; it is not at %zu more, one of them %s, %s", probe->shown,
                  d->count, d->count == 1 ? "" : "s", path, d->faults, d->faulty, faults[d->fault]);
    else if (d->count > 1 && d->kind != PROBE_HEAP)
        log_write(log, LOG_NOTE, "event %s is at %zu places of %s", probe->shown, d->count, path);
}

/* Reports calls that end otherwise than by a return. */
static void tell_tails(const struct defining *d, const struct log *log)
{
    if (d->tails)
        log_write(log, LOG_NOTE,
                  "%s ends by a jump to another function in %zu of %zu places (a tail call): its time ends "
                  "there, and the other one stands in its place",
                  d->parts[1], d->tails, d->exit_count);
    if (d->hidden)
        log_write(log, LOG_WARNING,
                  "%s can end in %zu places more, by conditional jumps to other functions, which are not "
                  "seen: those calls are left out",
                  d->parts[1], d->hidden);
}

/* Makes a name from the letters and digits of the function's name and a number. No other event of this
 * process has the number: the next part of a recording begins before the last one ends. */
static void choose_name(const struct defining *d, struct probe *probe)
{
    static atomic_uint last;
    const char *name = d->parts[kinds[d->kind].parts - 1];
    char plain[24];
    size_t used = 0;
    for (; *name && used + 1 < sizeof plain; name++)
        plain[used++] =
            (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') || (*name >= '0' && *name <= '9')
                ? *name
                : '_';
    plain[used] = '\0';
    snprintf(probe->name, sizeof probe->name, "p%u_%s", atomic_fetch_add(&last, 1), plain);
    if (d->kind == PROBE_ALLOCATOR) {
        snprintf(probe->shown, sizeof probe->shown, HEAP_ALLOCATED_MARKER);
        return;
    }
    const char *slash = strrchr(d->parts[0], '/'), *begin = d->text + strlen(kinds[d->kind].prefix);
    if (d->kind == PROBE_HEAP) {
        probe->heap = strcmp(d->parts[1], HEAP_ALLOCATED_MARKER) == 0 ? HEAP_ALLOCATED : HEAP_FREED;
        snprintf(probe->shown, sizeof probe->shown, "%.100s", d->parts[1]);
        return;
    }
    if (probe->latency) {
        snprintf(probe->shown, sizeof probe->shown,
                 probe->latency == LATENCY_LEFT ? EVENT_LATENCY_NAME : EVENT_ENTERED_NAME);
        return;
    }
    snprintf(probe->shown, sizeof probe->shown, "%s%s", kinds[d->kind].prefix,
             slash ? begin + (slash + 1 - d->parts[0]) : begin);
}

static int add_places(const struct defining *d, const char *path, struct probe *probe,
                      struct fathom_error *err)
{
    if (probe->latency == LATENCY_LEFT)
        return uprobes_add(probe->event, path, d->exits, d->exit_count, err);
    if (!kinds[d->kind].marker)
        return uprobes_add(probe->event, path, d->places, d->count, err);
    int rc = 0;
    for (size_t i = 0; i < d->count && rc == 0; i++) {
        char fields[MARKER_ARGUMENTS * 48];
        struct uprobe_place place = d->places[i];
        marker_arguments_fields(d->arguments, d->count, i, fields, sizeof fields);
        place.arguments = fields;
        rc = uprobes_add(probe->event, path, &place, 1, err);
    }
    return rc;
}

static int new_probe(struct probes *p, const struct defining *d, enum latency_event latency,
                     struct probe **out, struct fathom_error *err)
{
    struct probe *probe = calloc(1, sizeof *probe);
    if (!probe || !vec_push(p->list, p->count, p->capacity, probe)) {
        free(probe);
        return error_memory(err);
    }
    probe->latency = latency;
    choose_name(d, probe);
    *out = probe;
    return uprobes_open(&(struct uprobes_options){probe->name, d->kind == PROBE_RETURN}, &probe->event, err);
}

static int define_probe(struct probes *p, const struct defining *d, const char *path,
                        enum latency_event latency, const struct log *log, struct fathom_error *err)
{
    struct probe *probe;
    int rc = new_probe(p, d, latency, &probe, err);
    if (rc == 0)
        rc = add_places(d, path, probe, err);
    if (rc == 0 && latency != LATENCY_ENTERED)
        tell_places(d, path, probe, log);
    return rc;
}

static int add_probe(struct probes *p, struct defining *d, const pid_t *pids, size_t pid_count,
                     const struct log *log, struct fathom_error *err)
{
    char path[PATH_MAX];
    int rc = take_parts(d, err);
    if (rc == 0 && probe_file_find(d->parts[0], pids, pid_count, path) != 0)
        rc = error_set(err, ENOENT, "event '%s': there is no file '%s'%s", d->text, d->parts[0],
                       strchr(d->parts[0], '/')
                           ? ""
                           : " among those of the processes, in PATH, or in the directories "
                             "of libraries: give its path");
    if (rc == 0)
        rc = find_places(d, path, err);
    if (rc == 0 && !d->count)
        rc = tell_nothing(d, path, err);
    if (rc || !p->define)
        return rc;
    if (d->kind != PROBE_LATENCY)
        return define_probe(p, d, path, LATENCY_NONE, log, err);
    tell_tails(d, log);
    rc = define_probe(p, d, path, LATENCY_LEFT, log, err);
    return rc == 0 ? define_probe(p, d, path, LATENCY_ENTERED, log, err) : rc;
}

/* Reports allocator functions of a class that cannot be probed. */
static void tell_unsampled(const struct defining *d, const char *path, const struct log *log)
{
    if (d->faults)
        log_write(log, LOG_WARNING,
                  "what %zu function%s of the allocator in %s allocate%s is not sampled, one of them %s, %s",
                  d->faults, d->faults == 1 ? "" : "s", path, d->faults == 1 ? "s" : "", d->faulty,
                  faults[d->fault]);
}

/* Adds the event of one class, if a file has functions of it. */
static int add_class(struct probes *p, struct defining *d, const struct allocator_files *files, uint32_t mean,
                     const struct log *log, struct fathom_error *err)
{
    struct probe *probe = NULL;
    int rc = 0;
    for (size_t i = 0; i < files->count && rc == 0; i++) {
        d->count = d->faults = 0;
        rc = find_places(d, files->list[i].path, err);
        if (rc == 0 && p->define)
            tell_unsampled(d, files->list[i].path, log);
        if (rc < 0 || !d->count || !p->define)
            continue;
        rc = probe ? 0 : new_probe(p, d, LATENCY_NONE, &probe, err);
        if (rc == 0)
            rc = uprobes_add(probe->event, files->list[i].path, d->places, d->count, err);
    }
    if (probe) {
        probe->heap = HEAP_ENTERED;
        probe->mean = mean;
        probe->allocator = d->allocator;
    }
    return rc;
}

/* Adds several events with one name. */
static int add_allocators(struct probes *p, struct defining *d, const pid_t *pids, size_t pid_count,
                          const struct log *log, struct fathom_error *err)
{
    struct allocator_files files = {0};
    int rc = take_parts(d, err);
    char *end;
    const unsigned long mean = rc == 0 ? strtoul(d->parts[0], &end, 10) : 0;
    if (rc == 0 && (*end || !mean || mean > UINT32_MAX || !pid_count))
        rc = refuse_malformed(d, err);
    if (rc == 0)
        rc = allocators_find(pids, pid_count, &files, err);
    for (d->allocator = VERIFY_NO_ALLOCATOR + 1; rc == 0 && d->allocator < VERIFY_ALLOCATORS; d->allocator++)
        rc = add_class(p, d, &files, (uint32_t)mean, log, err);
    free(files.list);
    return rc;
}

/* Length of the first name in a list: up to a comma or brace outside of parentheses. */
static size_t name_length(const char *text)
{
    size_t depth = 0, at = 0;
    for (; text[at] && (depth || !strchr(",}", text[at])); at++) {
        if (text[at] == '(')
            depth++;
        else if (text[at] == ')' && depth)
            depth--;
    }
    return at;
}

/* Copies the list with the kernel's names. */
static int rewrite_names(struct probes *p, const char *names, FILE *out, const pid_t *pids, size_t pid_count,
                         const struct log *log, struct fathom_error *err)
{
    int rc = 0;
    bool begins = true;
    for (const char *at = names; *at && rc == 0;) {
        size_t kind = 0;
        while (begins && kind < KINDS && strncmp(at, kinds[kind].prefix, strlen(kinds[kind].prefix)) != 0)
            kind++;
        if (!begins || kind == KINDS) {
            begins = *at == ',' || *at == '{';
            fputc(*at++, out);
            continue;
        }
        const size_t length = name_length(at);
        char *text = strndup(at, length);
        struct defining d = {.text = text, .kind = (enum probe_kind)kind};
        const size_t before = p->count;
        if (!text)
            rc = error_memory(err);
        else if (d.kind == PROBE_ALLOCATOR)
            rc = add_allocators(p, &d, pids, pid_count, log, err);
        else
            rc = add_probe(p, &d, pids, pid_count, log, err);
        if (rc == 0 && !p->define)
            fputs("cpu-clock", out);
        for (size_t i = before; rc == 0 && i < p->count; i++)
            fprintf(out, "%s%s", i > before ? "," : "", uprobes_event(p->list[i]->event));
        free(d.places);
        free(d.exits);
        free(d.arguments);
        free(text);
        at += length;
        begins = false;
    }
    return rc;
}

int probes_new(const char *names, bool define, const pid_t *pids, size_t pid_count, const struct log *log,
               struct probes **out, struct fathom_error *err)
{
    struct probes *p = calloc(1, sizeof *p);
    size_t size;
    *out = NULL;
    if (!p)
        return error_memory(err);
    p->define = define;
    int rc = 0;
    if (names) {
        FILE *list = open_memstream(&p->names, &size);
        rc = list ? rewrite_names(p, names, list, pids, pid_count, log, err) : error_memory(err);
        if (list && fclose(list) != 0 && rc == 0)
            rc = error_memory(err);
    }
    if (rc)
        probes_free(p);
    else
        *out = p;
    return rc;
}

void probes_free(struct probes *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->count; i++) {
        uprobes_close(p->list[i]->event);
        free(p->list[i]);
    }
    free(p->list);
    free(p->names);
    free(p);
}

const char *probes_names(const struct probes *p)
{
    return p->names;
}

void probes_name_events(const struct probes *p, struct event *events, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < p->count; j++) {
            const char *own = uprobes_event(p->list[j]->event);
            if (strcmp(events[i].name, own) != 0)
                continue;
            events[i].tracepoint = own;
            if (p->list[j]->heap != HEAP_NONE) {
                heap_event_set(&events[i].attr, p->list[j]->heap, p->list[j]->mean);
                events[i].cookie = p->list[j]->allocator;
                events[i].weight = HEAP_WEIGHT_FIELD;
            }
            if (p->list[j]->latency)
                events[i].attr.config2 = p->list[j]->latency;
            if (p->list[j]->heap || p->list[j]->latency) {
                events[i].attr.freq = 0; /* otherwise pairs would be separated */
                events[i].attr.sample_period = 1;
            }
            memcpy(events[i].name, p->list[j]->shown, sizeof events[i].name);
        }
}
