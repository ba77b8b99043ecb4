/* Whether an image has Ruby, of which version, and where a thread's is. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "image/script.h"
#include "tests/image/build.h"

static void write_source(const char *version)
{
    char source[1024];
    snprintf(source, sizeof source,
             "#include <stdio.h>\n"
             "const char ruby_version[] = \"%s\";\n"
             "_Thread_local char other[100];\n"
             "_Thread_local long ruby_current_ec __attribute__((aligned(64)));\n"
             "void ruby_exec_node(void) {}\n"
             "void set(void) { ruby_current_ec++; other[3]++; }\n"
             "void say(void) { puts(\"\"); }\n"
             "#ifdef PROGRAM\n"
             "int main(void)\n"
             "{\n"
             "    set();\n"
             "    printf(\"%%ld\", (long)&ruby_current_ec - (long)__builtin_thread_pointer());\n"
             "}\n"
             "#endif\n",
             version);
    build_source("ruby.c", source);
}

static struct image *build(const char *version, const char *flags)
{
    write_source(version);
    build_run("$CC %s -o ruby ruby.c", flags);
    return build_open("ruby");
}

Test(ruby, in_a_library_is_found_by_the_loaders_slot, .fini = build_clean)
{
    struct image *image = build("3.1.7", "-shared -fPIC");
    const struct script_runtime *ruby = image_script(image);
    cr_assert(ruby && ruby->has_layout);
    cr_expect_eq(ruby->layout.language, (unsigned)SCRIPT_RUBY);
    cr_expect_eq(ruby->major, 3u);
    cr_expect_eq(ruby->minor, 1u);
    cr_expect_eq(ruby->layout.ruby.current, 0);
    cr_expect(image_covers(image, ruby->state));
    cr_expect_eq(ruby->layout.ruby.body_texts, 64u);
    build_run("readelf -Wr ruby | grep -q '^0*%llx .*R_X86_64_DTPMOD64 .* ruby_current_ec'",
              (unsigned long long)ruby->state);
    image_close(image);
}

Test(ruby, in_a_program_is_at_a_distance_from_the_thread, .fini = build_clean)
{
    static const char *const ways[] = {"-DPROGRAM -rdynamic", "-DPROGRAM -rdynamic -no-pie"};
    for (size_t i = 0; i < 2; i++) {
        struct image *image = build("3.1.2", ways[i]);
        const struct script_runtime *ruby = image_script(image);
        cr_assert(ruby && ruby->has_layout);
        build_run("test \"$(./ruby)\" = %lld", (long long)ruby->layout.ruby.current);
        image_close(image);
    }
}

static void expect_unknown(const char *why, unsigned minor, struct image *image)
{
    const struct script_runtime *ruby = image_script(image);
    cr_assert(ruby, "%s", why);
    cr_expect_not(ruby->has_layout, "%s", why);
    cr_expect_eq(ruby->minor, minor, "%s", why);
    image_close(image);
}

Test(ruby, that_is_not_known_has_no_layout, .fini = build_clean)
{
    expect_unknown("an older one", 0, build("3.0.2", "-shared -fPIC"));
    expect_unknown("a later one", 10, build("3.10.2", "-shared -fPIC"));
    expect_unknown("none", 0, build("", "-shared -fPIC"));
    expect_unknown("no number", 0, build("x3.1", "-shared -fPIC"));
    expect_unknown("no slot", 1, build("3.1.2", "-shared -fPIC -ftls-model=initial-exec"));
    expect_unknown("another C library", 1, build("3.1.2", "-shared -fPIC -nostdlib"));
    expect_unknown("hidden", 1, build("3.1.2", "-shared -fPIC -Druby_current_ec=hidden_ec"));
}
