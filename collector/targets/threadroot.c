/* threadroot.c - the thread-return addresses of a process; see threadroot.h. */
#include "collector/targets/threadroot.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/path.h"
#include "base/vec.h"

#define REACH      64           /* bytes from the system call to the call of the thread's function */
#define CHUNK      (1u << 20)   /* bytes of code read at once */
#define CODE_LIMIT (256u << 20) /* bytes of code searched per mapping */

/* The offsets found in one executable mapping of a file. */
struct known {
    uint64_t inode, offset;
    uint32_t maj, min;
    size_t count;
    uint64_t at[THREADROOT_MAX]; /* from the mapping's start */
};

struct threadroots {
    struct known *list;
    size_t count, capacity;
};

struct threadroots *threadroots_new(void)
{
    return calloc(1, sizeof(struct threadroots));
}

void threadroots_free(struct threadroots *roots)
{
    if (roots)
        free(roots->list);
    free(roots);
}

/* The length of the `call *reg` at this address; 0: something else. */
static size_t indirect_call(const uint8_t *code)
{
    if (code[0] == 0xff && code[1] >= 0xd0 && code[1] <= 0xd7)
        return 2;
    if (code[0] == 0x41 && code[1] == 0xff && code[2] >= 0xd0 && code[2] <= 0xd7)
        return 3;
    return 0;
}

size_t threadroots_search(const uint8_t *code, size_t size, size_t found[THREADROOT_MAX])
{
    /* mov $435 (clone3) or $56 (clone),%eax; syscall */
    static const uint8_t clone3[] = {0xb8, 0xb3, 1, 0, 0, 0x0f, 5}, clone1[] = {0xb8, 0x38, 0, 0, 0, 0x0f, 5};
    size_t count = 0;
    for (size_t at = 0; at + sizeof clone3 + 3 <= size && count < THREADROOT_MAX; at++) {
        const uint8_t *hit = memchr(code + at, 0xb8, size - sizeof clone3 - 2 - at);
        if (!hit)
            break;
        at = (size_t)(hit - code);
        if (memcmp(hit, clone3, sizeof clone3) != 0 && memcmp(hit, clone1, sizeof clone1) != 0)
            continue;
        size_t from = at + sizeof clone3, to = from + REACH;
        for (; from < to && from + 3 <= size; from++) {
            size_t length = indirect_call(code + from);
            if (length) {
                found[count++] = from + length;
                break;
            }
            if (code[from] == 0x0f && code[from + 1] == 5)
                break; /* the next system call: this one starts no function (fork) */
        }
    }
    return count;
}

/* false: not all could be read (the process has ended or now runs another program). */
static bool search_mapping(pid_t pid, const struct vma *vma, struct known *known)
{
    uint8_t *code = malloc(CHUNK);
    uint64_t size = vma->end - vma->start;
    bool whole = false;
    if (!code)
        return false;
    if (size > CODE_LIMIT)
        size = CODE_LIMIT;
    /* Chunks overlap, so that no sequence is missed between two. */
    const size_t overlap = REACH + 16;
    for (uint64_t at = 0; at < size && known->count < THREADROOT_MAX;) {
        size_t want = size - at < CHUNK ? (size_t)(size - at) : CHUNK;
        size_t got = proc_read_memory(pid, vma->start + at, code, want);
        size_t found[THREADROOT_MAX];
        size_t n = threadroots_search(code, got, found);
        for (size_t i = 0; i < n && known->count < THREADROOT_MAX; i++) {
            uint64_t offset = at + found[i];
            if (known->count == 0 || known->at[known->count - 1] < offset)
                known->at[known->count++] = offset;
        }
        whole = got == want;
        if (!whole || want < CHUNK)
            break;
        at += CHUNK - overlap;
    }
    free(code);
    return whole;
}

static const struct known *look_up(struct threadroots *roots, pid_t pid, const struct vma *vma)
{
    for (size_t i = 0; i < roots->count; i++) {
        const struct known *k = &roots->list[i];
        if (k->inode == vma->inode && k->offset == vma->offset && k->maj == vma->maj && k->min == vma->min)
            return k;
    }
    if (!vec_reserve(roots->list, roots->count, roots->capacity, 1))
        return NULL;
    struct known *made = &roots->list[roots->count];
    *made = (struct known){.inode = vma->inode, .offset = vma->offset, .maj = vma->maj, .min = vma->min};
    if (!search_mapping(pid, vma, made))
        return NULL;
    roots->count++;
    return made;
}

static bool is_libc(const char *path)
{
    const char *name = path_base(path);
    return strncmp(name, "libc.so", 7) == 0 || strncmp(name, "libc-", 5) == 0 ||
           strncmp(name, "libpthread", 10) == 0;
}

static size_t collect_roots(struct threadroots *roots, pid_t pid, const struct maps *maps,
                            const char *program, uint64_t found[THREADROOT_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < maps->count; i++) {
        const struct vma *vma = &maps->list[i];
        if (!(vma->prot & PROT_EXEC) || vma->inode == 0)
            continue;
        if (program ? strcmp(vma->path, program) != 0 : !is_libc(vma->path))
            continue;
        const struct known *known = look_up(roots, pid, vma);
        for (size_t k = 0; known && k < known->count && count < THREADROOT_MAX; k++)
            found[count++] = vma->start + known->at[k];
    }
    return count;
}

size_t threadroots_find(struct threadroots *roots, pid_t pid, const struct maps *maps,
                        uint64_t found[THREADROOT_MAX])
{
    size_t count = collect_roots(roots, pid, maps, NULL, found);
    if (count)
        return count;
    /* A static program contains them itself. */
    char program[4096];
    proc_program(pid, program, sizeof program);
    return program[0] ? collect_roots(roots, pid, maps, program, found) : 0;
}
