/* go_table.c - see go_table.h. */
#include "image/go_table.h"

#include <elf.h>
#include <string.h>

#include "image/elf/relocations.h"

enum {
    MAGIC_1_2 = 0xfffffffb,
    MAGIC_1_16 = 0xfffffffa,
    MAGIC_1_18 = 0xfffffff0,
};

enum { /* function flags */
       FLAG_TOPFRAME = 1,
       FLAG_SPWRITE = 2,
};

#define WORD    8u         /* bytes of a pointer: amd64 */
#define TEXT_AT (3 * WORD) /* offset of the text's start in a header */

enum { /* indexes of a function's tables: Go 1.16 and later */
       PCDATA_INLINED = 2,
       FUNCDATA_TREE = 3,
};

#define NO_OFFSET UINT32_MAX

static const struct elf_section *find_section(const struct elf_file *file)
{
    const struct elf_section *section = elf_file_section(file, ".gopclntab");
    return section ? section : elf_file_section(file, ".data.rel.ro.gopclntab");
}

static bool is_known(uint32_t magic)
{
    return magic == MAGIC_1_2 || magic == MAGIC_1_16 || magic == MAGIC_1_18 || magic == GO_MAGIC_1_20;
}

/* A word that the loader relocates: the file need not have its value. */
struct relocated {
    uint64_t address, value;
};

static void see_relocation(void *relocated, const struct relocation *word)
{
    struct relocated *r = relocated;
    if (word->address == r->address)
        r->value = word->value;
}

/* Where the text starts: at the address in the header, or at the one that the loader writes there. Go's own
 * linker leaves it out of relocatable files, in which all text is Go's. */
static uint64_t text_of(const struct elf_file *file, uint64_t recorded, uint64_t address)
{
    const struct elf_section *text = elf_file_section(file, ".text");
    struct relocated word = {address, recorded};
    if (!recorded)
        relocations_see(file, see_relocation, &word);
    return word.value || !text ? word.value : text->address;
}

/* data: begins with the table's header, at this address. false: it is no table. */
static bool read_header(const struct elf_file *file, const uint8_t *data, size_t size, uint64_t address,
                        struct go_table *out)
{
    struct bytes b = bytes_of(data, size);
    out->magic = bytes_u32(&b);
    bytes_u16(&b);
    out->quantum = bytes_u8(&b);
    const uint8_t word = bytes_u8(&b);
    const uint64_t count = bytes_u64(&b);
    if (b.failed || !is_known(out->magic) || word != WORD || out->quantum == 0 || count > size / 8)
        return false;
    out->count = (uint32_t)count;
    out->relative = out->magic == MAGIC_1_18 || out->magic == GO_MAGIC_1_20;
    out->functions = WORD + WORD;
    if (out->magic != MAGIC_1_2) {
        bytes_u64(&b); /* files */
        out->text = out->relative ? bytes_u64(&b) : 0;
        out->names = bytes_u64(&b);
        out->units = bytes_u64(&b);
        out->files = bytes_u64(&b);
        out->pcs = bytes_u64(&b);
        out->functions = bytes_u64(&b);
    }
    if (b.failed || out->names > size || out->pcs > size || out->functions > size || out->units > size ||
        out->files > size)
        return false;
    if (out->relative)
        out->text = text_of(file, out->text, address + TEXT_AT);
    out->address = address;
    out->data = data;
    out->size = size;
    return true;
}

static bool is_of_code(const struct elf_file *file, const struct go_table *t);

#define HEADERS_MAX 64 /* places that look like one: each may require reading the file's relocations */

/* Finds the table by its header: linkers other than Go's put it among other data. */
static bool search_table(const struct elf_file *file, const struct elf_section *section, struct go_table *out)
{
    size_t size;
    const uint8_t *data = elf_section_bytes(file, section, &size);
    unsigned headers = 0;
    for (size_t at = 0; data && at + WORD <= size && headers < HEADERS_MAX; at += WORD) {
        uint32_t magic;
        memcpy(&magic, data + at, sizeof magic);
        if (!is_known(magic) || data[at + 4] != 0 || data[at + 5] != 0 ||
            !read_header(file, data + at, size - at, section->address + at, out))
            continue;
        headers++;
        if (is_of_code(file, out))
            return true;
    }
    *out = (struct go_table){.data = NULL};
    return false;
}

