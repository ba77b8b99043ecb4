/* test_core_dump.c - hostile cores, made here; real ones are read by tests/e2e/api_resolve.test, broken ones by tests/fuzz/fuzz_core.c. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <unistd.h>

#include "base/error.h"
#include "image/elf/note.h"
#include "process/core_dump.h"

#define BASE     0x400000u
#define SEGMENTS 0xfffeu /* of the file in memory; more than this the header cannot tell */
#define AT       (sizeof(Elf64_Ehdr) + SEGMENTS * sizeof(Elf64_Phdr))

struct file {
    uint8_t bytes[AT + 4096];
    size_t size;
};

static void put(struct file *f, const void *bytes, size_t size)
{
    cr_assert_leq(size, sizeof f->bytes - f->size);
    memcpy(f->bytes + f->size, bytes, size);
    f->size += size;
}

static void put_note(struct file *f, const char *name, uint32_t type, const void *data, size_t size)
{
    const uint32_t head[] = {(uint32_t)strlen(name) + 1, (uint32_t)size, type};
    char padded[8] = {0};
    memcpy(padded, name, head[0]);
    put(f, head, sizeof head);
    put(f, padded, (head[0] + 3) & ~3u);
    put(f, data, size);
    put(f, "\0\0\0", -size & 3);
}

/* The headers of a file with notes in one of its segments. */
static void put_program(struct file *f, unsigned segment)
{
    const Elf64_Phdr notes = {.p_type = PT_NOTE, .p_offset = AT, .p_filesz = 256};
    const Elf64_Ehdr head = {
        .e_ident = ELFMAG, .e_phoff = sizeof head, .e_phentsize = sizeof notes, .e_phnum = SEGMENTS};
    memset(f, 0, sizeof *f);
    put(f, &head, sizeof head);
    f->size += segment * sizeof notes;
    put(f, &notes, sizeof notes);
    f->size = AT;
    put_note(f, "GNU", NT_GNU_BUILD_ID, "0123456789", 10);
}

static void put_core(struct file *f, size_t memory)
{
    const struct elf_prstatus status = {.pr_pid = 7};
    const struct {
        uint64_t count, page, start, end, offset;
        char path[8];
    } files = {1, 4096, BASE, BASE + 4096, 0, "/some"};
    Elf64_Phdr segments[2] = {
        {.p_type = PT_NOTE, .p_offset = sizeof(Elf64_Ehdr) + sizeof segments},
        {.p_type = PT_LOAD, .p_vaddr = BASE, .p_filesz = memory, .p_memsz = memory, .p_offset = 4096}};
    const Elf64_Ehdr head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64},
                             .e_type = ET_CORE,
                             .e_machine = EM_X86_64,
                             .e_phoff = sizeof head,
                             .e_phentsize = sizeof *segments,
                             .e_phnum = 2};
    memset(f, 0, sizeof *f);
    f->size = sizeof head + sizeof segments;
    put_note(f, "CORE", NT_PRSTATUS, &status, sizeof status);
    put_note(f, "CORE", NT_FILE, &files, sizeof files);
    segments[0].p_filesz = f->size - segments[0].p_offset;
    memcpy(f->bytes, &head, sizeof head);
    memcpy(f->bytes + sizeof head, segments, sizeof segments);
}

/* The size of the build-id whose note is in this segment of the file that the core has in memory. */
static unsigned build_id_at(unsigned segment)
{
    static struct file program, core;
    char path[64];
    const struct core_mapping *mappings;
    struct core_dump *opened;
    struct fathom_error err;
    const int fd = memfd_create("core", MFD_CLOEXEC);
    put_program(&program, segment);
    put_core(&core, program.size + 256);
    cr_assert_eq(pwrite(fd, core.bytes, core.size, 0), (ssize_t)core.size);
    cr_assert_eq(pwrite(fd, program.bytes, program.size, 4096), (ssize_t)program.size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    cr_assert_eq(core_dump_open(path, &opened, &err), 0, "%s", err.text);
    cr_assert_eq(core_dump_mappings(opened, &mappings), 1);
    const struct build_id id = core_dump_build_id(opened, mappings);
    core_dump_close(opened);
    close(fd);
    cr_expect(!id.size || memcmp(id.bytes, "0123456789", 10) == 0);
    return id.size;
}

/* Each is a read of the file, and of thousands of mappings each has as many. */
Test(core_dump, headers_of_too_many_segments)
{
    cr_expect_eq(build_id_at(0), 10);
    cr_expect_eq(build_id_at(60), 10);
    cr_expect_eq(build_id_at(SEGMENTS - 1), 0);
}
