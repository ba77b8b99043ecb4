/* image.c - assembles an image from its parts; see image.h. */
#include "base/path.h"
#include "image/image_private.h"
#include "image/leaf_writes.h"
#include "image/script.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "image/cfi/thread_return.h"
#include "image/cold.h"
#include "image/debug_file.h"
#include "image/derive.h"
#include "image/elf/mini_debug.h"
#include "image/go_table.h"

#define MAPPED_PAGE 4096ul /* bytes; mappings consist of whole pages */

/* Adds the entry points, which are known even in a stripped file: the C start-up code has no FDE. */
static int add_entry_points(const struct elf_file *file, struct symbols *symbols)
{
    struct symbol s = {.local = true, .typed = true};
    uint64_t value;
    s.name = "_init";
    if (elf_file_dynamic(file, DT_INIT, &s.address) && elf_file_is_code(file, s.address, 0) &&
        symbols_add(symbols, &s) < 0)
        return -ENOMEM;
    s.name = "_fini";
    if (elf_file_dynamic(file, DT_FINI, &s.address) && elf_file_is_code(file, s.address, 0) &&
        symbols_add(symbols, &s) < 0)
        return -ENOMEM;
    /* a library's entry, where it has one, is no _start */
    s.name = "_start";
    s.address = file->entry;
    if (!elf_file_dynamic(file, DT_SONAME, &value) && s.address && elf_file_is_code(file, s.address, 0) &&
        symbols_add(symbols, &s) < 0)
        return -ENOMEM;
    return 0;
}

/* Adds an interpreter's loop that was found by its code. */
static int add_loop(const struct image *image, struct symbols *symbols)
{
    const struct script_runtime *script = image->script;
    if (!script || !script->loop)
        return 0;
    const struct symbol s = {.address = script->loop,
                             .name = script_facts(script->layout.language)->loop,
                             .local = true,
                             .typed = true};
    return symbols_add(symbols, &s);
}

/* Adds the functions in a Go program's own table, which strip leaves. C functions in the program are not in it. */
static int add_go_functions(struct image *image, const struct log *log, struct symbols *symbols)
{
    const struct elf_file *file = &image->file;
    const struct go_table *table = &image->go;
    struct go_function f;
    if (!go_table_open(file, &image->go)) {
        if (table->magic)
            log_write(log, LOG_WARNING,
                      "%s: its functions and stacks are not known, as the format of its table of them "
                      "(.gopclntab) is not: "
                      "%#x",
                      image->path, table->magic);
        return 0;
    }
    uint64_t done = 0; /* end of the last function; entries of a damaged table may overlap */
    for (uint32_t i = 0; i < table->count; i++) {
        if (!go_table_function(table, i, &f) || f.address < done ||
            !elf_file_is_code(file, f.address, f.size))
            continue;
        done = f.address + f.size;
        const struct symbol s = {.address = f.address, .size = f.size, .name = f.name, .typed = true};
        if (symbols_add(symbols, &s) < 0)
            return -ENOMEM;
    }
    return 0;
}

/* A file with its own symbols and debug information needs no other. Servers are queried here only if there are no
 * names at all; for lines, they are when lines are requested (reader.h). */
static int find_debug_file(struct image *image, const struct image_options *options)
{
    if (elf_file_section(&image->file, ".symtab") && elf_file_has_debug_info(&image->file))
        return 0;
    const char *path = options && options->symfs && image->file_path ? image->file_path : image->path;
    int rc = debug_file_find(&image->file, path, options, &image->debug_path, &image->debug);
    if (rc || elf_file_section(&image->file, ".symtab"))
        return rc;
    rc = mini_debug_open(&image->file, path, &image->debug);
    return rc < 0 || image->debug.data
               ? rc
               : debug_file_fetch(&image->file, options, &image->debug_path, &image->debug);
}

static int build_functions(struct image *image, bool parts_apart, const struct log *log)
{
    struct symbols symbols = {0};
    int rc = symbols_read(&symbols, &image->file, &image->file);
    if (rc == 0 && image->debug.data)
        rc = symbols_read(&symbols, &image->debug, &image->file);
    if (rc == 0)
        rc = add_go_functions(image, log, &symbols);
    if (rc == 0)
        rc = add_loop(image, &symbols);
    if (rc == 0)
        rc = add_entry_points(&image->file, &symbols);
    if (rc == 0) {
        symbols_sort(&symbols);
        rc = functions_build(&image->file, image->cfi, &symbols, image->arena, &image->functions);
    }
    if (rc == 0)
        rc = cold_join_names(&image->functions, &symbols);
    if (rc == 0 && !parts_apart)
        rc = image_join_parts(image);
    symbols_free(&symbols);
    return rc;
}

