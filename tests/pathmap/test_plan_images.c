/* test_plan_images.c - plans of real binaries: each hook does what the code did, nearly all are detours, and
 * they are made quickly. */
#include <criterion/criterion.h>

#include <glob.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/pathmap/equivalent.h"
#include "tests/sanitized.h"

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Nearly all calls are made by functions with hooks (_start and its like have none), from frames that can be
 * told. */
static void check_calls(const char *path, const struct plan *plan)
{
    uint32_t count = plan->header->call_count, told = 0, hooked = 0;
    for (uint32_t i = 0; i < count; i++) {
        told += plan_rule_kind(plan->calls[i].cfa) != PLAN_CALL_UNKNOWN;
        hooked += plan->calls[i].hook != PLAN_NO_HOOK;
    }
    cr_expect_gt(count, 0);
    cr_expect(told >= 0.99 * count, "%s: %u of %u calls are from frames that can be told", path, told, count);
    cr_expect(hooked + 2 >= 0.95 * count, "%s: %u of %u calls are by functions with hooks", path, hooked,
              count);
}

/* share: of the hooks that must be detours or sleds; limit: seconds that the plan may take. A sanitizer takes
 * several times as long. */
static void check(const char *path, double share, double limit)
{
    struct image *image;
    struct fathom_error err = {0};
    void *data;
    size_t size;
    struct plan plan;
    struct plan_summary summary;
    const char *reason = "";
    cr_assert_eq(image_open(path, NULL, &image, &err), 0, "%s", err.text);
    double start = seconds();
    cr_assert_eq(plan_build(image, NULL, &data, &size, &summary, &err), 0, "%s", err.text);
    double taken = seconds() - start;
    cr_assert_eq(plan_read(data, size, &plan, &reason), 0, "%s: %s", path, reason);
    equivalent_check(image, &plan, &summary);
    uint32_t total = 0;
    for (unsigned i = 0; i < PLAN_KINDS; i++)
        total += summary.kinds[i];
    cr_assert_eq(total, plan.header->hook_count);
    cr_assert_eq(summary.left_out_count, plan.header->left_out);
    check_calls(path, &plan);
    double found = (double)(summary.kinds[PLAN_SLED] + summary.kinds[PLAN_DETOUR]) / total;
    cr_expect(found >= share, "%s: only %.4f of %u hooks are detours", path, found, total);
#if !ADDRESS_SANITIZED
    cr_expect(taken < limit, "%s: %.2f s", path, taken);
#else
    (void)taken;
    (void)limit;
#endif
    plan_summary_free(&summary);
    free(data);
    image_close(image);
}

/* A library's name ends in a version that an update changes. */
static void check_library(const char *pattern, double share, double limit)
{
    glob_t found;
    if (glob(pattern, 0, NULL, &found) != 0)
        cr_skip_test("%s is not installed", pattern);
    check(found.gl_pathv[0], share, limit);
    globfree(&found);
}

Test(plan_images, sqlite3)
{
    check_library("/usr/bin/sqlite3", 0.98, 1);
    check_library("/usr/lib/x86_64-linux-gnu/libsqlite3.so.0", 0.98, 1);
}

Test(plan_images, lua)
{
    check_library("/usr/bin/lua5.4", 0.98, 1);
}

Test(plan_images, perl)
{
    check_library("/usr/bin/perl", 0.98, 2);
}

Test(plan_images, python3)
{
    check_library("/usr/bin/python3", 0.98, 3);
}

Test(plan_images, libstdcxx)
{
    check_library("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", 0.98, 1);
}

Test(plan_images, libc_and_the_loader)
{
    check_library("/lib/x86_64-linux-gnu/libc.so.6", 0.97, 2);
    check_library("/lib64/ld-linux-x86-64.so.2", 0.95, 1);
}

Test(plan_images, programs_with_known_trees)
{
    static const char *const names[] = {"alloca",   "callback",    "cold",      "deep",      "exceptions",
                                        "faults",   "order",       "plugin.so", "recursion", "signals",
                                        "tailcall", "libvisit.so", "threads"};
    const char *top = getenv("top_builddir");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/tests/programs/%s", top ? top : ".", names[i]);
        cr_assert_eq(access(path, R_OK), 0, "%s is not built", path);
        check(path, 0.9, 1);
    }
}
