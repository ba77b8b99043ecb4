/* bursts.c - prints what the trace of a thread has: bursts FILE, or each record with bursts -a FILE. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "streams/trace/burst_file.h"

int main(int argc, char **argv)
{
    struct fathom_error err = {0};
    struct burst_file *file;
    struct burst_record r;
    uint64_t counts[6] = {0};
    bool all = argc == 3 && strcmp(argv[1], "-a") == 0;
    if (argc != 2 + all || burst_file_open(argv[argc - 1], &file, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return 2;
    }
    int rc;
    while ((rc = burst_file_next(file, &r)) > 0) {
        counts[r.what] += r.what == BURST_LOST ? r.number : 1;
        static const char *const names[] = {"", "begins", "ends", "lost", "context", "heap"};
        if (all && r.what == BURST_RECORD)
            printf("%" PRIx64 " %" PRIx64 "\n", r.pc, r.datum);
        else if (all)
            printf("%s %" PRIu64 "\n", names[r.what], r.number);
    }
    const struct stream_header *h = burst_file_header(file);
    printf("%" PRIu64 " records, %" PRIu64 " bursts, %" PRIu64 " ended, %" PRIu64
           " lost; %.2f bytes a record; header: %" PRIu64 " records, %" PRIu64 " bursts, %" PRIu64
           " lost, %" PRIu64 " checks, full %u%s\n",
           counts[BURST_RECORD], counts[BURST_BEGINS], counts[BURST_ENDS], counts[BURST_LOST],
           counts[BURST_RECORD] ? (double)h->used / (double)counts[BURST_RECORD] : 0, h->records, h->bursts,
           h->lost, h->checks, h->full, rc < 0 ? "; damaged" : "");
    burst_file_close(file);
    return rc < 0;
}
