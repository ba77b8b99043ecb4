/* core_dump.c - see core_dump.h. */
#include "process/core_dump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/user.h>
#include <unistd.h>

#include "base/file.h"
#include "base/search.h"
#include "base/vec.h"
#include "image/elf/note.h"

#define SEGMENTS_MOST 262144u     /* the kernel allows 65530 mappings by default (vm.max_map_count) */
#define NOTES_MOST    (64u << 20) /* bytes of one segment of notes */
#define HEADERS_MOST  4096u       /* bytes of a file's notes in memory */
#define PROGRAM_MOST  128u        /* segments of a file in memory: its first page has room for fewer */
#define BEFORE_MOST   64u         /* mappings: a file has five or six, beside each other */
#define AUXV_MOST     1024u       /* bytes: the kernel's is below 400 */
#define AUXV_SEARCH   (64u << 10) /* bytes below AT_RANDOM, which is just above the vector */
#define ARGC_MOST     (1u << 20)  /* less than any address on a stack; few programs have so many arguments */
#define WORDS_MOST    (2u << 20)  /* of arguments and environment, together */

struct core_dump {
    int fd;
    Elf64_Phdr *segments; /* PT_LOAD, in the order of the file: of addresses */
    size_t segment_count;
    struct core_thread *threads;
    size_t thread_count, thread_capacity;
    struct core_mapping *mappings;
    size_t mapping_count, mapping_capacity;
    char *paths; /* of the mappings: the note's end */
    uint8_t auxv[AUXV_MOST];
    size_t auxv_size;
};

/* Segments ascend, as the kernel writes them. */
static const Elf64_Phdr *segment_of(const struct core_dump *c, uint64_t address)
{
    const size_t above = lower_bound(i, 0, c->segment_count, c->segments[i].p_vaddr <= address);
    const Elf64_Phdr *s = above ? &c->segments[above - 1] : NULL;
    return s && address - s->p_vaddr < s->p_memsz ? s : NULL;
}

size_t core_dump_read(const struct core_dump *c, uint64_t address, void *to, size_t size)
{
    const Elf64_Phdr *s = segment_of(c, address);
    const uint64_t at = s ? address - s->p_vaddr : 0;
    if (!s || at >= s->p_filesz || s->p_offset > UINT64_MAX - at)
        return 0;
    if (size > s->p_filesz - at)
        size = (size_t)(s->p_filesz - at);
    return file_read_at(c->fd, to, size, s->p_offset + at);
}

bool core_dump_segment(const struct core_dump *c, uint64_t address, uint64_t *start, uint64_t *end)
{
    const Elf64_Phdr *s = segment_of(c, address);
    if (!s || s->p_memsz > UINT64_MAX - s->p_vaddr)
        return false;
    *start = s->p_vaddr;
    *end = s->p_vaddr + s->p_memsz;
    return true;
}

/* Notes -------------------------------------------------------------------------------------------------- */

/* NT_PRSTATUS. */
static int take_thread(struct core_dump *c, const struct elf_note *note, struct fathom_error *err)
{
    struct elf_prstatus status;
    struct user_regs_struct registers;
    _Static_assert(sizeof status.pr_reg == sizeof registers, "the same registers");
    if (note->size < sizeof status)
        return 0;
    memcpy(&status, note->data, sizeof status);
    memcpy(&registers, &status.pr_reg, sizeof registers);
    const struct core_thread thread = {(uint32_t)status.pr_pid, registers.rip, registers.rsp, registers.rbp};
    return vec_push(c->threads, c->thread_count, c->thread_capacity, thread) ? 0 : error_memory(err);
}

/* NT_FILE: how many, and the size of a page; of each start, end, and offset in pages; their paths, each with a NUL. */
static int take_files(struct core_dump *c, const struct elf_note *note, struct fathom_error *err)
{
    uint64_t head[2], entry[3];
    if (note->size < sizeof head || c->paths)
        return 0;
    memcpy(head, note->data, sizeof head);
    const size_t rest = note->size - sizeof head;
    if (head[0] > rest / sizeof entry || head[0] > SEGMENTS_MOST)
        return 0;
    const size_t table = (size_t)head[0] * sizeof entry, texts = rest - table;
    c->paths = malloc(texts + 1);
    if (!c->paths)
        return error_memory(err);
    memcpy(c->paths, note->data + sizeof head + table, texts);
    c->paths[texts] = 0;
    const char *path = c->paths;
    for (size_t i = 0; i < head[0] && path < c->paths + texts; i++, path += strlen(path) + 1) {
        memcpy(entry, note->data + sizeof head + i * sizeof entry, sizeof entry);
        const Elf64_Phdr *s = segment_of(c, entry[0]);
        struct core_mapping m = {entry[0], entry[1], 0, path, s && s->p_flags & PF_X};
        if (entry[1] <= entry[0] || __builtin_mul_overflow(entry[2], head[1], &m.offset))
            continue;
        if (!vec_push(c->mappings, c->mapping_count, c->mapping_capacity, m))
            return error_memory(err);
    }
    return 0;
}