int image_join_parts(struct image *image)
{
    return cold_join_branches(&image->file, image->cfi, &image->functions);
}

static int build_image(struct image *image, const struct image_options *options, struct fathom_error *err)
{
    if (image->file.cut)
        return error_set(err, EBADMSG, ELF_CUT, image->path);
    if (image->file.code_high == 0)
        return error_set(err, EBADMSG, "%s has no executable segment", image->path);
    image->arena = arena_new(0);
    if (!image->arena)
        return error_memory(err);
    int rc = cfi_table_build(&image->file, &image->cfi, err);
    if (rc < 0)
        return rc;
    if (find_debug_file(image, options) < 0 || image_find_script(image) < 0 ||
        build_functions(image, options && options->parts_apart, options ? options->log : NULL) < 0)
        return error_memory(err);
    image->thread_return = thread_return_find(&image->file);
    image->makes_code = run_time_is_runtime(&image->file);
    return 0;
}

/* Takes ownership of the opened ELF file. */
static int open_image(struct elf_file *file, const char *path, const char *file_path,
                      const struct image_options *options, struct image **out, struct fathom_error *err)
{
    struct image *image = calloc(1, sizeof *image);
    if (!image) {
        elf_file_close(file);
        return error_memory(err);
    }
    image->file = *file;
    image->file.log = options ? options->log : NULL;
    image->path = strdup(path);
    image->file_path = file_path ? strdup(file_path) : NULL;
    int rc = 0;
    if (!image->path || (file_path && !image->file_path)) {
        rc = error_memory(err);
    } else {
        image->name = path_base(image->path);
        rc = build_image(image, options, err);
    }
    if (rc < 0) {
        image_close(image);
        return rc;
    }
    *out = image;
    return 0;
}

int image_open_as(const char *file_path, const char *path, const struct image_options *options,
                  struct image **out, struct fathom_error *err)
{
    struct elf_file file;
    int rc = elf_file_open(&file, file_path, ELF_CODE, err);
    return rc < 0 ? rc : open_image(&file, path, file_path, options, out, err);
}

int image_open(const char *path, const struct image_options *options, struct image **out,
               struct fathom_error *err)
{
    return image_open_as(path, path, options, out, err);
}

int image_open_memory(const char *path, const void *data, size_t size, const struct image_options *options,
                      struct image **out, struct fathom_error *err)
{
    struct elf_file file;
    int rc = elf_file_open_memory(&file, path, data ? data : "", data ? size : 0, err);
    return rc < 0 ? rc : open_image(&file, path, NULL, options, out, err);
}

void image_close(struct image *image)
{
    if (!image)
        return;
    functions_free(&image->functions);
    cfi_table_free(image->cfi);
    image_derived_free(image->deriving);
    arena_free(image->arena);
    elf_file_close(&image->debug);
    elf_file_close(&image->file);
    free(image->debug_path);
    free(image->path);
    free(image->file_path);
    free(image);
}

bool image_is_stripped(const struct image *image)
{
    return !elf_file_section(&image->file, ".symtab") && !image->debug_path;
}

const char *image_path(const struct image *image)
{
    return image->path;
}

const char *image_name(const struct image *image)
{
    return image->name;
}

const struct build_id *image_build_id(const struct image *image)
{
    return &image->file.build_id;
}

bool image_address(const struct image *image, uint64_t file_offset, uint64_t *address)
{
    for (size_t i = 0; i < image->file.segment_count; i++) {
        const struct elf_segment *s = &image->file.segments[i];
        if (file_offset - s->offset < s->file_size) {
            *address = s->address + (file_offset - s->offset);
            return true;
        }
    }
    return false;
}

bool image_offset(const struct image *image, uint64_t address, uint64_t *file_offset)
{
    for (size_t i = 0; i < image->file.segment_count; i++) {
        const struct elf_segment *s = &image->file.segments[i];
        if (address - s->address < s->file_size) {
            *file_offset = s->offset + (address - s->address);
            return true;
        }
    }
    return false;
}

bool image_bias(const struct image *image, uint64_t file_offset, uint64_t start, uint64_t *bias)
{
    for (size_t i = 0; i < image->file.segment_count; i++) {
        const struct elf_segment *s = &image->file.segments[i];
        uint64_t first = s->offset & ~(MAPPED_PAGE - 1);
        if (s->executable && file_offset >= first && file_offset < s->offset + s->file_size) {
            *bias = start - (s->address + (file_offset - s->offset));
            return true;
        }
    }
    return false;
}

