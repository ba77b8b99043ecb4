/*
 * store.c - the store's file: creates and maps it, and allocates disk space before it is written to.
 *
 * The file has its full size from the start, as a hole, so that no descriptor is needed later (a program may
 * close it or lose permission to open files). Space is allocated with MADV_POPULATE_WRITE on the mapping,
 * which fails if the disk is full, where a plain store would raise SIGBUS. Kernels before 5.14 lack it: there
 * a full disk kills the program.
 */
#include <errno.h>
#include <sys/resource.h>

#include "pathmap/probe/core.h"
#include "base/raw.h"
#include "pathmap/probe/state.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define LEAST_NODES (16u * STORE_CHUNK_NODES)

int store_open_new(const char *prefix, uint32_t number)
{
    char path[sizeof core.directory + 64];
    for (uint32_t n = 0; n < 10000; n++) {
        size_t at = raw_append(path, sizeof path, 0, core.directory);
        at = raw_append(path, sizeof path, at, "/");
        at = raw_append(path, sizeof path, at, prefix);
        at = raw_append_number(path, sizeof path, at, number);
        at = raw_append(path, sizeof path, at, "-");
        raw_append_number(path, sizeof path, at, n);
        int fd = (int)raw_call(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600,
                               0, 0);
        if (fd != -EEXIST)
            return fd;
    }
    return -EEXIST;
}

bool store_room(void *at, size_t size)
{
    uint64_t low = RAW_PAGE_DOWN((uint64_t)at), high = RAW_PAGE_UP((uint64_t)at + size);
    long r = raw_call(SYS_madvise, (long)low, (long)(high - low), MADV_POPULATE_WRITE, 0, 0, 0);
    return r == 0 || r == -EINVAL || r == -EINTR || r == -EAGAIN;
}

/* Limits on what to take from a limited address space; the rest is for the program. */
#define SPACE_SHARE 8
#define SPACE_MOST  (128ull << 20) /* bytes of nodes */

/* As large as the limits on files and the address space allow. */
long store_make(uint32_t pid, uint64_t *size)
{
    int fd = store_open_new(STORE_PREFIX, pid);
    if (fd < 0)
        return fd;
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    raw_call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit, 0, 0);
    uint64_t share = core_is_limited() ? core.space / SPACE_SHARE : UINT64_MAX;
    if (core_is_limited() && share > SPACE_MOST)
        share = SPACE_MOST;
    long r = -EFBIG;
    for (uint64_t nodes = STORE_NODES_MAX; nodes >= LEAST_NODES; nodes /= 2) {
        uint64_t bytes = STORE_NODES_AT + nodes * sizeof(struct store_node);
        if (bytes > limit.rlim_cur) /* ftruncate would raise SIGXFSZ */
            continue;
        if (bytes - STORE_NODES_AT > share && nodes > LEAST_NODES)
            continue;
        r = raw_call(SYS_ftruncate, fd, (long)bytes, 0, 0, 0, 0);
        if (r < 0)
            continue;
        r = raw_mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd);
        if (raw_failed(r))
            continue;
        *size = bytes;
        break;
    }
    raw_close(fd);
    if (raw_failed(r))
        return r;
    struct store_header *header = (struct store_header *)r;
    /* Otherwise the first page of each area triggers readahead around it: 3 to 20 ms on ext4. */
    raw_call(SYS_madvise, r, (long)*size, MADV_RANDOM, 0, 0, 0);
    if (!store_room(header, sizeof *header)) {
        raw_munmap(header, *size);
        return -ENOSPC;
    }
    header->version = STORE_VERSION;
    header->pid = pid;
    header->token = raw_ticks();
    header->function_count = 1;
    BARRIER();
    header->magic = STORE_MAGIC;
    return r;
}

void store_use(uint8_t *mapping)
{
    core.header = (struct store_header *)mapping;
    core.images = (struct store_image *)(mapping + STORE_IMAGES_AT);
    core.functions = (struct store_function *)(mapping + STORE_FUNCTIONS_AT);
    probe_nodes = (struct store_node *)(mapping + STORE_NODES_AT);
}

/* After a failure, retries for one entry in 4096, as space may become available. */
uint32_t store_chunk(void)
{
    struct store_header *header = core.header;
    if (header->failure && header->dropped & 4095)
        return STORE_NO_CHUNK;
    if (trainer_is_over()) {
        header->failure = EOWNERDEAD;
        return STORE_NO_CHUNK;
    }
    uint64_t capacity = (core.store_size - STORE_NODES_AT) / STORE_CHUNK_SIZE;
    uint32_t chunk = __atomic_load_n(&header->chunk_count, __ATOMIC_RELAXED);
    do {
        if (chunk >= capacity) {
            header->failure = EFBIG;
            return STORE_NO_CHUNK;
        }
    } while (!__atomic_compare_exchange_n(&header->chunk_count, &chunk, chunk + 1, false, __ATOMIC_ACQ_REL,
                                          __ATOMIC_RELAXED));
    uint32_t first = chunk * STORE_CHUNK_NODES;
    if (!store_room(probe_nodes + first, STORE_CHUNK_SIZE)) {
        /* Returns the chunk, unless another thread got one since: reading a hole on a full tmpfs raises
         * SIGBUS. */
        uint32_t next = chunk + 1;
        __atomic_compare_exchange_n(&header->chunk_count, &next, chunk, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED);
        header->failure = ENOSPC;
        return STORE_NO_CHUNK;
    }
    return first;
}
