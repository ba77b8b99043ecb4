/* Names of the kernel's functions: from files as /proc and /sys have them, for recordings of that kernel and others. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/kernel/kernel_names.h"

static char proc[] = "/tmp/fathom-kernel.XXXXXX";
static const uint8_t note[] = {4,   0,   0,   0, 4,    0,    0,    0, 3, 0, 0, 0, /* NT_GNU_BUILD_ID */
                               'G', 'N', 'U', 0, 0xab, 0xcd, 0xef, 1};
static const struct build_id here = {.size = 4, .bytes = {0xab, 0xcd, 0xef, 1}};

static void put(const char *name, const void *data, size_t size)
{
    char path[100];
    snprintf(path, sizeof path, "%s/%s", proc, name);
    FILE *file = fopen(path, "w");
    cr_assert(file);
    cr_assert_eq(fwrite(data, 1, size, file), size);
    fclose(file);
}

static const char shown[] = "0000000000000000 A fixed_percpu_data\n"
                            "ffffffff81000000 T _stext\n"
                            "ffffffff81000000 T _text\n"
                            "ffffffff81000100 t __do_read\n"
                            "ffffffff81000100 T do_read\n"
                            "ffffffff81000100 t do_read_local\n"
                            "ffffffff81000180 D data\n"
                            "ffffffff81000200 W weak_write\n"
                            "ffffffff81001000 T _etext\n"
                            "ffffffffc0000010 t ext4_read\t[ext4]\n"
                            "ffffffffc0010010 t nf_hook\t[nf]\n"
                            "not a symbol\n"
                            "ffffffff8100\n";
static const char modules[] = "ext4 4096 1 - Live 0xffffffffc0000000\n"
                              "nf 4096 0 - Live 0xffffffffc0010000 (O)\n";

static struct running_kernel *running(const char *symbols)
{
    cr_assert(mkdtemp(proc));
    char path[100];
    snprintf(path, sizeof path, "%s/kernel", proc);
    cr_assert_eq(mkdir(path, 0700), 0);
    put("kallsyms", symbols, strlen(symbols));
    put("modules", modules, strlen(modules));
    put("kernel/notes", note, sizeof note);
    struct running_kernel *kernel = running_kernel_open(&(struct kernel_places){proc, proc});
    const char *const files[] = {"kallsyms", "modules", "kernel/notes", "kernel", ""};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", proc, files[i]);
        cr_assert_eq(remove(path), 0); /* what is read later was opened */
    }
    return kernel;
}

/* A kernel whose code began at `start`. */
static struct kernel_layout recorded(uint64_t start, const struct build_id *id)
{
    struct kernel_layout layout = {0};
    cr_assert_eq(kernel_layout_add(&layout, KERNEL_MAPPING, start, start + 0x1000, id), 0);
    cr_assert_eq(kernel_layout_add(&layout, "[ext4]", 0xffffffffc0000000, 0xffffffffc0001000, id), 0);
    cr_assert_eq(kernel_layout_add(&layout, "/lib/modules/6/kernel/net/nf.ko.xz", 0xffffffffc0020000,
                                   0xffffffffc0021000, id),
                 0);
    return layout;
}

static void is_named(struct running_kernel *kernel, const struct kernel_layout *layout, uint64_t address,
                     enum kernel_named want, const char *name, const char *image)
{
    struct kernel_name found;
    enum kernel_named how;
    cr_assert_eq(kernel_names_find(&(struct kernel_names){kernel, layout}, address, &found, &how, NULL), 0);
    cr_expect_eq(how, want, "%s: %d", name, how);
    cr_expect_str_eq(found.name, name);
    cr_expect_str_eq(found.image, image);
}