bool go_table_open(const struct elf_file *file, struct go_table *out)
{
    const struct elf_section *section = find_section(file);
    size_t size;
    const uint8_t *data = elf_section_bytes(file, section, &size);
    *out = (struct go_table){.data = NULL};
    if (data)
        return read_header(file, data, size, section->address, out);
    return elf_file_section(file, ".note.go.buildid") &&
           (search_table(file, elf_file_section(file, ".data.rel.ro"), out) ||
            search_table(file, elf_file_section(file, ".rodata"), out));
}

static struct bytes bytes_at(const struct go_table *t, uint64_t offset)
{
    return offset <= t->size ? bytes_of(t->data + offset, t->size - offset) : (struct bytes){.failed = true};
}

/* Reads an entry of the function table: its address, and the place of its description. The last entry only has
 * the end of the text. */
static bool read_entry(const struct go_table *t, uint32_t i, uint64_t *address, uint64_t *place)
{
    const uint64_t size = t->relative ? 8 : 2 * WORD;
    struct bytes b = bytes_at(t, t->functions + size * i);
    *address = t->relative ? t->text + bytes_u32(&b) : bytes_u64(&b);
    if (i == t->count)
        return !b.failed;
    const uint64_t offset = t->relative ? bytes_u32(&b) : bytes_u64(&b);
    *place = t->magic == MAGIC_1_2 ? offset : t->functions + offset;
    return !b.failed && offset < t->size;
}

/* Whether the first and last functions are in code. */
static bool is_of_code(const struct elf_file *file, const struct go_table *t)
{
    uint64_t first, last, place;
    return t->count && read_entry(t, 0, &first, &place) && read_entry(t, t->count - 1, &last, &place) &&
           first <= last && elf_file_is_code(file, first, 1) && elf_file_is_code(file, last, 1);
}

/* Marks runtime functions that Go before 1.17 does not mark: those without a caller, and those that change to
 * another stack. */
static void mark_by_name(struct go_function *f)
{
    static const char *const outermost[] = {"runtime.goexit", "runtime.mstart", "runtime.rt0_go",
                                            "_rt0_amd64_linux"},
                             *const switching[] = {"runtime.systemstack", "runtime.mcall",
                                                   "runtime.morestack",   "runtime.asmcgocall",
                                                   "runtime.gogo",        "runtime.cgocallback"};
    for (size_t i = 0; i < sizeof outermost / sizeof *outermost; i++)
        f->outermost |= strcmp(f->name, outermost[i]) == 0;
    for (size_t i = 0; i < sizeof switching / sizeof *switching; i++)
        f->writes_sp |= strcmp(f->name, switching[i]) == 0;
}

/* Reads where the tree of inlined calls is, from what follows a function's description: the number of its data
 * entries, its tables, its data. A truncated one has no tree. Before Go 1.18 data are aligned pointers, later
 * offsets. */
static void read_tree(const struct go_table *t, struct bytes b, uint32_t tables, struct go_function *f)
{
    const uint8_t data = bytes_u8(&b);
    const uint64_t size = t->relative ? 4 : WORD;
    f->tree = GO_NO_TREE;
    if (t->magic == MAGIC_1_2 || tables <= PCDATA_INLINED || data <= FUNCDATA_TREE)
        return;
    struct bytes calls = b;
    bytes_take(&calls, 4 * PCDATA_INLINED);
    f->calls = bytes_u32(&calls);
    bytes_take(&b, 4 * (uint64_t)tables);
    bytes_take(&b, b.failed ? 0 : (uint64_t)(t->data - b.at) % size);
    bytes_take(&b, size * FUNCDATA_TREE);
    const uint64_t tree = t->relative ? bytes_u32(&b) : bytes_u64(&b);
    if (!b.failed && tree != (t->relative ? NO_OFFSET : 0))
        f->tree = tree;
}

/* Reads where a function ends: at the next one, or at the one after that if the next one's address is damaged, so
 * that a damaged address does not extend the function. */
static bool read_end(const struct go_table *t, uint32_t i, uint64_t address, uint64_t *end)
{
    uint64_t after, place;
    if (!read_entry(t, i + 1, end, &place))
        return false;
    if (t->count - i >= 2 && read_entry(t, i + 2, &after, &place) && after > address && after < *end)
        *end = after;
    return *end > address;
}

