/* What names of mappings say. */
#include <criterion/criterion.h>

#include "image/mapped_name.h"

Test(mapped_name, names_of_what_is_no_file)
{
    static const char *const names[] = {"//anon",
                                        "/dev/zero (deleted)",
                                        "/dev/dri/card0",
                                        "/SYSV00000000 (deleted)",
                                        "/anon_hugepage",
                                        "/[aio] (deleted)",
                                        "[vdso]",
                                        "anon_inode:[perf_event]",
                                        ""};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        cr_expect_eq(mapped_kind(names[i]), MAPPED_NO_FILE, "%s", names[i]);
}

Test(mapped_name, files)
{
    cr_expect_eq(mapped_kind("/usr/bin/true"), MAPPED_FILE);
    cr_expect_eq(mapped_kind("/device"), MAPPED_FILE);
    cr_expect_eq(mapped_kind("/dev/shm/program"), MAPPED_FILE, "a file system like others");
    cr_expect_eq(mapped_kind("/lib/x.so (deleted)"), MAPPED_FILE);
    cr_expect_eq(mapped_kind("/memfd:x (deleted)"), MAPPED_MEMORY_FILE);
}

Test(mapped_name, deleted_files)
{
    cr_expect(mapped_is_gone("/lib/x.so (deleted)"));
    cr_expect_eq(mapped_path_length("/lib/x.so (deleted)"), 9);
    cr_expect_not(mapped_is_gone("/lib/x.so"));
    cr_expect_eq(mapped_path_length("/lib/x.so"), 9);
    cr_expect_not(mapped_is_gone(" (deleted)"), "no path is left");
}

Test(mapped_name, files_that_the_recorder_did_not_find)
{
    cr_expect(mapped_is_not_found("/lib/x.so" MAPPED_NOT_FOUND));
    cr_expect(mapped_is_gone("/lib/x.so (not found)"));
    cr_expect_eq(mapped_path_length("/lib/x.so (not found)"), 9);
    cr_expect_not(mapped_is_not_found("/lib/x.so (deleted)"));
}

Test(mapped_name, programs_are_what_no_library_is_named_like)
{
    static const char *const programs[] = {"/usr/bin/lua5.4", "/a.sold", "/x.so.d/run",
                                           "/usr/bin/fathom (deleted)"};
    static const char *const others[] = {"/lib/libz.so",           "/lib/libz.so.1", "/lib/libz.so.1.2.13",
                                         "/lib/libz.so (deleted)", "[vdso]",         ""};
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
        cr_expect(mapped_is_program(programs[i]), "%s", programs[i]);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        cr_expect_not(mapped_is_program(others[i]), "%s", others[i]);
}
