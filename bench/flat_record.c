/*
 * flat_record.c - the least that a recorder of samples can do, as a peer: "flat_record TRACEPOINT_ID FILE TIME COMMAND...".
 *
 * Every hit of a tracepoint in the command is a sample of IP and TID, 24 bytes; a ring of 4 MiB is drained to FILE. Writes the
 * command's CPU time to TIME, in ms.
 */
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, RING = 4 << 20 };

static double ms(struct timeval time)
{
    return (double)time.tv_sec * 1e3 + (double)time.tv_usec * 1e-3;
}

static int fails(const char *what)
{
    perror(what);
    return 1;
}

static int open_tracepoint(uint64_t id, pid_t pid)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT,
                                   .size = sizeof attr,
                                   .config = id,
                                   .sample_period = 1,
                                   .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID,
                                   .disabled = 1,
                                   .enable_on_exec = 1,
                                   .watermark = 1,
                                   .wakeup_watermark = RING / 4};
    return (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Writes what the ring has. false: the file cannot be written. */
static int drain(struct perf_event_mmap_page *page, int file)
{
    const uint8_t *data = (const uint8_t *)page + PAGE;
    uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), tail = page->data_tail;
    while (tail < head) {
        uint64_t at = tail % RING, size = head - tail < RING - at ? head - tail : RING - at;
        if (write(file, data + at, size) != (ssize_t)size)
            return 0;
        tail += size;
    }
    __atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
    return 1;
}

int main(int argc, char **argv)
{
    int go[2];
    char byte = 0;
    if (argc < 5 || pipe(go) != 0)
        return fails("usage: flat_record TRACEPOINT_ID FILE TIME COMMAND...");
    pid_t child = fork();
    if (child == 0) {
        close(go[1]);
        if (read(go[0], &byte, 1) != 1)
            _exit(127);
        execvp(argv[4], argv + 4);
        _exit(127);
    }
    FILE *file = fopen(argv[2], "w"), *time = fopen(argv[3], "w");
    struct rusage used;
    int fd = open_tracepoint(strtoull(argv[1], NULL, 10), child);
    if (!file || !time || fd < 0)
        return fails(argv[2]);
    struct perf_event_mmap_page *page = mmap(NULL, PAGE + RING, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED || write(go[1], &byte, 1) != 1)
        return fails("mmap");
    int status, good = 1;
    while (good && wait4(child, &status, WNOHANG, &used) == 0) {
        struct pollfd wait = {fd, POLLIN, 0};
        poll(&wait, 1, 25);
        good = drain(page, fileno(file));
    }
    if (!good) {
        kill(child, SIGTERM);
        return fails(argv[2]);
    }
    fprintf(time, "%.2f\n", ms(used.ru_utime) + ms(used.ru_stime));
    return !drain(page, fileno(file)) || fclose(file) != 0 || fclose(time) != 0;
}
