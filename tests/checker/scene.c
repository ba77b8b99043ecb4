/* scene.c - see scene.h. */
#include "tests/checker/scene.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/hash.h"
#include "image/calls/calls.h"
#include "image/run_time.h"

/* An image with its code, shared by all scenes that have it. */
struct part {
    const struct image *image;
    struct calls *calls; /* NULL before it was asked for */
    uint32_t number;
    enum { LINKED_UNKNOWN, LINKED, LINKED_NOT } linked; /* another image calls its functions by symbol */
};

/* Functions, by function_key(), each once. */
struct set {
    struct table *index;
    uint64_t *keys;
    size_t count, capacity;
    bool pointer; /* some call along the way goes through a pointer */
};

struct scene {
    struct scenes *all;
    struct part **parts;
    size_t count;
    struct set *taken;     /* NULL before it was asked for */
    struct table *callees; /* key -> struct set *: what a function calls */
};

struct scenes {
    struct table *by_state;  /* process_state() -> struct scene * */
    struct table *by_images; /* checksum of the images -> struct scene * */
    struct table *parts;     /* image -> struct part * */
    struct part **numbered;
    uint32_t part_count, part_capacity;
};

static uint64_t function_key(const struct part *part, uint32_t function)
{
    return (uint64_t)part->number << 32 | function;
}

static void set_free(struct set *set)
{
    if (!set)
        return;
    table_free(set->index);
    free(set->keys);
    free(set);
}

static struct set *set_new(void)
{
    struct set *set = calloc(1, sizeof *set);
    if (set && !(set->index = table_new())) {
        free(set);
        set = NULL;
    }
    return set;
}

static int set_add(struct set *set, uint64_t key)
{
    bool added;
    if (!table_put(set->index, key + 1, &added))
        return -ENOMEM;
    if (!added)
        return 0;
    if (set->count == set->capacity) {
        size_t capacity = set->capacity ? set->capacity * 2 : 16;
        uint64_t *keys = realloc(set->keys, capacity * sizeof *keys);
        if (!keys)
            return -ENOMEM;
        set->keys = keys;
        set->capacity = capacity;
    }
    set->keys[set->count++] = key;
    return 0;
}

static bool set_has(const struct set *set, uint64_t key)
{
    return table_find(set->index, key + 1) != NULL;
}

struct scenes *scenes_new(void)
{
    struct scenes *all = calloc(1, sizeof *all);
    if (!all)
        return NULL;
    all->by_state = table_new();
    all->by_images = table_new();
    all->parts = table_new();
    if (!all->by_state || !all->by_images || !all->parts) {
        scenes_free(all);
        all = NULL;
    }
    return all;
}

static void scene_free(struct scene *scene)
{
    size_t cursor = 0;
    uint64_t key, value;
    while (scene->callees && table_next(scene->callees, &cursor, &key, &value))
        set_free((struct set *)(uintptr_t)value);
    table_free(scene->callees);
    set_free(scene->taken);
    free(scene->parts);
    free(scene);
}

void scenes_free(struct scenes *all)
{
    if (!all)
        return;
    size_t cursor = 0;
    uint64_t key, value;
    while (all->by_images && table_next(all->by_images, &cursor, &key, &value))
        scene_free((struct scene *)(uintptr_t)value);
    for (uint32_t i = 0; i < all->part_count; i++) {
        calls_free(all->numbered[i]->calls);
        free(all->numbered[i]);
    }
    free(all->numbered);
    table_free(all->by_state);
    table_free(all->by_images);
    table_free(all->parts);
    free(all);
}

static struct part *part_of(struct scenes *all, const struct image *image)
{
    bool added;
    uint64_t *place = table_put(all->parts, (uintptr_t)image, &added);
    if (!place || !added)
        return place ? (struct part *)(uintptr_t)*place : NULL;
    if (all->part_count == all->part_capacity) {
        uint32_t capacity = all->part_capacity ? all->part_capacity * 2 : 32;
        struct part **parts = realloc(all->numbered, capacity * sizeof(struct part *));
        if (!parts)
            return NULL;
        all->numbered = parts;
        all->part_capacity = capacity;
    }
    struct part *part = calloc(1, sizeof *part);
    if (!part)
        return NULL;
    part->image = image;
    part->number = all->part_count;
    all->numbered[all->part_count++] = part;
    *place = (uintptr_t)part;
    return part;
}