bool image_covers(const struct image *image, uint64_t address)
{
    for (size_t i = 0; i < image->file.segment_count; i++)
        if (address - image->file.segments[i].address < image->file.segments[i].memory_size)
            return true;
    return false;
}

const uint8_t *image_bytes(const struct image *image, uint64_t address, size_t *size)
{
    uint64_t most = ELF_REST;
    if (elf_file_is_late(&image->file)) {
        const uint32_t f = functions_find(&image->functions, address);
        const struct image_function *function = f == IMAGE_NO_FUNCTION ? NULL : &image->functions.items[f];
        most = IMAGE_AHEAD + (function ? function->address + function->size - address : 0);
    }
    return elf_file_bytes(&image->file, address, most, size);
}

uint64_t image_extent(const struct image *image, uint64_t address)
{
    for (size_t i = 0; i < image->file.segment_count; i++) {
        const struct elf_segment *s = &image->file.segments[i];
        if (address - s->address < s->file_size)
            return s->file_size - (address - s->address);
    }
    return 0;
}

int image_need_code(const struct image *image, struct fathom_error *err)
{
    return elf_file_need_code(&image->file, err);
}

uint64_t image_code_size(const struct image *image)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < image->functions.count; i++)
        size += image->functions.items[i].size;
    return size;
}

uint32_t image_function_count(const struct image *image)
{
    return image->functions.count;
}

const struct image_function *image_function(const struct image *image, uint32_t index)
{
    return index < image->functions.count ? &image->functions.items[index] : NULL;
}

uint32_t image_function_at(const struct image *image, uint64_t address)
{
    uint32_t i = functions_find(&image->functions, address);
    return i == IMAGE_NO_FUNCTION ? i : image->functions.items[i].owner;
}

uint32_t image_function_entry(const struct image *image, uint64_t address)
{
    uint32_t i = functions_find(&image->functions, address);
    if (i == IMAGE_NO_FUNCTION)
        return i;
    const struct image_function *f = &image->functions.items[i];
    return f->address == address && f->owner == i ? i : IMAGE_NO_FUNCTION;
}

bool image_entry(const struct image *image, uint64_t *address)
{
    uint64_t value;
    const struct elf_file *file = &image->file;
    /* a library's entry, where it has one, is no _start */
    if (elf_file_dynamic(file, DT_SONAME, &value) || !elf_file_is_code(file, file->entry, 1))
        return false;
    *address = file->entry;
    return true;
}

bool image_library_entry(const struct image *image, uint64_t *address)
{
    uint64_t value;
    const struct elf_file *file = &image->file;
    if (!elf_file_dynamic(file, DT_SONAME, &value) || elf_file_dynamic(file, DT_NEEDED, &value) ||
        !elf_file_is_code(file, file->entry, 1))
        return false;
    *address = file->entry;
    return true;
}

const char *image_soname(const struct image *image)
{
    uint64_t at;
    return elf_file_dynamic(&image->file, DT_SONAME, &at) ? elf_file_dynamic_name(&image->file, at) : NULL;
}

bool image_is_fixed(const struct image *image)
{
    return image->file.type == ET_EXEC;
}

bool image_function_is_found(const struct image *image, uint32_t index)
{
    const struct image_function *f = image_function(image, index);
    if (!f || f->name || plt_holds(&image->file, f->address))
        return false;
    return !cfi_covers(image->cfi, f->address);
}

bool image_function_is_stub(const struct image *image, uint32_t index)
{
    const struct image_function *f = image_function(image, index);
    return f && plt_holds(&image->file, f->address);
}

const struct cfi *image_cfi(const struct image *image)
{
    return image->cfi;
}

bool image_registers(const struct image *image, uint64_t address, struct cfi_registers *out)
{
    const struct cfi_row row = cfi_lookup(image->cfi, address);
    if (!row.derived)
        return cfi_frames_registers(cfi_table_frames(image->cfi), address, out);
    if (row.cfa != CFI_UNSUPPORTED)
        return false;
    *out = cfi_derived_registers(&row);
    return true;
}

bool image_leaf_keeps(const struct image *image, uint32_t function, unsigned number)
{
    /* code.h's numbers by DWARF's */
    static const uint8_t numbers[16] = {0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15};
    const struct image_function *f = image_function(image, function);
    return f && number < sizeof numbers && !(leaf_writes(image, f->address) >> numbers[number] & 1);
}

bool image_thread_return(const struct image *image, uint64_t *address)
{
    if (image->thread_return)
        *address = image->thread_return;
    return image->thread_return != 0;
}
