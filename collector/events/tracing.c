/* tracing.c - the tracepoints' formats for stock perf; see tracing.h. */
#include "collector/events/tracing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/events/tracefs.h"

static void put_bytes(FILE *out, const void *data, size_t size)
{
    fwrite(data, 1, size, out);
}

static void put_u32(FILE *out, uint32_t value)
{
    put_bytes(out, &value, sizeof value);
}

/* Size and text of a file of tracefs. */
static int put_file(FILE *out, const char *path)
{
    char *text;
    size_t size;
    int rc = tracefs_read(path, &text, &size);
    if (rc)
        return rc;
    uint64_t told = size;
    put_bytes(out, &told, sizeof told);
    put_bytes(out, text, size);
    free(text);
    return 0;
}

static int put_header(FILE *out)
{
    static const char magic[] = "\027\010\104"
                                "tracing"
                                "0.6";
    static const char page[] = "header_page", event[] = "header_event";
    put_bytes(out, magic, sizeof magic); /* with the version's NUL */
    fputc(0, out);                       /* little-endian */
    fputc(sizeof(long), out);
    put_u32(out, (uint32_t)sysconf(_SC_PAGESIZE));
    put_bytes(out, page, sizeof page);
    int rc = put_file(out, "events/header_page");
    put_bytes(out, event, sizeof event);
    return rc ? rc : put_file(out, "events/header_event");
}

/* A system with the format of one tracepoint: perf accepts a system that is listed twice. */
static int put_tracepoint(FILE *out, const char *name)
{
    const char *colon = strchr(name, ':');
    if (!colon)
        return -EINVAL;
    size_t length = (size_t)(colon - name);
    char path[256];
    put_bytes(out, name, length);
    fputc(0, out);
    put_u32(out, 1);
    /* a field that is the weight stands behind a slash */
    snprintf(path, sizeof path, "events/%.*s/%.*s/format", (int)length, name, (int)strcspn(colon + 1, "/"),
             colon + 1);
    return put_file(out, path);
}

static bool is_tracepoint(const struct event *event)
{
    return event->attr.type == PERF_TYPE_TRACEPOINT;
}

int tracing_data(const struct event *events, size_t count, uint8_t **data, size_t *size,
                 struct fathom_error *err)
{
    uint32_t tracepoints = 0;
    char *made = NULL;
    size_t made_size = 0;
    for (size_t i = 0; i < count; i++)
        tracepoints += is_tracepoint(&events[i]);
    *data = NULL;
    *size = 0;
    if (!tracepoints)
        return 0;
    FILE *out = open_memstream(&made, &made_size);
    if (!out)
        return error_memory(err);
    int rc = put_header(out);
    put_u32(out, 0);
    put_u32(out, tracepoints);
    for (size_t i = 0; i < count && rc == 0; i++)
        if (is_tracepoint(&events[i]))
            rc = put_tracepoint(out, events[i].tracepoint ? events[i].tracepoint : events[i].name);
    put_u32(out, 0);
    put_u32(out, 0);
    put_bytes(out, &(uint64_t){0}, sizeof(uint64_t));
    bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed || rc == -ENOMEM) {
        free(made);
        return error_memory(err);
    }
    if (rc) {
        free(made);
        return 0;
    }
    *data = (uint8_t *)made;
    *size = made_size;
    return 0;
}