static const struct calls *part_calls(struct part *part)
{
    if (!part->calls && calls_build(part->image, &part->calls, NULL) < 0)
        return NULL;
    return part->calls;
}

static int by_number(const void *a, const void *b)
{
    const struct part *x = *(struct part *const *)a, *y = *(struct part *const *)b;
    return (x->number > y->number) - (x->number < y->number);
}

/* Lists the images of a process, by number, each once. */
static int list_images(struct scenes *all, const struct process *process, struct scene *scene)
{
    size_t capacity = 0;
    const struct mapping *mapping;
    const struct build_id *build_id;
    process_open_all(process);
    for (size_t i = 0; (mapping = process_mapping_at(process, i, &build_id)); i++) {
        if (!mapping->image)
            continue;
        if (scene->count == capacity) {
            capacity = capacity ? capacity * 2 : 16;
            struct part **parts = realloc(scene->parts, capacity * sizeof(struct part *));
            if (!parts)
                return -ENOMEM;
            scene->parts = parts;
        }
        if (!(scene->parts[scene->count++] = part_of(all, mapping->image)))
            return -ENOMEM;
    }
    size_t kept = 0;
    if (scene->count)
        qsort(scene->parts, scene->count, sizeof(struct part *), by_number);
    for (size_t i = 0; i < scene->count; i++)
        if (kept == 0 || scene->parts[kept - 1] != scene->parts[i])
            scene->parts[kept++] = scene->parts[i];
    scene->count = kept;
    return 0;
}

struct scene *scenes_of(struct scenes *all, const struct process *process)
{
    uint64_t *known = table_find(all->by_state, process_state(process));
    if (known)
        return (struct scene *)(uintptr_t)*known;
    struct scene *scene = calloc(1, sizeof *scene);
    if (!scene)
        return NULL;
    scene->all = all;
    scene->callees = table_new();
    uint64_t *by_state = NULL, *by_images = NULL;
    if (scene->callees && list_images(all, process, scene) == 0) {
        by_images = table_put(all->by_images,
                              checksum_of(scene->parts, scene->count * sizeof(struct part *)) | 1, NULL);
        by_state = table_put(all->by_state, process_state(process), NULL);
    }
    if (!by_images || !by_state || *by_images) {
        scene_free(scene);
        scene = by_images && by_state ? (struct scene *)(uintptr_t)*by_images : NULL;
    }
    if (scene)
        *by_state = *by_images = (uintptr_t)scene;
    return scene;
}

/* Of a build that has several files, as copies of a program, paths have the one that was seen first. */
static struct part *scene_part(const struct scene *scene, const struct image *image)
{
    const struct build_id *build = image_build_id(image);
    struct part *alike = NULL;
    for (size_t i = 0; i < scene->count; i++) {
        if (scene->parts[i]->image == image)
            return scene->parts[i];
        if (build->size && build_id_equal(build, image_build_id(scene->parts[i]->image)))
            alike = scene->parts[i];
    }
    return alike;
}

bool scene_has(const struct scene *scene, const struct image *image)
{
    return scene_part(scene, image) != NULL;
}

/* Adds what the loader finds in the vDSO: the C library calls it through pointers, or as an IFUNC's choice.
 */
static int add_vdso(const struct scene *scene, struct set *set)
{
    int rc = 0;
    for (size_t i = 0; i < scene->count; i++) {
        struct part *part = scene->parts[i];
        if (strcmp(image_path(part->image), VDSO_NAME) != 0)
            continue;
        for (uint32_t f = 0; rc == 0 && f < image_function_count(part->image); f++) {
            const char *name = image_function(part->image, f)->name;
            if (name && image_exports(part->image, name))
                rc = set_add(set, function_key(part, f));
        }
    }
    return rc;
}

