/*
 * serialise.c - serialises a trie as an .fmap file (docs/fmap.md).
 *
 * The numbers of functions and nodes in the file are positions in its sorted tables; `layout` maps the trie's
 * numbers to these.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/outfile.h"
#include "base/sort.h"
#include "pathmap/map/order.h"

struct layout {
    const struct trie *trie;
    uint32_t *function_order;  /* trie's number by file's number */
    uint32_t *function_number; /* file's number by trie's number */
    struct order order;        /* of the nodes */
    uint32_t *text;            /* offset in the strings by name's number */
    uint64_t strings_size;     /* bytes */
    struct fmap_section sections[FMAP_KINDS - 1];
    uint64_t size; /* of the file */
};

static int compare_functions(const void *a, const void *b, void *trie)
{
    const struct trie_function *functions = ((const struct trie *)trie)->functions;
    const struct trie_function *x = &functions[*(const uint32_t *)a], *y = &functions[*(const uint32_t *)b];
    return order_of(x->image, y->image) ?: order_of(x->address, y->address);
}

static bool functions_number(struct layout *l)
{
    uint32_t n = l->trie->function_count;
    l->function_order = malloc((n + 1ul) * sizeof(uint32_t));
    l->function_number = malloc((n + 1ul) * sizeof(uint32_t));
    if (!l->function_order || !l->function_number)
        return false;
    for (uint32_t i = 0; i < n; i++)
        l->function_order[i] = i;
    qsort_r(l->function_order, n, sizeof(uint32_t), compare_functions, (void *)(uintptr_t)l->trie);
    for (uint32_t i = 0; i < n; i++)
        l->function_number[l->function_order[i]] = i;
    return true;
}

static int strings_place(struct layout *l, struct fathom_error *err)
{
    uint32_t n = names_count(l->trie->names);
    l->text = malloc((n + 1ul) * sizeof *l->text);
    if (!l->text)
        return error_memory(err);
    l->strings_size = 1;
    for (uint32_t i = 0; i < n; i++) {
        const char *text = names_text(l->trie->names, i);
        l->text[i] = *text ? (uint32_t)l->strings_size : 0;
        if (*text)
            l->strings_size += strlen(text) + 1;
        if (l->strings_size > UINT32_MAX)
            return error_set(err, EFBIG, "the names of a path map's functions take more than 4 GiB");
    }
    return 0;
}

static void sections_place(struct layout *l)
{
    const struct trie *t = l->trie;
    const uint64_t lengths[FMAP_KINDS] = {
        [FMAP_IMAGES] = t->image_count * sizeof(struct fmap_image),
        [FMAP_FUNCTIONS] = t->function_count * sizeof(struct fmap_function),
        [FMAP_FUNCTION_NODES] = (t->function_count + 1ul) * sizeof(uint32_t),
        [FMAP_NODES] = l->order.nodes * sizeof(struct fmap_node),
        [FMAP_PATHS] = l->order.nodes * sizeof(uint32_t),
        [FMAP_INDEX] = order_index_entries(&l->order) * sizeof(struct fmap_cid),
        [FMAP_STRINGS] = l->strings_size,
        [FMAP_STATISTICS] = sizeof(struct fmap_statistics),
        [FMAP_PCS] = l->order.pc_count * sizeof(struct fmap_pc),
        [FMAP_TRIALS] = t->trials.count * sizeof(struct fmap_trial),
    };
    uint64_t at = sizeof(struct fmap_header) + sizeof l->sections + sizeof(uint64_t);
    for (uint32_t kind = 1; kind < FMAP_KINDS; kind++) {
        at = (at + FMAP_ALIGNMENT - 1) & ~(uint64_t)(FMAP_ALIGNMENT - 1);
        l->sections[kind - 1] = (struct fmap_section){.kind = kind, .offset = at, .length = lengths[kind]};
        at += lengths[kind];
    }
    l->size = at;
}

static void *section_at(const struct layout *l, uint8_t *file, enum fmap_kind kind)
{
    return file + l->sections[kind - 1].offset;
}

