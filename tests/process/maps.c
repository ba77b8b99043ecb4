/* maps.c - see maps.h. */
#include "tests/process/maps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line of /proc/PID/maps. */
struct line {
    uint64_t start, end, offset;
    char prot[8], path[512];
};

static FILE *maps_open(uint32_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/maps", pid);
    FILE *maps = fopen(path, "r");
    if (!maps)
        abort();
    return maps;
}

static bool maps_next(FILE *maps, struct line *line)
{
    char text[1024];
    if (!fgets(text, sizeof text, maps))
        return false;
    line->path[0] = 0;
    sscanf(text, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %511[^\n]", &line->start, &line->end,
           line->prot, &line->offset, line->path);
    return true;
}

void maps_read(uint32_t pid,
               int (*sink)(void *context, const struct record *record, struct fathom_error *err),
               void *context)
{
    FILE *maps = maps_open(pid);
    struct line line;
    while (maps_next(maps, &line)) {
        struct record record = {.kind = RECORD_MMAP, .pid = pid, .tid = pid};
        record.mmap.address = line.start;
        record.mmap.length = line.end - line.start;
        record.mmap.offset = line.offset;
        record.mmap.executable = strchr(line.prot, 'x') != NULL;
        record.mmap.path = line.path;
        if (sink(context, &record, NULL) < 0)
            abort();
    }
    fclose(maps);
}

uint64_t maps_end(uint32_t pid, uint64_t address)
{
    FILE *maps = maps_open(pid);
    struct line line;
    uint64_t end = 0;
    while (!end && maps_next(maps, &line))
        end = line.start <= address && address < line.end ? line.end : 0;
    fclose(maps);
    return end;
}