static int take_note(struct core_dump *c, const struct elf_note *note, struct fathom_error *err)
{
    if (elf_note_is(note, "CORE", NT_PRSTATUS))
        return take_thread(c, note, err);
    if (elf_note_is(note, "CORE", NT_FILE))
        return take_files(c, note, err);
    if (elf_note_is(note, "CORE", NT_AUXV) && note->size <= AUXV_MOST) {
        memcpy(c->auxv, note->data, note->size);
        c->auxv_size = note->size;
    }
    return 0;
}

static int read_notes(struct core_dump *c, const Elf64_Phdr *segment, struct fathom_error *err)
{
    const size_t wanted = segment->p_filesz < NOTES_MOST ? (size_t)segment->p_filesz : NOTES_MOST;
    uint8_t *notes = malloc(wanted + 1);
    if (!notes)
        return error_memory(err);
    struct bytes b = bytes_of(notes, file_read_at(c->fd, notes, wanted, segment->p_offset));
    int rc = 0;
    for (struct elf_note note; rc == 0 && elf_note_next(&b, &note);)
        rc = take_note(c, &note, err);
    free(notes);
    return rc;
}

/* The file ----------------------------------------------------------------------------------------------- */

/* The number of segments; where a core has more than the header can tell, that is in the first section's (elf(5), PN_XNUM). */
static uint64_t count_segments(int fd, const Elf64_Ehdr *head)
{
    Elf64_Shdr first;
    if (head->e_phnum != PN_XNUM)
        return head->e_phnum;
    return file_read_at(fd, &first, sizeof first, head->e_shoff) == sizeof first ? first.sh_info : 0;
}

static int read_segments(struct core_dump *c, const char *path, struct fathom_error *err)
{
    Elf64_Ehdr head;
    if (file_read_at(c->fd, &head, sizeof head, 0) != sizeof head ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_type != ET_CORE || head.e_machine != EM_X86_64)
        return error_set(err, ENOMSG, "%s is no core of a 64-bit x86 process", path);
    const uint64_t count = count_segments(c->fd, &head);
    if (count > SEGMENTS_MOST || head.e_phentsize != sizeof *c->segments)
        return error_set(err, EBADMSG, "%s is damaged: its header does not fit a core", path);
    c->segments = calloc((size_t)count + 1, sizeof *c->segments);
    if (!c->segments)
        return error_memory(err);
    if (file_read_at(c->fd, c->segments, (size_t)count * sizeof *c->segments, head.e_phoff) !=
        (size_t)count * sizeof *c->segments)
        return error_set(err, EBADMSG, "%s is damaged: it ends within its table of segments", path);
    c->segment_count = (size_t)count;
    return 0;
}

int core_dump_open(const char *path, struct core_dump **out, struct fathom_error *err)
{
    struct core_dump *c = calloc(1, sizeof *c);
    if (!c)
        return error_memory(err);
    c->fd = file_open_regular(path, err);
    int rc = c->fd < 0 ? c->fd : read_segments(c, path, err);
    size_t loads = 0, notes = 0;
    Elf64_Phdr note = {0};
    for (size_t i = 0; i < c->segment_count; i++) {
        if (c->segments[i].p_type == PT_NOTE && notes++ == 0)
            note = c->segments[i];
        if (c->segments[i].p_type == PT_LOAD)
            c->segments[loads++] = c->segments[i];
    }
    c->segment_count = loads;
    if (rc == 0)
        rc = read_notes(c, &note, err);
    if (rc == 0 && !c->thread_count)
        rc = error_set(err, EBADMSG, "%s is damaged: it has no thread's registers", path);
    if (rc < 0)
        core_dump_close(c);
    else
        *out = c;
    return rc;
}

void core_dump_close(struct core_dump *c)
{
    if (!c)
        return;
    if (c->fd >= 0)
        close(c->fd);
    free(c->segments);
    free(c->threads);
    free(c->mappings);
    free(c->paths);
    free(c);
}