/* Adds a function, or what a resolver may choose. */
static int add_choices(const struct scene *scene, struct set *set, struct part *part, uint32_t function,
                       bool resolver)
{
    const uint32_t *choices = &function;
    size_t count = 1;
    int rc = 0;
    if (resolver) {
        count = calls_taken_by(part_calls(part), function, &choices);
        rc = add_vdso(scene, set);
    }
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = set_add(set, function_key(part, choices[i]));
    return rc;
}

/* Adds all functions to which a symbol may resolve, ignoring the order of images. */
static int add_symbol(const struct scene *scene, struct set *set, const char *symbol)
{
    int rc = 0;
    for (size_t i = 0; i < scene->count && rc == 0; i++) {
        struct part *part = scene->parts[i];
        const struct calls *calls = part_calls(part);
        if (!calls)
            return -ENOMEM;
        bool resolver;
        uint32_t function = calls_export(calls, symbol, &resolver);
        if (function != IMAGE_NO_FUNCTION)
            rc = add_choices(scene, set, part, function, resolver);
    }
    return rc;
}

/* Adds the loader's lazy-binding functions. */
static int add_binders(const struct scene *scene, struct set *set)
{
    int rc = 0;
    for (size_t i = 0; i < scene->count && rc == 0; i++) {
        struct part *part = scene->parts[i];
        const struct calls *calls = part_calls(part);
        const uint32_t *binders;
        size_t count = calls ? calls_binders(calls, &binders) : 0;
        rc = calls ? 0 : -ENOMEM;
        for (size_t k = 0; k < count && rc == 0; k++)
            rc = set_add(set, function_key(part, binders[k]));
    }
    return rc;
}

static int add_site(const struct scene *scene, struct set *set, struct part *part,
                    const struct call_site *site)
{
    uint32_t function = site->target ? image_function_at(part->image, site->target) : IMAGE_NO_FUNCTION;
    int rc = 0;
    if (function != IMAGE_NO_FUNCTION)
        rc = add_choices(scene, set, part, function, site->resolver);
    if (rc == 0 && site->symbol)
        rc = add_symbol(scene, set, site->symbol);
    if (rc == 0 && site->kind == CALL_BINDER)
        rc = add_binders(scene, set);
    set->pointer |= site->kind == CALL_INDIRECT && function == IMAGE_NO_FUNCTION;
    return rc;
}

/* Adds what the functions of the set jump to, from element `first` on. */
static int follow_jumps(const struct scene *scene, struct set *set, size_t first)
{
    int rc = 0;
    for (size_t i = first; i < set->count && rc == 0; i++) {
        struct part *part = scene->all->numbered[set->keys[i] >> 32];
        const struct calls *calls = part_calls(part);
        const struct call_site *sites;
        size_t count = calls ? calls_of(calls, (uint32_t)set->keys[i], &sites) : 0;
        rc = calls ? 0 : -ENOMEM;
        for (size_t s = 0; s < count && rc == 0; s++)
            if (sites[s].tail)
                rc = add_site(scene, set, part, &sites[s]);
    }
    return rc;
}

static struct set *callees_of(struct scene *scene, struct part *part, uint32_t function)
{
    uint64_t *place = table_put(scene->callees, function_key(part, function) + 1, NULL);
    if (!place || *place)
        return place ? (struct set *)(uintptr_t)*place : NULL;
    struct set *set = set_new();
    if (!set)
        return NULL;
    *place = (uintptr_t)set;
    const struct calls *calls = part_calls(part);
    const struct call_site *sites;
    int rc = calls ? 0 : -ENOMEM;
    size_t count = calls ? calls_of(calls, function, &sites) : 0;
    for (size_t s = 0; s < count && rc == 0; s++)
        if (!sites[s].tail)
            rc = add_site(scene, set, part, &sites[s]);
    if (rc == 0)
        rc = follow_jumps(scene, set, 0);
    return rc == 0 ? set : NULL;
}

/* Adds what the loader looks up by name and calls through pointers (glibc, elf/dl-minimal.c,
 * __rtld_malloc_init_real(); elf/dl-call-libc-early-init.c; elf/dl-mutex.c). */
