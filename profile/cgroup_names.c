/*
 * cgroup_names.c - see cgroup_names.h. Names are those given by runc's drivers (libcontainer/cgroups, systemd and cgroupfs),
 * podman, CRI-O and LXC; units: systemd.unit(5).
 */
#include "profile/cgroup_names.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/container_id.h"

#define ID_SHOWN 12 /* digits */

struct component {
    const char *at;
    size_t length;
};

/* The component before *end, which is moved to the component's beginning. */
static bool previous_component(const char *path, const char **end, struct component *out)
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

static bool has_end(struct component c, const char *end)
{
    size_t length = strlen(end);
    return c.length > length && memcmp(c.at + c.length - length, end, length) == 0;
}

static bool take_begin(struct component *c, const char *begin)
{
    size_t length = strlen(begin);
    if (c->length <= length || memcmp(c->at, begin, length) != 0)
        return false;
    *c = (struct component){c->at + length, c->length - length};
    return true;
}

static void copy_component(char name[CGROUP_NAME_SIZE], struct component c)
{
    snprintf(name, CGROUP_NAME_SIZE, "%.*s",
             (int)(c.length < CGROUP_NAME_SIZE ? c.length : CGROUP_NAME_SIZE - 1), c.at);
}

bool cgroup_container(const char *path, char name[CGROUP_NAME_SIZE])
{
    struct component c;
    for (const char *end = path + strlen(path); previous_component(path, &end, &c);) {
        const char *id = container_id(c.at, c.length);
        if (id)
            c = (struct component){id, ID_SHOWN};
        if (id || take_begin(&c, "lxc.payload.")) {
            copy_component(name, c);
            return true;
        }
    }
    return false;
}

bool cgroup_service(const char *path, char name[CGROUP_NAME_SIZE])
{
    struct component c;
    for (const char *end = path + strlen(path); previous_component(path, &end, &c);)
        if (has_end(c, ".service") || has_end(c, ".scope")) {
            copy_component(name, c);
            return true;
        }
    return false;
}