size_t core_dump_threads(const struct core_dump *c, const struct core_thread **out)
{
    *out = c->threads;
    return c->thread_count;
}

size_t core_dump_mappings(const struct core_dump *c, const struct core_mapping **out)
{
    *out = c->mappings;
    return c->mapping_count;
}

/* Memory ------------------------------------------------------------------------------------------------- */

/* The mapping of the file's first bytes that belongs to this one of it, one of those shortly before it; NULL: none. */
static const struct core_mapping *first_of(const struct core_dump *c, const struct core_mapping *mapping)
{
    const size_t at = (size_t)(mapping - c->mappings);
    for (size_t back = 0; back <= at && back < BEFORE_MOST; back++) {
        const struct core_mapping *m = &c->mappings[at - back];
        if (m->offset == 0 && strcmp(m->path, mapping->path) == 0)
            return m;
    }
    return NULL;
}

static struct build_id find_build_id(const uint8_t *notes, size_t size)
{
    struct build_id id = {0};
    struct bytes b = bytes_of(notes, size);
    for (struct elf_note note; elf_note_next(&b, &note);)
        if (elf_note_is(&note, "GNU", NT_GNU_BUILD_ID) && note.size <= sizeof id.bytes) {
            id.size = (uint8_t)note.size;
            memcpy(id.bytes, note.data, note.size);
        }
    return id;
}

struct build_id core_dump_build_id(const struct core_dump *c, const struct core_mapping *mapping)
{
    struct build_id id = {0};
    const struct core_mapping *first = first_of(c, mapping);
    Elf64_Ehdr head;
    Elf64_Phdr segment;
    uint8_t notes[HEADERS_MOST];
    if (!first || core_dump_read(c, first->start, &head, sizeof head) != sizeof head ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_phentsize != sizeof segment)
        return id;
    for (unsigned i = 0; i < head.e_phnum && i < PROGRAM_MOST && !id.size; i++) {
        const uint64_t at = first->start + head.e_phoff + i * sizeof segment;
        if (core_dump_read(c, at, &segment, sizeof segment) != sizeof segment)
            break;
        if (segment.p_type != PT_NOTE)
            continue;
        const size_t size = segment.p_filesz < sizeof notes ? (size_t)segment.p_filesz : sizeof notes;
        id = find_build_id(notes, core_dump_read(c, first->start + segment.p_offset, notes, size));
    }
    return id;
}

static uint64_t auxv_find(const struct core_dump *c, uint64_t type)
{
    Elf64_auxv_t entry;
    for (size_t at = 0; at + sizeof entry <= c->auxv_size; at += sizeof entry) {
        memcpy(&entry, c->auxv + at, sizeof entry);
        if (entry.a_type == type)
            return entry.a_un.a_val;
    }
    return 0;
}

/* Where the vector lies on the stack: it is what the note has. 0: not found. */
static uint64_t find_auxv(const struct core_dump *c)
{
    const uint64_t above = auxv_find(c, AT_RANDOM) & ~(uint64_t)7;
    uint8_t *bytes = malloc(AUXV_SEARCH);
    uint64_t found = 0, from, end;
    if (bytes && c->auxv_size && core_dump_segment(c, above, &from, &end)) {
        from = (from + 7) & ~(uint64_t)7;
        from = above > from + AUXV_SEARCH ? above - AUXV_SEARCH : from;
        const size_t got = from < above ? core_dump_read(c, from, bytes, (size_t)(above - from)) : 0;
        for (size_t at = got & ~(size_t)7; at >= 8 && !found; at -= 8)
            if (got - (at - 8) >= c->auxv_size && memcmp(bytes + at - 8, c->auxv, c->auxv_size) == 0)
                found = from + at - 8;
    }
    free(bytes);
    return found;
}

/* Downwards from the vector: the environment, 0, the arguments, 0, and how many these are. All others are addresses, or 0. */
uint64_t core_dump_base(const struct core_dump *c)
{
    uint64_t word, end, at = find_auxv(c);
    for (unsigned i = 0; at >= 8 && i < WORDS_MOST; i++) {
        at -= 8;
        if (core_dump_read(c, at, &word, sizeof word) != sizeof word)
            return 0;
        if (word && word < ARGC_MOST)
            return core_dump_read(c, at + 8 * (word + 1), &end, sizeof end) == sizeof end && end == 0 ? at
                                                                                                      : 0;
    }
    return 0;
}
