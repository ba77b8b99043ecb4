#include "api/resolve/dumped.h"

#include <string.h>

#include "image/image.h"

#define ROOTS_MOST 8u
#define SCAN_MOST  (UINT64_C(64) << 20) /* bytes above SP */
#define SCAN_EACH  (64u << 10)

static int add_mapping(const struct core_dump *core, const struct core_mapping *m, uint32_t pid,
                       struct processes *processes, const struct log *log, struct fathom_error *err)
{
    const struct build_id id = core_dump_build_id(core, m);
    struct record record = {.kind = RECORD_MMAP,
                            .pid = pid,
                            .mmap = {.address = m->start,
                                     .length = m->end - m->start,
                                     .offset = m->offset,
                                     .executable = true,
                                     .build_id_size = id.size,
                                     .path = m->path}};
    memcpy(record.mmap.build_id, id.bytes, id.size);
    if (!id.size)
        log_write(log, LOG_WARNING,
                  "the core does not tell the build of %s: the file that is there is taken for it", m->path);
    return processes_apply(processes, &record, err);
}

int dumped_read(const struct core_dump *core, uint32_t pid, struct processes *processes,
                const struct log *log, struct fathom_error *err)
{
    const struct core_mapping *mappings;
    const size_t count = core_dump_mappings(core, &mappings);
    const struct record anew = {.kind = RECORD_COMM, .pid = pid, .tid = pid, .comm.exec = true};
    int rc = processes_apply(processes, &anew, err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        if (mappings[i].executable)
            rc = add_mapping(core, &mappings[i], pid, processes, log, err);
    const uint64_t base = core_dump_base(core);
    uint64_t start, end;
    struct process *process = process_find(processes, pid);
    if (rc == 0 && base && core_dump_segment(core, base, &start, &end) && start < base)
        rc = process_set_shared_stack(process, start, base, err);
    return rc;
}

/* Finds the addresses that threads' first functions return to. Returns their number. */
static size_t find_roots(const struct process *process, uint64_t roots[ROOTS_MOST])
{
    const struct mapping *mapping;
    const struct build_id *id;
    size_t found = 0;
    uint64_t address, bias;
    process_open_all(process);
    for (size_t i = 0; found < ROOTS_MOST && (mapping = process_mapping_at(process, i, &id)); i++)
        if (mapping->image && image_thread_return(mapping->image, &address) &&
            image_bias(mapping->image, mapping->offset, mapping->start, &bias))
            roots[found++] = address + bias;
    return found;
}

static bool is_root(uint64_t word, const uint64_t *roots, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (word == roots[i])
            return true;
    return false;
}

/* The first stack slot from sp upwards with one of the addresses; 0: none. */
static uint64_t find_slot(const struct core_dump *core, uint64_t sp, const uint64_t *roots, size_t count)
{
    uint64_t words[SCAN_EACH / sizeof(uint64_t)];
    const uint64_t from = (sp + 7) & ~(uint64_t)7;
    for (uint64_t at = from; at - from < SCAN_MOST;) {
        const size_t got = core_dump_read(core, at, words, sizeof words) / sizeof *words;
        for (size_t i = 0; i < got; i++)
            if (is_root(words[i], roots, count))
                return at + i * sizeof *words;
        if (got < sizeof words / sizeof *words)
            break;
        at += sizeof words;
    }
    return 0;
}

int dumped_find_stack(const struct core_dump *core, struct process *process, uint64_t sp,
                      struct fathom_error *err)
{
    uint64_t roots[ROOTS_MOST];
    const size_t count = process ? find_roots(process, roots) : 0;
    const uint64_t slot = count ? find_slot(core, sp, roots, count) : 0;
    if (!slot)
        return 0;
    const int rc = process_set_shared_stack(process, sp & ~(uint64_t)4095, slot + 8, err);
    return rc < 0 ? rc : 1;
}