static int add_loader_names(struct scene *scene, struct set *set)
{
    static const char *const names[] = {
        "calloc",
        "free",
        "malloc",
        "realloc",
        "__libc_early_init",
        "pthread_mutex_lock",
        "pthread_mutex_unlock",
    };
    int rc = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names && rc == 0; i++)
        rc = add_symbol(scene, set, names[i]);
    return rc;
}

/* Adds what the loader's own start code passes to the program's in a register, to be called at its exit
 * (glibc, sysdeps/x86_64/dl-machine.h, _dl_start_user). */
static int add_loader_exit(const struct scene *scene, struct set *set)
{
    int rc = 0;
    for (size_t i = 0; i < scene->count; i++)
        for (uint32_t f = 0; rc == 0 && f < image_function_count(scene->parts[i]->image); f++) {
            const char *name = image_function(scene->parts[i]->image, f)->name;
            if (name && strcmp(name, "_dl_fini") == 0)
                rc = set_add(set, function_key(scene->parts[i], f));
        }
    return rc;
}

/* Everything that a pointer can lead to. */
static const struct set *taken_of(struct scene *scene)
{
    if (scene->taken)
        return scene->taken;
    struct set *set = set_new();
    int rc = set ? add_vdso(scene, set) : -ENOMEM;
    rc = rc == 0 ? add_loader_names(scene, set) : rc;
    rc = rc == 0 ? add_loader_exit(scene, set) : rc;
    for (size_t i = 0; i < scene->count && rc == 0; i++) {
        struct part *part = scene->parts[i];
        const struct calls *calls = part_calls(part);
        const uint32_t *taken;
        const char *const *symbols;
        const struct call_field *fields;
        size_t count = calls ? calls_taken(calls, &taken) : 0;
        rc = calls ? 0 : -ENOMEM;
        for (size_t t = 0; t < count && rc == 0; t++)
            rc = set_add(set, function_key(part, taken[t]));
        count = calls ? calls_taken_symbols(calls, &symbols) : 0;
        for (size_t t = 0; t < count && rc == 0; t++)
            rc = add_symbol(scene, set, symbols[t]);
        count = calls ? calls_fields(calls, &fields) : 0;
        for (size_t t = 0; t < count && rc == 0; t++)
            rc = fields[t].symbol ? add_symbol(scene, set, fields[t].symbol)
                                  : set_add(set, function_key(part, fields[t].function));
    }
    if (rc == 0)
        rc = follow_jumps(scene, set, 0);
    if (rc < 0) {
        set_free(set);
        set = NULL;
    }
    return scene->taken = set;
}

/* Whether another image calls a function that this one exports, that is, is linked with it. */
static int is_linked(struct scene *scene, const struct part *part)
{
    for (size_t i = 0; i < scene->count; i++) {
        const struct calls *calls = part_calls(scene->parts[i]);
        const struct call_site *sites;
        size_t count = calls && scene->parts[i] != part ? calls_all(calls, &sites) : 0;
        if (!calls)
            return -ENOMEM;
        for (size_t s = 0; s < count; s++)
            if (sites[s].symbol && image_exports(part->image, sites[s].symbol))
                return 1;
    }
    return 0;
}

/* Whether a program can only have found the function with dlsym(): it is exported by an image that is not a
 * program and that nothing is linked with. */
static int is_looked_up(struct scene *scene, struct part *part, uint32_t function)
{
    const char *name = image_function(part->image, function)->name;
    uint64_t entry;
    if (!name || !image_exports(part->image, name) || image_entry(part->image, &entry))
        return 0;
    if (part->linked == LINKED_UNKNOWN) {
        int linked = is_linked(scene, part);
        if (linked < 0)
            return linked;
        part->linked = linked ? LINKED : LINKED_NOT;
    }
    return part->linked == LINKED_NOT;
}

int scene_taken(struct scene *scene, struct function function)
{
    struct part *part = scene_part(scene, function.image);
    const struct set *taken = taken_of(scene);
    if (!taken)
        return -ENOMEM;
    if (!part || set_has(taken, function_key(part, function.number)))
        return part != NULL;
    if (image_is_run_time(function.image)) /* it is called through pointers alone */
        return 1;
    return is_looked_up(scene, part, function.number);
}