bool go_table_function(const struct go_table *t, uint32_t i, struct go_function *out)
{
    uint64_t place, end;
    *out = (struct go_function){.name = NULL};
    if (i >= t->count || !read_entry(t, i, &out->address, &place) || !read_end(t, i, out->address, &end))
        return false;
    struct bytes b = bytes_at(t, place);
    bytes_take(&b, t->relative ? 4 : WORD); /* the entry again */
    const uint32_t name = bytes_u32(&b);
    bytes_take(&b, 8); /* size of arguments, where a deferred call returns to */
    const uint32_t deltas = bytes_u32(&b);
    out->files = bytes_u32(&b);
    out->lines = bytes_u32(&b);
    const uint32_t tables = bytes_u32(&b);
    if (t->magic != MAGIC_1_2)
        out->unit = bytes_u32(&b);
    if (t->magic == GO_MAGIC_1_20)
        bytes_u32(&b); /* first line */
    bytes_u8(&b);
    const uint8_t flags = bytes_u8(&b);
    bytes_u8(&b);
    read_tree(t, b, tables, out);
    struct bytes text = bytes_at(t, t->names + name);
    out->name = bytes_string(&text);
    if (b.failed || !out->name || !*out->name)
        return false;
    out->size = end - out->address;
    out->outermost = flags & FLAG_TOPFRAME;
    out->writes_sp = flags & FLAG_SPWRITE;
    out->deltas = bytes_at(t, t->pcs + deltas);
    mark_by_name(out);
    return deltas != 0 && !out->deltas.failed;
}

bool go_delta_next(const struct go_table *t, struct go_function *f, struct go_delta *delta)
{
    const bool first = delta->end == 0;
    const uint64_t end = f->address + f->size;
    const uint64_t change = bytes_uleb(&f->deltas);
    if (f->deltas.failed || (change == 0 && !first))
        return false;
    delta->start = first ? f->address : delta->end;
    delta->value = (int64_t)((uint64_t)(first ? -1 : delta->value) + ((change >> 1) ^ (0 - (change & 1))));
    const uint64_t length = bytes_uleb(&f->deltas);
    if (f->deltas.failed || delta->start >= end)
        return false;
    delta->end = length < end - delta->start ? delta->start + length * t->quantum : end;
    delta->end = delta->end < end ? delta->end : end;
    return delta->end > delta->start;
}

bool go_table_find(const struct go_table *t, uint64_t address, struct go_function *out)
{
    uint32_t low = 0, high = t->count; /* the function is one of [low, high) */
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        uint64_t start, place;
        if (!read_entry(t, middle, &start, &place))
            return false;
        *(start <= address ? &low : &high) = middle;
    }
    return t->count && go_table_function(t, low, out) && address - out->address < out->size;
}

bool go_range_at(const struct go_table *t, const struct go_function *f, uint32_t values, uint64_t address,
                 uint32_t *steps, struct go_delta *out)
{
    struct go_function of = *f;
    *out = (struct go_delta){0};
    if (values == 0)
        return false;
    of.deltas = bytes_at(t, t->pcs + values);
    while (*steps && go_delta_next(t, &of, out)) {
        --*steps;
        if (address < out->end)
            return true;
    }
    return false;
}

int32_t go_value_at(const struct go_table *t, const struct go_function *f, uint32_t values, uint64_t address,
                    uint32_t *steps)
{
    struct go_delta range;
    return !go_range_at(t, f, values, address, steps, &range) || range.value < 0 || range.value > INT32_MAX
               ? -1
               : (int32_t)range.value;
}

/* A string of a string table that begins at `list` and ends before `end`. */
static const char *text_at(const struct go_table *t, uint64_t list, uint64_t offset, uint64_t end)
{
    struct bytes b = bytes_at(t, list + offset);
    const bool begins = !b.failed && list + offset < end && (offset == 0 || b.at[-1] == 0);
    return begins ? bytes_string(&b) : NULL;
}

const char *go_table_name(const struct go_table *t, uint32_t name)
{
    return text_at(t, t->names, name, t->units);
}

const char *go_table_file(const struct go_table *t, const struct go_function *f, uint32_t number)
{
    struct bytes b = bytes_at(t, t->units + 4 * ((uint64_t)f->unit + number));
    const uint32_t offset = bytes_u32(&b);
    return b.failed || offset == NO_OFFSET ? NULL : text_at(t, t->files, offset, t->pcs);
}
