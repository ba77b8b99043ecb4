/* levels.c - see levels.h. */
#include "profile/levels.h"

#include <errno.h>
#include <string.h>

static const char *const names[LEVELS] = {
    [LEVEL_CGROUP] = "cgroup", [LEVEL_CONTAINER] = "container", [LEVEL_SERVICE] = "service",
    [LEVEL_EXE] = "exe",       [LEVEL_COMM] = "comm",           [LEVEL_PID] = "pid",
    [LEVEL_TID] = "tid",       [LEVEL_STATE] = "state",         [LEVEL_PROGRAMS] = "programs"};

const char *level_name(enum level level)
{
    return names[level];
}

bool level_needs_cgroup(enum level level)
{
    return level == LEVEL_CGROUP || level == LEVEL_CONTAINER || level == LEVEL_SERVICE;
}

/* LEVEL_KEYS: there is no such level. */
static enum level find_key(const char *name, size_t length)
{
    enum level key = 0;
    while (key < LEVEL_KEYS && !(strlen(names[key]) == length && memcmp(names[key], name, length) == 0))
        key++;
    return key;
}

int levels_parse(const char *text, struct levels *out, struct fathom_error *err)
{
    struct levels levels = {0};
    unsigned seen = 0;
    for (const char *at = text; at; at = *at ? at + 1 : NULL) {
        size_t length = strcspn(at, ",");
        enum level key = find_key(at, length);
        const int shown = (int)(length < 64 ? length : 64);
        if (key == LEVEL_KEYS)
            return error_set(
                err, EINVAL,
                "--by: there is no '%.*s', but cgroup, container, service, exe, comm, pid, tid and state",
                shown, at);
        if (seen >> key & 1)
            return error_set(err, EINVAL, "--by: '%.*s' is given twice", shown, at);
        seen |= 1u << key;
        levels.at[levels.count++] = (uint8_t)key;
        at += length;
    }
    *out = levels;
    return 0;
}

void levels_add_programs(struct levels *levels)
{
    levels->at[levels->count++] = LEVEL_PROGRAMS;
}

enum level level_of(const struct frame *frame)
{
    return (enum level)(frame->address & 0xff);
}