static bool is_restorer(struct function function)
{
    uint64_t address = image_function(function.image, function.number)->address;
    return cfi_lookup(image_cfi(function.image), address).cfa == CFI_SIGNAL_FRAME;
}

int scene_step(struct scene *scene, struct function caller, struct function callee)
{
    struct part *from = scene_part(scene, caller.image), *to = scene_part(scene, callee.image);
    if (!from || !to)
        return STEP_NONE;
    if (image_is_run_time(caller.image)) /* whose code cannot be read */
        return STEP_INDIRECT;
    if (image_is_run_time(callee.image) &&
        image_makes_code(caller.image)) /* a builtin in between may have jumped there */
        return STEP_INDIRECT;
    const struct set *callees = callees_of(scene, from, caller.number);
    if (!callees)
        return -ENOMEM;
    if (set_has(callees, function_key(to, callee.number)))
        return STEP_DIRECT;
    if (is_restorer(callee))
        return STEP_SIGNAL;
    bool signal = is_restorer(caller);
    if (!callees->pointer && !signal)
        return STEP_NONE;
    int taken = scene_taken(scene, callee);
    if (taken <= 0)
        return taken < 0 ? taken : STEP_NONE;
    return signal ? STEP_SIGNAL : STEP_INDIRECT;
}

#define ENTRY_SIZE 160 /* bytes: the loader's entry code, which may have no symbol and no FDE */

/* Whether the code at an address has a direct call of this function. */
static bool entry_calls(const struct part *part, uint64_t address, uint32_t function)
{
    size_t size;
    const uint8_t *code = image_bytes(part->image, address, &size);
    uint64_t target = image_function(part->image, function)->address;
    for (size_t i = 0; code && i + 5 <= size && i < ENTRY_SIZE; i++) {
        int32_t distance;
        memcpy(&distance, code + i + 1, sizeof distance);
        if (code[i] == 0xe8 && address + i + 5 + (uint64_t)distance == target)
            return true;
    }
    return false;
}

/* Where the kernel starts the loader: read from its ELF header, as image_entry() works only for programs. */
static bool loader_entry(const struct part *part, uint64_t *entry)
{
    Elf64_Ehdr header;
    uint64_t address;
    size_t size;
    const uint8_t *bytes =
        image_address(part->image, 0, &address) ? image_bytes(part->image, address, &size) : NULL;
    if (!bytes || size < sizeof header || !image_exports(part->image, "__tls_get_addr"))
        return false;
    memcpy(&header, bytes, sizeof header);
    *entry = header.e_entry;
    return true;
}

bool scene_begins_program(const struct scene *scene, struct function function)
{
    uint64_t address;
    const struct part *part = scene_part(scene, function.image);
    if (!part)
        return false;
    if (image_entry(part->image, &address))
        return image_function_at(part->image, address) == function.number;
    return loader_entry(part, &address) && entry_calls(part, address, function.number);
}

int scene_begins_thread(struct scene *scene, struct function function)
{
    struct part *part = scene_part(scene, function.image);
    const struct calls *calls = part ? part_calls(part) : NULL;
    if (!calls)
        return part ? -ENOMEM : 0;
    bool resolver;
    uint32_t create = calls_export(calls, "pthread_create", &resolver);
    const struct call_site *sites;
    size_t count = create == IMAGE_NO_FUNCTION ? 0 : calls_of(calls, create, &sites);
    for (size_t i = 0; i < count; i++) {
        const uint32_t *taken;
        uint32_t callee =
            sites[i].target ? image_function_entry(part->image, sites[i].target) : IMAGE_NO_FUNCTION;
        size_t many = callee == IMAGE_NO_FUNCTION ? 0 : calls_taken_by(calls, callee, &taken);
        for (size_t t = 0; t < many; t++)
            if (taken[t] == function.number)
                return 1;
    }
    return 0;
}

bool scene_switches(struct function function)
{
    const char *name =
        function.number == IMAGE_NO_FUNCTION ? NULL : image_function(function.image, function.number)->name;
    return name && (strcmp(name, "swapcontext") == 0 || strcmp(name, "setcontext") == 0);
}
