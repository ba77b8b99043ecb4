/*
 * features.c - the feature sections of a perf.data file, in the format of tools/perf/util/header.c
 * (write_*()). Strings are padded to 64 bytes and carry the padded length.
 */
#include "perfdata/features.h"

#include "base/vec.h"
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/deflate.h"
#include "perfdata/format.h"
#include "perfdata/host.h"
#include "perfdata/layout.h"

#define NAME_ALIGN             64
#define BUILD_ID_HOST_PID      UINT32_MAX /* pid -1: of the host, not a guest */
#define BUILD_ID_NAME_SIZE_MAX 4160

void features_free(struct features *features)
{
    for (uint32_t i = 0; i < features->command_count; i++)
        free(features->command[i]);
    free(features->command);
    free(features->build_ids);
    free(features->tracing);
    *features = (struct features){0};
}

int features_command(struct features *features, int argc, char *const *argv, struct fathom_error *err)
{
    char **copy = calloc(argc > 0 ? (size_t)argc : 1, sizeof *copy);
    uint32_t count = 0;
    while (copy && (int)count < argc && (copy[count] = strdup(argv[count])))
        count++;
    if (!copy || (int)count < argc) {
        for (uint32_t i = 0; i < count; i++)
            free(copy[i]);
        free(copy);
        return error_memory(err);
    }
    for (uint32_t i = 0; i < features->command_count; i++)
        free(features->command[i]);
    free(features->command);
    features->command = copy;
    features->command_count = count;
    return 0;
}

int features_build_id(struct features *features, const char *path, const uint8_t *id, size_t id_size,
                      struct fathom_error *err)
{
    struct {
        struct perf_event_header header;
        uint32_t pid;
        uint8_t id[20];
        uint8_t id_size, reserved[3];
    } entry = {.header.misc = PERF_RECORD_MISC_USER | MISC_BUILD_ID_SIZE, .pid = BUILD_ID_HOST_PID};
    size_t name = (strlen(path) + NAME_ALIGN) / NAME_ALIGN * NAME_ALIGN;
    if (id_size == 0 || id_size > sizeof entry.id)
        return error_set(err, EINVAL, "invalid build-id of %zu bytes for %s", id_size, path);
    if (name > BUILD_ID_NAME_SIZE_MAX)
        return error_set(err, ENAMETOOLONG, "the path of an image is too long: %.64s...", path);
    size_t size = sizeof entry + name;
    if (!vec_reserve(features->build_ids, features->build_ids_size, features->build_ids_capacity, size))
        return error_memory(err);
    entry.header.size = (uint16_t)size;
    entry.id_size = (uint8_t)id_size;
    memcpy(entry.id, id, id_size);
    uint8_t *to = features->build_ids + features->build_ids_size;
    memset(to, 0, size);
    memcpy(to, &entry, sizeof entry);
    memcpy(to + sizeof entry, path, strlen(path));
    features->build_ids_size += size;
    return 0;
}

int features_tracing(struct features *features, const void *data, size_t size, struct fathom_error *err)
{
    uint8_t *copy = malloc(size);
    if (!copy)
        return error_memory(err);
    memcpy(copy, data, size);
    free(features->tracing);
    features->tracing = copy;
    features->tracing_size = size;
    return 0;
}

static void put_u32(FILE *out, uint32_t value)
{
    fwrite(&value, sizeof value, 1, out);
}

static void put_string(FILE *out, const char *text)
{
    static const char padding[NAME_ALIGN];
    size_t length = strlen(text), padded = (length + NAME_ALIGN) / NAME_ALIGN * NAME_ALIGN;
    put_u32(out, (uint32_t)padded);
    fwrite(text, 1, length, out);
    fwrite(padding, 1, padded - length, out);
}

/* Writes nothing if the text is unknown. */
static void put_known(FILE *out, const char *text)
{
    if (*text)
        put_string(out, text);
}

void feature_source_host(struct feature_source *from)
{
    if (from->features->host)
        from->host = *from->features->host;
    else
        host_read(&from->host);
}

static void put_events(FILE *out, const struct event *events, size_t count)
{
    put_u32(out, (uint32_t)count);
    put_u32(out, ATTR_SIZE);
    for (size_t i = 0; i < count; i++) {
        uint8_t attr[ATTR_SIZE];
        attr_to_file(&events[i].attr, attr);
        fwrite(attr, 1, sizeof attr, out);
        put_u32(out, (uint32_t)events[i].id_count);
        put_string(out, events[i].name);
        if (events[i].id_count)
            fwrite(events[i].ids, sizeof *events[i].ids, events[i].id_count, out);
    }
}

/* Version, type, level, ratio, space for a piece. */
static void put_compressed(FILE *out, const struct features *features)
{
    put_u32(out, 1);
    put_u32(out, COMPRESSED_ZSTD);
    put_u32(out, (uint32_t)features->level);
    put_u32(out, features->packed ? (uint32_t)(features->raw / features->packed) : 1);
    put_u32(out, DEFLATE_ROOM);
}