Test(kernel, names_of_the_same_kernel)
{
    struct running_kernel *kernel = running(shown);
    struct kernel_layout layout = recorded(0xffffffff81000000, &here);
    is_named(kernel, &layout, 0xffffffff81000000, KERNEL_NAMED, "_text", "[kernel]");
    is_named(kernel, &layout, 0xffffffff81000100, KERNEL_NAMED, "do_read", "[kernel]");
    is_named(kernel, &layout, 0xffffffff810001ff, KERNEL_NAMED, "do_read", "[kernel]");
    is_named(kernel, &layout, 0xffffffff81000200, KERNEL_NAMED, "weak_write", "[kernel]");
    is_named(kernel, &layout, 0xffffffffc0000014, KERNEL_NAMED, "ext4_read", "[ext4]");
    is_named(kernel, &layout, 0xffffffffc0000008, KERNEL_UNKNOWN, "[ext4]+0x8", "[ext4]");
    is_named(kernel, &layout, 0xffffffff81001000, KERNEL_UNKNOWN, "[kernel]+0x1000", "[kernel]");
    kernel_layout_free(&layout);
    running_kernel_close(kernel);
}

Test(kernel, names_after_a_restart_at_another_place)
{
    struct running_kernel *kernel = running(shown);
    struct kernel_layout layout = recorded(0xffffffff9a000000, &here);
    is_named(kernel, &layout, 0xffffffff9a000104, KERNEL_NAMED, "do_read", "[kernel]");
    /* This module lies elsewhere now. */
    is_named(kernel, &layout, 0xffffffffc0020014, KERNEL_UNKNOWN, "[nf]+0x14", "[nf]");
    kernel_layout_free(&layout);
    running_kernel_close(kernel);
}

Test(kernel, no_names_of_another_kernel)
{
    struct running_kernel *kernel = running(shown);
    const struct build_id other = {.size = 4, .bytes = {0xab, 0xcd, 0xef, 2}}, none = {0};
    struct kernel_layout layout = recorded(0xffffffff81000000, &other);
    is_named(kernel, &layout, 0xffffffff81000104, KERNEL_OTHER, "[kernel]+0x104", "[kernel]");
    is_named(kernel, &layout, 0xffffffffc0000014, KERNEL_OTHER, "[ext4]+0x14", "[ext4]");
    kernel_layout_free(&layout);
    layout = recorded(0xffffffff81000000, &none);
    is_named(kernel, &layout, 0xffffffff81000104, KERNEL_OTHER, "[kernel]+0x104", "[kernel]");
    kernel_layout_free(&layout);
    running_kernel_close(kernel);
}

Test(kernel, no_names_where_the_addresses_are_hidden)
{
    struct running_kernel *kernel = running("0000000000000000 T _text\n0000000000000000 T _etext\n");
    struct kernel_layout layout = recorded(0xffffffff81000000, &here);
    is_named(kernel, &layout, 0xffffffff81000104, KERNEL_HIDDEN, "[kernel]+0x104", "[kernel]");
    kernel_layout_free(&layout);
    running_kernel_close(kernel);
}

Test(kernel, foreign_mappings_are_ignored)
{
    static const struct {
        const char *path;
        uint64_t start, end;
    } foreign[] = {{"[]", 0xffffffff81000000, 0xffffffff81001000},
                   {"", 0xffffffff81000000, 0xffffffff81001000},
                   {"[", 0xffffffff81000000, 0xffffffff81001000},
                   {"/x/.ko", 0xffffffff81000000, 0xffffffff81001000},
                   {"/bin/true", 0xffffffff81000000, 0xffffffff81001000},
                   {"[m]", 0x1000, 0x2000},
                   {"[m]", 0xffffffff81001000, 0xffffffff81000000}};
    struct kernel_layout layout = {0};
    const struct build_id none = {0};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        cr_expect_eq(kernel_layout_add(&layout, foreign[i].path, foreign[i].start, foreign[i].end, &none), 0);
    cr_expect_eq(layout.count, 0);
    cr_expect_eq(layout.kernel.start, 0);
    for (int i = 0; i < 2; i++)
        cr_expect_eq(kernel_layout_add(&layout, "[snd-pcm]", 0xffffffffc0000000, 0xffffffffc0001000, &none),
                     0);
    cr_expect_eq(layout.count, 1, "twice the same is one");
    cr_expect_str_eq(layout.modules[0].name, "[snd_pcm]");
    kernel_layout_free(&layout);
}
