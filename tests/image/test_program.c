/* test_program.c - what the kernel would do with a file. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/elf/program.h"

static char directory[] = "/tmp/fathom-program.XXXXXX";

static void set_up(void)
{
    cr_assert_not_null(mkdtemp(directory));
    cr_assert_eq(chdir(directory), 0);
}

static void tear_down(void)
{
    for (const char *const *name = (const char *const[]){"a", "b", "c", "d", "e", "f", NULL}; *name; name++)
        unlink(*name);
    rmdir(directory);
}

TestSuite(program, .init = set_up, .fini = tear_down);

static void make(const char *name, const void *data, size_t size)
{
    FILE *file = fopen(name, "w");
    cr_assert_not_null(file);
    fwrite(data, 1, size, file);
    fclose(file);
    cr_assert_eq(chmod(name, 0755), 0);
}

static void script(const char *name, const char *text)
{
    make(name, text, strlen(text));
}

Test(program, finds_this_one_dynamic)
{
    struct program program;
    cr_assert_eq(program_find("/proc/self/exe", &program, NULL), 0);
    cr_expect_eq(program.kind, PROGRAM_DYNAMIC);
    cr_expect_not(program.raised);
    cr_expect_not_null(strstr(program.loader, "ld-linux"));
}

Test(program, looks_in_the_path)
{
    struct program program;
    struct fathom_error err = {0};
    setenv("PATH", "/no/such/place:/bin:/usr/bin", 1);
    cr_assert_eq(program_find("sh", &program, NULL), 0);
    cr_expect_eq(program.kind, PROGRAM_DYNAMIC);
    cr_expect_str_eq(program.path, "/bin/sh");
    cr_expect_eq(program_find("no-such-command-here", &program, &err), -ENOENT);
    cr_expect_not_null(strstr(err.text, "no-such-command-here"));
    cr_expect_eq(program_find("", &program, NULL), -ENOENT);
    setenv("PATH", "/bin::", 1);
    script("b", "#!/bin/sh\n");
    cr_expect_eq(program_find("b", &program, NULL), 0, "an empty part is the working directory");
    cr_expect_str_eq(program.path, "/bin/sh");
}

Test(program, follows_scripts)
{
    struct program program;
    script("a", "#! \t/bin/sh -e\n");
    script("b", "#!./a\n");
    cr_assert_eq(program_find("./b", &program, NULL), 0);
    cr_expect_str_eq(program.path, "/bin/sh");
    cr_expect_eq(program.kind, PROGRAM_DYNAMIC);
    script("c", "#!./c\n");
    cr_expect_eq(program_find("./c", &program, NULL), -ELOOP);
    script("d", "#!/no/such/interpreter\n");
    cr_expect_eq(program_find("./d", &program, NULL), -ENOENT);
    script("e", "#!");
    cr_assert_eq(program_find("./e", &program, NULL), 0);
    cr_expect_eq(program.kind, PROGRAM_FOREIGN);
    script("f", "");
    cr_assert_eq(program_find("./f", &program, NULL), 0);
    cr_expect_eq(program.kind, PROGRAM_FOREIGN);
}

Test(program, waits_for_no_pipe, .timeout = 20)
{
    struct program program;
    cr_assert_eq(mkfifo("a", 0755), 0);
    cr_assert_eq(program_find("./a", &program, NULL), 0);
    cr_expect_eq(program.kind, PROGRAM_FOREIGN);
    script("b", "#!./a\n");
    cr_assert_eq(program_find("./b", &program, NULL), 0);
    cr_expect_eq(program.kind, PROGRAM_FOREIGN);
}

Test(program, tells_rights_that_a_file_gives)
{
    struct program program;
    if (geteuid() != 0)
        cr_skip_test("only root can give a file away");
    script("a", "echo");
    cr_assert_eq(chown("a", 12345, 12345), 0);
    cr_assert_eq(chmod("a", 04755), 0);
    cr_assert_eq(program_find("./a", &program, NULL), 0);
    cr_expect(program.raised);
    cr_assert_eq(chmod("a", 02755), 0);
    cr_assert_eq(program_find("./a", &program, NULL), 0);
    cr_expect(program.raised);
    cr_assert_eq(chown("a", 0, 0), 0);
    cr_assert_eq(chmod("a", 04755), 0);
    cr_assert_eq(program_find("./a", &program, NULL), 0);
    cr_expect_not(program.raised, "root's rights are those that root has");
}

Test(program, damaged_headers_are_foreign_or_harmless)
{
    uint8_t head[4096];
    struct program program;
    FILE *file = fopen("/proc/self/exe", "r");
    cr_assert_eq(fread(head, 1, sizeof head, file), sizeof head);
    fclose(file);
    for (size_t cut = 0; cut < 600; cut += 7) {
        make("a", head, cut);
        cr_assert_eq(program_find("./a", &program, NULL), 0);
        cr_expect_neq(program.kind, cut < 64 ? PROGRAM_DYNAMIC : 99);
    }
    for (size_t at = 0; at < 64; at++) {
        uint8_t old = head[at];
        head[at] = 0xff;
        make("a", head, sizeof head);
        cr_assert_eq(program_find("./a", &program, NULL), 0);
        head[at] = old;
    }
}
