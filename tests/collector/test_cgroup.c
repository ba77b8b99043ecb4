/* Where control groups are mounted, and which of them a path is: on mounts and directories that the test lays out. */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collector/targets/cgroup.h"

static char top[64];

static void set_up(void)
{
    strcpy(top, "/tmp/fathom-cgroup.XXXXXX");
    cr_assert_not_null(mkdtemp(top));
}

static void tear_down(void)
{
    char command[96];
    snprintf(command, sizeof command, "rm -r %s", top);
    cr_assert_eq(system(command), 0);
}

TestSuite(cgroup, .init = set_up, .fini = tear_down);

static int root_of(const char *mounts, char root[PATH_MAX], struct fathom_error *err)
{
    char path[128];
    snprintf(path, sizeof path, "%s/mountinfo", top);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fputs(mounts, file);
    fclose(file);
    return cgroup_root(path, root, err);
}

#define TMPFS "20 1 0:5 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
#define CPU   "21 20 0:6 / /sys/fs/cgroup/cpu rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
#define PERF  "22 20 0:7 / /sys/fs/cgroup/perf\\040event rw - cgroup cgroup rw,perf_event\n"
#define SECOND                                                                                               \
    "23 20 0:8 / /sys/fs/cgroup/unified rw,nosuid shared:10 master:2 - cgroup2 cgroup2 rw,nsdelegate\n"

Test(cgroup, the_hierarchy_with_perf_event_is_found)
{
    char root[PATH_MAX];
    struct fathom_error err = {0};
    cr_assert_eq(root_of(TMPFS CPU SECOND, root, &err), 0);
    cr_expect_str_eq(root, "/sys/fs/cgroup/unified");
    cr_assert_eq(root_of(SECOND PERF CPU, root, &err), 0);
    cr_expect_str_eq(root, "/sys/fs/cgroup/perf event");
    cr_expect_eq(root_of(TMPFS CPU, root, &err), -ENOENT);
    cr_expect(strstr(err.text, "only cgroup v1 is mounted here, without its controller perf_event"), "%s",
              err.text);
    cr_expect_eq(root_of(TMPFS, root, &err), -ENOENT);
    cr_expect(strstr(err.text, "no cgroups are mounted here"), "%s", err.text);
    cr_expect_eq(root_of("\n-\n - \n1 - cgroup2\n1 2 3 4 - cgroup2 a b\n", root, &err), -ENOENT);
}

Test(cgroup, a_path_is_whole_or_below_the_root)
{
    char path[128], inner[160];
    struct cgroup group;
    struct fathom_error err = {0};
    snprintf(path, sizeof path, "%s/a", top);
    snprintf(inner, sizeof inner, "%s/a/b", top);
    cr_assert(mkdir(path, 0755) == 0 && mkdir(inner, 0755) == 0);
    char dotted[192], outside[96];
    snprintf(dotted, sizeof dotted, "%s/a/../a/b", top);
    snprintf(outside, sizeof outside, "%s/..", top);
    const char *const ways[] = {"a/b", "/a/b", inner, "a/b/", "./a//b", "a/../a/b", dotted};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        cr_assert_eq(cgroup_open(top, ways[i], &group, &err), 0, "%s: %s", ways[i], err.text);
        cr_expect_str_eq(group.path, inner);
        cr_expect(!cgroup_exists(&group), "it has no file cgroup.procs");
        cgroup_close(&group);
    }
    cr_expect_eq(cgroup_open(top, "a/c", &group, &err), -ENOENT);
    cr_expect_eq(cgroup_open(top, "../../proc", &group, &err), -EINVAL);
    cr_expect_eq(cgroup_open(top, outside, &group, &err), -EINVAL);
}

Test(cgroup, processes_of_groups_below_are_listed)
{
    char command[512];
    struct cgroup group;
    pid_t *pids;
    size_t count;
    snprintf(command, sizeof command,
             "cd %s && mkdir -p a/b a/c d && printf '1\\n20\\n' >a/cgroup.procs && printf '0\\n300\\n' "
             ">a/b/cgroup.procs && echo 7 >d/cgroup.procs && echo x >a/c/cgroup.procs",
             top);
    cr_assert_eq(system(command), 0);
    cr_assert_eq(cgroup_open(top, "a", &group, NULL), 0);
    cr_expect(cgroup_exists(&group));
    cr_assert_eq(cgroup_processes(&group, &pids, &count, NULL), 0);
    cr_assert_eq(count, 3);
    cr_expect_eq(pids[0] + pids[1] + pids[2], 321);
    free(pids);
    cgroup_close(&group);
}
