/*
 * process.c - prints what the trace of a thread has in the terms of its process's file: process TRACE. For each burst the path in which it
 * began, for each datum of it the object that it was in: its start, size, path and serial number. The paths come first.
 */
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "streams/trace/burst_file.h"
#include "streams/trace/process_file.h"

static void print_paths(const struct process_file *file)
{
    for (uint64_t id = 0; id < PROCESS_CONTEXTS_MOST; id++) {
        const struct process_path *path = process_file_path(file, id);
        if (!path)
            continue;
        printf("path %" PRIu64, id);
        for (uint32_t i = 0; i < path->depth; i++)
            printf(" %" PRIx64, path->pcs[i]);
        printf("%s\n", path->cut ? " cut" : "");
    }
}

static void print_datum(const struct process_file *file, uint64_t address)
{
    const struct process_object *object = process_file_find(file, address);
    if (object)
        printf("object %" PRIx64 " %" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", address, object->start,
               object->size, object->path, object->serial);
    else if (address)
        printf("none %" PRIx64 "\n", address);
}

static int print_bursts(struct burst_file *bursts, struct process_file *file)
{
    struct burst_record r;
    int rc;
    while ((rc = burst_file_next(bursts, &r)) > 0) {
        if (r.what == BURST_CONTEXT)
            printf("burst %" PRIu64 "\n", r.number);
        else if (r.what == BURST_HEAP && process_file_advance(file, r.number, NULL) < 0)
            return 2;
        else if (r.what == BURST_RECORD)
            print_datum(file, r.datum);
    }
    return rc < 0;
}

int main(int argc, char **argv)
{
    struct fathom_error err = {0};
    struct burst_file *bursts;
    struct process_file *file;
    if (argc != 2 || burst_file_open(argv[1], &bursts, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return 2;
    }
    const struct stream_header *of = burst_file_header(bursts);
    if (process_file_open(dirname(argv[1]), of->pid, of->process, &file, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return 2;
    }
    const struct process_header *h = process_file_header(file);
    printf("parent %" PRIu32 " heap %" PRIu32 " lost %" PRIu64 " full %" PRIu32 "%s\n", h->parent, h->heap,
           h->heap_lost, h->full, process_file_damaged(file) ? " damaged" : "");
    print_paths(file);
    int status = print_bursts(bursts, file);
    process_file_close(file);
    burst_file_close(bursts);
    return status;
}
