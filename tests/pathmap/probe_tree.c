#include "tests/pathmap/probe_tree.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LINE 512

struct lines {
    char (*text)[LINE];
    uint64_t *counts;
    size_t count, capacity;
    const char *const *names;
    uint32_t name_count, without;
};

static void add_line(struct lines *lines, const char *text, uint64_t count)
{
    for (size_t i = 0; i < lines->count; i++) {
        if (strcmp(lines->text[i], text) == 0) {
            lines->counts[i] += count;
            return;
        }
    }
    if (lines->count == lines->capacity) {
        lines->capacity = lines->capacity * 2 + 64;
        lines->text = realloc(lines->text, lines->capacity * LINE);
        lines->counts = realloc(lines->counts, lines->capacity * sizeof *lines->counts);
        cr_assert(lines->text && lines->counts);
    }
    snprintf(lines->text[lines->count], LINE, "%s", text);
    lines->counts[lines->count++] = count;
}

static void add_node(const struct store_node *nodes, const struct store_node *node, void *context)
{
    struct lines *lines = context;
    char text[LINE] = "";
    if (node->function == STORE_ROOT)
        return;
    for (const struct store_node *n = node; n->function != STORE_ROOT; n = nodes + n->parent) {
        char rest[LINE];
        cr_assert(n->parent, "a node whose tree has no root");
        cr_assert(n->function && n->function < lines->name_count, "function %u", n->function);
        const struct store_node *parent = nodes + n->parent;
        cr_assert(parent->function == STORE_ROOT || store_height(n) > store_height(parent), "heights grow");
        if (n->function == lines->without)
            return;
        snprintf(rest, sizeof rest, "%s", text);
        snprintf(text, sizeof text, "%.99s%s%.400s", lines->names[n->function], *rest ? " " : "", rest);
    }
    add_line(lines, text, store_count(node));
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char *probe_tree(const char *path, const char *const *names, uint32_t count, uint32_t without)
{
    struct lines lines = {.names = names, .name_count = count, .without = without};
    probe_nodes_each(path, add_node, &lines);
    char **sorted = calloc(lines.count + 1, sizeof *sorted);
    size_t used = 0;
    for (size_t i = 0; i < lines.count; i++)
        cr_assert(asprintf(&sorted[i], "%s %llu\n", lines.text[i], (unsigned long long)lines.counts[i]) > 0);
    qsort(sorted, lines.count, sizeof *sorted, compare);
    char *out = calloc(1, lines.count * LINE + 1);
    for (size_t i = 0; i < lines.count; i++) {
        used += (size_t)sprintf(out + used, "%s", sorted[i]);
        free(sorted[i]);
    }
    free(sorted);
    free(lines.text);
    free(lines.counts);
    return out;
}

uint64_t probe_nodes_each(const char *path,
                          void (*each)(const struct store_node *nodes, const struct store_node *node, void *),
                          void *context)
{
    struct store_header header = probe_header(path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    off_t end = (off_t)(STORE_NODES_AT + header.chunk_count * STORE_CHUNK_SIZE);
    uint8_t *data = mmap(NULL, (size_t)end, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd, 0);
    close(fd);
    cr_assert(data != MAP_FAILED);
    const struct store_node *nodes = (const struct store_node *)(data + STORE_NODES_AT);
    uint64_t last = (uint64_t)header.chunk_count * STORE_CHUNK_NODES, found = 0;
    for (uint64_t i = (uint64_t)header.chunk_first * STORE_CHUNK_NODES; i < last; i++) {
        if (!nodes[i].function)
            continue;
        found++;
        if (each)
            each(nodes, nodes + i, context);
    }
    munmap(data, (size_t)end);
    return found;
}

struct store_header probe_header(const char *path)
{
    struct store_header header;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    cr_assert_geq(fd, 0, "%s", path);
    cr_assert_eq(read(fd, &header, sizeof header), (ssize_t)sizeof header);
    close(fd);
    cr_assert_eq(header.magic, STORE_MAGIC);
    return header;
}

const char *probe_store(const char *directory, int pid)
{
    static char path[600];
    char prefix[64];
    size_t found = 0;
    snprintf(prefix, sizeof prefix, STORE_PREFIX "%d-", pid);
    DIR *d = opendir(directory);
    cr_assert(d);
    for (struct dirent *e; (e = readdir(d));) {
        if (strncmp(e->d_name, prefix, strlen(prefix)) == 0) {
            found++;
            snprintf(path, sizeof path, "%s/%s", directory, e->d_name);
        }
    }
    closedir(d);
    cr_assert_eq(found, 1, "%zu stores of %d", found, pid);
    return path;
}
