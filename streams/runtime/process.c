/*
 * process.c - see process.h.
 *
 * The lock is in a page that the kernel clears in a child with memory of its own: there the lock is free, and the
 * cleared word `own` shows that the file is the parent's. The child of vfork() has its parent's memory, and what
 * it allocates there belongs to the parent's heap.
 */
#include "streams/runtime/process.h"

#include <errno.h>

#include "base/bytes.h"
#include "base/raw.h"
#include "streams/process_wire.h"
#include "streams/runtime/block.h"
#include "base/lock.h"

#define RECORD_MOST (64u + 10 * PROCESS_FRAMES_MOST) /* bytes */

bool process_logs_heap;

static struct shared {
    uint32_t lock;
    uint32_t own;
} * shared;
static __thread __attribute__((tls_model("initial-exec"))) bool inside;

static struct {
    struct grown file;
    struct process_header *header; /* NULL: there is no file */
    struct process_header next;    /* of the file to be made next */
    uint64_t whole;                /* copy of its `used` in memory of this process */
    uint64_t address;              /* of the last record */
    bool tried;                    /* making it was tried */
    bool over;                     /* no more is written */
    bool traced;                   /* a trace refers to it */
    bool forked;                   /* a child's may */
} process;

bool process_begin(void)
{
    shared = raw_memory(RAW_PAGE);
    if (!shared)
        return false;
    raw_call(SYS_madvise, (long)shared, RAW_PAGE, MADV_WIPEONFORK, 0, 0, 0);
    shared->own = 1;
    process_logs_heap = trace_options.heap > 0;
    process.next = (struct process_header){.magic = PROCESS_MAGIC,
                                           .version = PROCESS_VERSION,
                                           .pid = raw_pid(),
                                           .used = sizeof process.next,
                                           .heap = process_logs_heap};
    return true;
}

void process_child(void)
{
    if (shared)
        *shared = (struct shared){0};
}

void process_parent(void)
{
    process.forked = true;
}

/* Forgets the file, which is the parent's if there is one: what follows goes to another one. */
static void leave_file(void)
{
    if (process.header) {
        process.next.parent = process.next.pid;
        process.next.parent_number = process.next.number;
        process.next.parent_used = process.whole;
        grown_close(&process.file, 0);
    }
    process.next.pid = raw_pid();
    process.header = NULL;
    process.address = 0;
    process.tried = process.traced = process.forked = false;
}

/* Marks the heap as unknown from here on. */
static void lose_heap(void)
{
    process_logs_heap = false;
    process.next.heap_lost = sizeof process.next; /* for children */
    if (process.header && !process.header->heap_lost)
        process.header->heap_lost = process.whole;
}

bool process_lock(void)
{
    if (!shared || inside || process.over)
        return false;
    inside = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (!lock_take(&shared->lock)) {
        process.over = true;
        lose_heap();
    }
    if (process.over) {
        inside = false;
        return false;
    }
    if (!shared->own)
        leave_file();
    shared->own = 1;
    return true;
}

void process_unlock(void)
{
    lock_give(&shared->lock);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    inside = false;
}

static bool open_file(void)
{
    char stem[16];
    if (process.header || process.tried)
        return process.header;
    process.tried = true;
    raw_append_number(stem, sizeof stem, 0, process.next.pid);
    if (!grown_open(&process.file, trace_options.directory, stem, ".process", &process.next.number)) {
        lose_heap();
        return false;
    }
    process.header = (struct process_header *)process.file.first;
    *process.header = process.next;
    process.file.size = process.whole = sizeof process.next;
    return true;
}

uint32_t process_number(void)
{
    uint32_t number = STREAM_NO_PROCESS;
    if (!process_lock())
        return number;
    if (open_file()) {
        number = process.next.number;
        process.traced = true;
    }
    process_unlock();
    return number;
}

uint64_t process_position(void)
{
    return __atomic_load_n(&process.whole, __ATOMIC_RELAXED);
}

/* Begins a record, within the file's first `most` bytes. */
static bool begin_record(uint64_t most, enum process_record what)
{
    bool moved;
    if (!open_file() || process.header->full)
        return false;
    int error = grown_room(&process.file, RECORD_MOST, most, &moved);
    if (error && error != EFBIG)
        process.header->full = (uint32_t)error;
    if (!error)
        grown_byte(&process.file, (uint8_t)what);
    return !error;
}

static void put_address(uint64_t address, uint64_t before)
{
    grown_number(&process.file, zigzag(address - before));
}

static void end_record(void)
{
    process.whole = grown_end(&process.file);
    __atomic_store_n(&process.header->used, process.whole, __ATOMIC_RELEASE);
}

bool process_context(uint32_t id, const uint64_t *pcs, uint32_t depth, bool cut)
{
    if (!begin_record(UINT64_MAX, PROCESS_CONTEXT))
        return false;
    grown_number(&process.file, id);
    grown_number(&process.file, depth * 2 + cut);
    for (uint32_t i = 0; i < depth; i++)
        put_address(pcs[i], i ? pcs[i - 1] : 0);
    end_record();
    return true;
}

/* Begins a record of the heap with an address. */
static bool begin_heap(enum process_record what, uint64_t address)
{
    if (!process_logs_heap)
        return false;
    if (process.whole + RECORD_MOST > trace_options.heap || !begin_record(trace_options.heap, what)) {
        lose_heap();
        return false;
    }
    put_address(address, process.address);
    process.address = address;
    return true;
}

void process_allocated(uint64_t address, uint64_t size, uint32_t context)
{
    if (!begin_heap(PROCESS_ALLOCATED, address))
        return;
    grown_number(&process.file, size);
    grown_number(&process.file, context);
    end_record();
}

void process_freed(uint64_t address)
{
    if (begin_heap(PROCESS_FREED, address))
        end_record();
}

void process_maps(void)
{
    if (!process_lock())
        return;
    if (process.header)
        maps_copy(process.next.pid, process.next.number);
    process_unlock();
}

/* Removes a file that no trace refers to, and so is useless. */
static void remove_file(void)
{
    char path[4096];
    size_t at = raw_append(path, sizeof path, 0, trace_options.directory);
    at = raw_append_number(path, sizeof path, at, process.next.pid);
    at = raw_append(path, sizeof path, at, "-");
    at = raw_append_number(path, sizeof path, at, process.next.number);
    raw_append(path, sizeof path, at, ".process");
    raw_call(SYS_unlinkat, AT_FDCWD, (long)path, 0, 0, 0, 0);
}

void process_end(void)
{
    if (!process_lock())
        return;
    process.over = true;
    process_logs_heap = false;
    if (process.header) {
        grown_cut(&process.file, process.whole);
        if (process.traced)
            maps_copy(process.next.pid, process.next.number);
        else if (!process.forked)
            remove_file();
    }
    process_unlock();
}
