/*
 * cgroup_names.c - see cgroup_names.h. Names are those that runc's drivers (libcontainer/cgroups, systemd and cgroupfs), podman, CRI-O
 * and LXC give; units: systemd.unit(5).
 */
#include "profile/cgroup_names.h"

#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { ID_DIGITS = 64, ID_SHOWN = 12 };

struct component {
    const char *at;
    size_t length;
};

/* The one before *end, which becomes its beginning. */
static bool previous(const char *path, const char **end, struct component *out)
{
    const char *to = *end;
    while (to > path && to[-1] == '/')
        to--;
    const char *from = to;
    while (from > path && from[-1] != '/')
        from--;
    *out = (struct component){from, (size_t)(to - from)};
    *end = from;
    return to > from;
}

static bool take_end(struct component *c, const char *end)
{
    size_t length = strlen(end);
    if (c->length <= length || memcmp(c->at + c->length - length, end, length) != 0)
        return false;
    c->length -= length;
    return true;
}

static bool has_end(struct component c, const char *end)
{
    return take_end(&c, end);
}

static bool take_begin(struct component *c, const char *begin)
{
    size_t length = strlen(begin);
    if (c->length <= length || memcmp(c->at, begin, length) != 0)
        return false;
    *c = (struct component){c->at + length, c->length - length};
    return true;
}

/* Copies at most `most` bytes. */
static void copy(char name[CGROUP_NAME_SIZE], struct component c, size_t most)
{
    if (most >= CGROUP_NAME_SIZE)
        most = CGROUP_NAME_SIZE - 1;
    snprintf(name, CGROUP_NAME_SIZE, "%.*s", (int)(c.length < most ? c.length : most), c.at);
}

/* "ID", or "runtime-ID", "slice:runtime:ID". */
static bool take_id(struct component *c)
{
    take_end(c, ".scope");
    const size_t before = c->length - ID_DIGITS;
    if (c->length < ID_DIGITS || (before && c->at[before - 1] != '-' && c->at[before - 1] != ':'))
        return false;
    for (size_t i = before; i < c->length; i++)
        if (!isxdigit((unsigned char)c->at[i]))
            return false;
    if (before && has_end((struct component){c->at, before - 1}, "-conmon"))
        return false;
    *c = (struct component){c->at + before, ID_DIGITS};
    return true;
}

bool cgroup_container(const char *path, char name[CGROUP_NAME_SIZE])
{
    struct component c;
    for (const char *end = path + strlen(path); previous(path, &end, &c);) {
        bool id = take_id(&c);
        if (id || take_begin(&c, "lxc.payload.")) {
            copy(name, c, id ? ID_SHOWN : SIZE_MAX);
            return true;
        }
    }
    return false;
}

bool cgroup_service(const char *path, char name[CGROUP_NAME_SIZE])
{
    struct component c;
    for (const char *end = path + strlen(path); previous(path, &end, &c);)
        if (has_end(c, ".service") || has_end(c, ".scope")) {
            copy(name, c, SIZE_MAX);
            return true;
        }
    return false;
}