static void names_write(const struct layout *l, uint8_t *file)
{
    const struct trie *t = l->trie;
    struct fmap_image *images = section_at(l, file, FMAP_IMAGES);
    for (uint32_t i = 0; i < t->image_count; i++) {
        const struct trie_image *from = &t->images[i];
        images[i].path = l->text[from->path];
        images[i].build_id_size = from->build_id.size;
        images[i].hooked = from->hooked;
        images[i].entered = from->entered;
        memcpy(images[i].build_id, from->build_id.bytes, from->build_id.size);
    }
    struct fmap_function *functions = section_at(l, file, FMAP_FUNCTIONS);
    for (uint32_t i = 0; i < t->function_count; i++) {
        const struct trie_function *from = &t->functions[l->function_order[i]];
        uint32_t name = from->name == NAMES_NONE ? 0 : l->text[from->name];
        functions[i] = (struct fmap_function){from->address, from->image, name};
    }
    char *strings = section_at(l, file, FMAP_STRINGS);
    for (uint32_t i = 0; i < names_count(t->names); i++) {
        const char *text = names_text(t->names, i);
        memcpy(strings + l->text[i], text, strlen(text));
    }
}

static void header_write(struct layout *l, uint8_t *file)
{
    bool whole = l->trie->any_hooked && !l->trie->leaves_out;
    struct fmap_header header = {
        .version = whole ? FMAP_VERSION : 1, .size = l->size, .sections = FMAP_KINDS - 1};
    memcpy(header.magic, FMAP_MAGIC, sizeof header.magic);
    for (uint32_t i = 0; i < FMAP_KINDS - 1; i++)
        l->sections[i].checksum = fmap_checksum(file + l->sections[i].offset, l->sections[i].length);
    memcpy(file, &header, sizeof header);
    memcpy(file + sizeof header, l->sections, sizeof l->sections);
    size_t covered = sizeof header + sizeof l->sections;
    uint64_t checksum = checksum_of(file, covered);
    memcpy(file + covered, &checksum, sizeof checksum);
}

static void nodes_write(const struct layout *l, uint8_t *file)
{
    const struct order *o = &l->order;
    memcpy(section_at(l, file, FMAP_FUNCTION_NODES), o->first_node, (o->functions + 1ul) * sizeof(uint32_t));
    order_write(o, section_at(l, file, FMAP_NODES), section_at(l, file, FMAP_PATHS),
                section_at(l, file, FMAP_INDEX));
    if (o->pc_count)
        memcpy(section_at(l, file, FMAP_PCS), o->pcs, o->pc_count * sizeof *o->pcs);
    const struct trie_statistics *s = &l->trie->statistics;
    *(struct fmap_statistics *)section_at(l, file, FMAP_STATISTICS) =
        (struct fmap_statistics){s->paths_entered, s->paths_cut, s->paths_failed, o->paths, 0};
    struct fmap_trial *trials = section_at(l, file, FMAP_TRIALS);
    for (uint32_t i = 0; i < l->trie->trials.count; i++) {
        const struct trial *t = &l->trie->trials.at[i];
        trials[i] =
            (struct fmap_trial){t->samples, t->known, t->right, t->wrong, t->said, (uint32_t)t->part, 0};
    }
}

int trie_serialise(const struct trie *trie, void **data, size_t *size, struct fathom_error *err)
{
    struct layout l = {.trie = trie};
    uint8_t *file = NULL;
    int rc = functions_number(&l) && order_make(&l.order, trie, l.function_number) ? strings_place(&l, err)
                                                                                   : error_memory(err);
    if (rc == 0) {
        sections_place(&l);
        file = calloc(1, l.size);
        rc = file ? 0 : error_memory(err);
    }
    if (rc == 0) {
        names_write(&l, file);
        nodes_write(&l, file);
        header_write(&l, file);
        *data = file;
        *size = l.size;
    }
    free(l.function_order);
    free(l.function_number);
    order_clear(&l.order);
    free(l.text);
    return rc;
}

int trie_write(const struct trie *trie, struct outfile *out, struct fathom_error *err)
{
    void *data;
    size_t size;
    int rc = trie_serialise(trie, &data, &size, err);
    if (rc == 0) {
        rc = outfile_put(out, data, size, err);
        free(data);
    }
    return rc;
}

int trie_save(const struct trie *trie, const char *path, struct fathom_error *err)
{
    struct outfile *out = NULL;
    int rc = outfile_open(path, &out, err);
    if (rc == 0)
        rc = trie_write(trie, out, err);
    outfile_close(out);
    return rc;
}
