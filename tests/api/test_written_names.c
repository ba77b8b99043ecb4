/* What a process was told about names of the code that it makes: its flags, and its file. */
#include <criterion/criterion.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/doctor/written_names.h"

static bool flag(char *words, size_t words_size, char *settings, size_t settings_size, const char *which)
{
    const struct written_names names = {
        .words = words, .words_size = words_size, .settings = settings, .settings_size = settings_size};
    return written_names_flag(&names, "NODE_OPTIONS", which);
}

#define FLAG(words, settings, which)                                                                         \
    flag((char[]){words}, sizeof words, (char[]){settings}, sizeof settings, which)

Test(written_names, flags_of_the_command_line)
{
    cr_expect(FLAG("node\0--perf-prof\0x.js", "A=1", "--perf-prof"));
    cr_expect(FLAG("node\0--perf_prof", "A=1", "--perf-prof"), "V8 takes both");
    cr_expect(FLAG("node\0--perf-prof-unwinding-info", "A=1", "--perf-prof"));
    cr_expect_not(FLAG("node\0--no-perf-prof", "A=1", "--perf-prof"));
    cr_expect_not(FLAG("node\0--perf-", "A=1", "--perf-prof"));
    cr_expect_not(FLAG("", "", "--perf-prof"));
}

Test(written_names, flags_of_the_environment)
{
    cr_expect(FLAG("node", "A=1\0NODE_OPTIONS=--perf-prof", "--perf-prof"));
    cr_expect(FLAG("node", "NODE_OPTIONS=--x  --perf-prof --y\0A=1", "--perf-prof"));
    cr_expect_not(FLAG("node", "NODE_OPTIONS=--x--perf-prof", "--perf-prof"));
    cr_expect_not(FLAG("node", "NODE_OPTIONS", "--perf-prof"));
    cr_expect_not(FLAG("node", "NODE_OPTIONS2=--perf-prof\0MY_NODE_OPTIONS=--perf-prof", "--perf-prof"));
    cr_expect_not(flag(NULL, 0, NULL, 0, "--perf-prof"));
}

Test(written_names, processes_that_have_ended)
{
    struct written_names names;
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    siginfo_t info;
    cr_assert_eq(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    written_names_read(child, &names); /* a zombie */
    cr_expect_eq(names.file, WRITTEN_NONE);
    cr_expect_not(written_names_flag(&names, "PATH", "/"));
    written_names_free(&names);
    cr_assert_eq(waitpid(child, NULL, 0), child);
    written_names_read(child, &names);
    cr_expect_eq(names.file, WRITTEN_NONE);
    cr_expect_eq(names.own_pid, 0);
    cr_expect_null(names.words);
    written_names_free(&names);
}

Test(written_names, this_process)
{
    struct written_names names;
    written_names_read(getpid(), &names);
    cr_expect_gt(names.own_pid, 0);
    cr_expect_gt(names.words_size, 0);
    cr_expect_eq(names.file, WRITTEN_NONE);
    written_names_free(&names);
    cr_expect_null(names.words);
}
