/* near.c - finds similar event names; see near.h. */
#include "collector/events/near.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "collector/events/alias.h"
#include "collector/events/event_list.h"
#include "collector/events/pfm.h"
#include "perfdata/software.h"

#define NAME_MAX_HERE 128 /* no suggestions for longer names */
#define NEAREST       3

struct near {
    const char *name;
    unsigned most; /* largest distance that counts as near */
    size_t count;
    struct {
        char name[NAME_MAX_HERE];
        unsigned distance;
    } nearest[NEAREST]; /* by distance */
};

static int fold_character(char c)
{
    return c == '_' ? '-' : tolower((unsigned char)c);
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned near_distance(const char *a, const char *b, unsigned most)
{
    /* Damerau's distance in three rows: rows[i % 3][j] is the one between a's first i and b's first j
     * characters. */
    unsigned rows[3][NAME_MAX_HERE + 1];
    size_t m = strlen(a), n = strlen(b);
    if (m > NAME_MAX_HERE || n > NAME_MAX_HERE || (m > n ? m - n : n - m) > most)
        return most + 1;
    for (size_t j = 0; j <= n; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= m; i++) {
        unsigned *row = rows[i % 3];
        const unsigned *above = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= n; j++) {
            int x = fold_character(a[i - 1]), y = fold_character(b[j - 1]);
            row[j] = least(least(above[j] + 1, row[j - 1] + 1), above[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == fold_character(b[j - 2]) && y == fold_character(a[i - 2]))
                row[j] = least(row[j], second[j - 2] + 1);
        }
    }
    return least(rows[m % 3][n], most + 1);
}

static void consider_name(struct near *near, const char *name)
{
    unsigned distance = near_distance(near->name, name, near->most);
    if (distance > near->most || strlen(name) >= NAME_MAX_HERE)
        return;
    size_t place = near->count;
    for (size_t i = 0; i < near->count; i++)
        if (strcasecmp(near->nearest[i].name, name) == 0)
            return;
    while (place > 0 && near->nearest[place - 1].distance > distance)
        place--;
    if (place == NEAREST)
        return;
    if (near->count < NEAREST)
        near->count++;
    memmove(&near->nearest[place + 1], &near->nearest[place],
            (near->count - place - 1) * sizeof *near->nearest);
    strcpy(near->nearest[place].name, name);
    near->nearest[place].distance = distance;
}

static void consider_pfm(void *context, const struct pfm_event *event)
{
    if (!event->umask)
        consider_name(context, event->name);
}

static void consider_tracepoint(void *near, const char *name)
{
    consider_name(near, name);
}

size_t near_names(const char *name, char *out, size_t size)
{
    struct near near = {.name = name, .most = (unsigned)(strlen(name) + 2) / 4};
    for (const struct alias *alias = aliases; alias->name; alias++)
        consider_name(&near, alias->name);
    for (const struct software_event *event = software_events; event->name; event++)
        consider_name(&near, event->name);
    pfm_events(consider_pfm, &near);
    if (strchr(name, ':'))
        event_list_tracepoints(consider_tracepoint, &near);
    size_t used = 0;
    *out = '\0';
    for (size_t i = 0; i < near.count && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s'%s'",
                                 i == 0                ? ""
                                 : i + 1 == near.count ? " or "
                                                       : ", ",
                                 near.nearest[i].name);
    return near.count;
}