void feature_put(FILE *out, enum feature feature, const struct feature_source *from)
{
    const struct features *features = from->features;
    switch (feature) {
    case FEATURE_TRACING_DATA:
        if (features->tracing_size)
            fwrite(features->tracing, 1, features->tracing_size, out);
        break;
    case FEATURE_BUILD_ID:
        if (features->build_ids_size)
            fwrite(features->build_ids, 1, features->build_ids_size, out);
        break;
    case FEATURE_HOSTNAME:
        put_known(out, from->host.name.nodename);
        break;
    case FEATURE_OSRELEASE:
        put_known(out, from->host.name.release);
        break;
    case FEATURE_VERSION:
        put_string(out, PACKAGE_NAME " " PACKAGE_VERSION);
        break;
    case FEATURE_ARCH:
        put_known(out, from->host.name.machine);
        break;
    case FEATURE_NRCPUS: /* available, then online */
        if (!from->host.cpus_available)
            break;
        put_u32(out, from->host.cpus_available);
        put_u32(out, from->host.cpus_online);
        break;
    case FEATURE_CPUDESC:
        put_known(out, from->host.cpu);
        break;
    case FEATURE_CPUID:
        put_known(out, from->host.cpuid);
        break;
    case FEATURE_TOTAL_MEM:
        if (from->host.memory)
            fwrite(&from->host.memory, sizeof from->host.memory, 1, out);
        break;
    case FEATURE_CMDLINE:
        if (!features->command_count)
            break;
        put_u32(out, features->command_count);
        for (uint32_t i = 0; i < features->command_count; i++)
            put_string(out, features->command[i]);
        break;
    case FEATURE_EVENT_DESC:
        put_events(out, from->events, from->count);
        break;
    case FEATURE_SAMPLE_TIME:
        if (!features->first_time)
            break;
        fwrite(&features->first_time, sizeof features->first_time, 1, out);
        fwrite(&features->last_time, sizeof features->last_time, 1, out);
        break;
    case FEATURE_COMPRESSED:
        if (features->level)
            put_compressed(out, features);
        break;
    case FEATURE_COUNT:
        break;
    }
}

const enum feature features_written[FEATURES_WRITTEN] = {
    FEATURE_TRACING_DATA, FEATURE_BUILD_ID,   FEATURE_HOSTNAME,    FEATURE_OSRELEASE,  FEATURE_VERSION,
    FEATURE_ARCH,         FEATURE_NRCPUS,     FEATURE_CPUDESC,     FEATURE_CPUID,      FEATURE_TOTAL_MEM,
    FEATURE_CMDLINE,      FEATURE_EVENT_DESC, FEATURE_SAMPLE_TIME, FEATURE_COMPRESSED,
};

int features_serialise(const struct features *features, const struct event *events, size_t count, uint64_t at,
                       struct feature_bytes *out, struct fathom_error *err)
{
    struct feature_source from = {.features = features, .events = events, .count = count};
    char *parts[FEATURES_WRITTEN] = {NULL};
    size_t sizes[FEATURES_WRITTEN] = {0};
    size_t sections = 0, total = 0;
    uint64_t map[4] = {0};
    uint8_t *joined = NULL, *trailer = NULL;
    size_t trailer_size = 0;
    int rc = 0;

    feature_source_host(&from);
    for (size_t i = 0; i < FEATURES_WRITTEN; i++) {
        FILE *part = open_memstream(&parts[i], &sizes[i]);
        if (!part) {
            rc = error_memory(err);
            goto out;
        }
        feature_put(part, features_written[i], &from);
        if (fclose(part) != 0) {
            rc = error_memory(err);
            goto out;
        }
        total += sizes[i];
        sections += sizes[i] != 0;
    }
    total += sections * sizeof(struct file_section);
    rc = trailer_make(&features->trailer, &trailer, &trailer_size, err);
    if (rc < 0)
        goto out;
    joined = malloc(total + trailer_size);
    if (!joined) {
        rc = error_memory(err);
        goto out;
    }
    if (trailer)
        memcpy(joined + total, trailer, trailer_size);
    size_t place = sections * sizeof(struct file_section);
    sections = 0;
    for (size_t i = 0; i < FEATURES_WRITTEN; i++) {
        if (!sizes[i])
            continue;
        struct file_section section = {at + place, sizes[i]};
        memcpy(joined + sections++ * sizeof section, &section, sizeof section);
        memcpy(joined + place, parts[i], sizes[i]);
        place += sizes[i];
        map[features_written[i] / 64] |= UINT64_C(1) << features_written[i] % 64;
    }
    *out = (struct feature_bytes){.data = joined, .size = total + trailer_size};
    memcpy(out->bits, map, sizeof map);
out:
    for (size_t i = 0; i < FEATURES_WRITTEN; i++)
        free(parts[i]);
    free(trailer);
    return rc;
}
