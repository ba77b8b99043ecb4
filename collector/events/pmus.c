/* pmus.c - see pmus.h. */
#include "collector/events/pmus.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collector/events/open.h"

const struct pmus pmus_here = {"/sys/bus/event_source/devices", open_probe, NULL};

static void path_of(const struct pmus *pmus, const char *pmu, const char *file, char *out, size_t size)
{
    snprintf(out, size, "%s/%s/%s", pmus->devices, pmu, file);
}

const char *const pmus_cores[] = {"cpu", PMUS_CORE, PMUS_ATOM, PMUS_LOW, NULL};

long pmus_number(const struct pmus *pmus, const char *pmu, const char *file, long absent)
{
    char path[512];
    path_of(pmus, pmu, file, path, sizeof path);
    return open_setting(path, absent);
}

long pmus_type(const struct pmus *pmus, const char *pmu)
{
    return pmus_number(pmus, pmu, "type", -1);
}

bool pmus_has(const struct pmus *pmus, const char *pmu, const char *file)
{
    char path[512];
    path_of(pmus, pmu, file, path, sizeof path);
    return access(path, F_OK) == 0;
}

bool pmus_text(const struct pmus *pmus, const char *pmu, const char *file, char *out, size_t size)
{
    char path[512];
    path_of(pmus, pmu, file, path, sizeof path);
    FILE *text = fopen(path, "re");
    bool read = text && fgets(out, (int)size, text) != NULL;
    if (text)
        fclose(text);
    out[read ? strcspn(out, "\n") : 0] = '\0';
    return read;
}

unsigned pmus_kinds(const struct pmus *pmus)
{
    unsigned kinds = 0;
    for (size_t i = 0; pmus_cores[i]; i++)
        kinds += pmus_type(pmus, pmus_cores[i]) >= 0;
    return kinds;
}

bool pmus_is_core(const struct pmus *pmus, unsigned type)
{
    for (size_t i = 0; pmus_cores[i]; i++)
        if (pmus_type(pmus, pmus_cores[i]) == (long)type)
            return true;
    return false;
}

bool pmus_counters(const struct pmus *pmus)
{
    return pmus_type(pmus, "cpu") >= 0 || pmus_type(pmus, PMUS_CORE) >= 0;
}
