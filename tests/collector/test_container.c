/* Containers by the names of their groups, and by runtimes' files, on directories that the test lays out. */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/targets/container.h"

#define SIXTEEN "0123456789abcdef"
#define FIRST   "a1" SIXTEEN SIXTEEN SIXTEEN "23456789abcdef"
#define SECOND  "a2" SIXTEEN SIXTEEN SIXTEEN "23456789abcdef"
#define THIRD   "b1" SIXTEEN SIXTEEN SIXTEEN "23456789abcdef"
#define FOURTH  "c1" SIXTEEN SIXTEEN SIXTEEN "23456789abcdef"
#define STOPPED "d1" SIXTEEN SIXTEEN SIXTEEN "23456789abcdef"
_Static_assert(sizeof FIRST == CONTAINER_ID + 1, "IDs");

static char top[64], root[96], state[96];

static void shell(const char *fmt, const char *argument)
{
    char command[1100], inner[960];
    snprintf(inner, sizeof inner, fmt, argument);
    snprintf(command, sizeof command, "cd %s && %s", top, inner);
    cr_assert_eq(system(command), 0, "%s", command);
}

static void put(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", top, name);
    shell("mkdir -p \"$(dirname %s)\"", name);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file, "%s", path);
    fputs(text, file);
    fclose(file);
}

static void set_up(void)
{
    strcpy(top, "/tmp/fathom-container.XXXXXX");
    cr_assert_not_null(mkdtemp(top));
    snprintf(root, sizeof root, "%s/cgroup", top);
    snprintf(state, sizeof state, "%s/state", top);
    shell("mkdir -p cgroup/system.slice/docker-%s.scope/init", FIRST);
    shell("mkdir -p cgroup/machine.slice/libpod-%s.scope/container", SECOND);
    shell("mkdir -p cgroup/machine.slice/libpod-conmon-%s.scope", SECOND);
    shell("mkdir -p cgroup/kubepods/pod1/%s", THIRD);
    shell("mkdir -p cgroup/kubepods.slice/kubepods-pod2.slice:cri-containerd:%s", FOURTH);
    put("state/var/lib/docker/containers/" FIRST "/config.v2.json",
        "{\"State\":{\"Pid\":7,\"Name\":\"/other\"},\"ID\":\"" FIRST "\",\"Name\":\"/web\"}\n");
    put("state/var/lib/docker/containers/" STOPPED "/config.v2.json",
        "{\"ID\":\"" STOPPED "\",\"Name\":\"/old\"}\n");
    put("state/var/lib/docker/containers/broken/config.v2.json", "{\"ID\":\"" FIRST "\",\"Name\":\"/half");
    put("state/home/me/.local/share/containers/storage/overlay-containers/containers.json",
        "[{\"names\":[\"first\",\"db\",\"c1\"],\"id\":\"" SECOND
        "\",\"metadata\":\"{\\\"name\\\":\\\"web\\\"}\"},"
        "{\"id\":\"" THIRD "\",\"names\":[\"cache\"]},{\"id\":\"nonsense\",\"names\":[\"bad\"]}]");
    put("state/var/lib/containers/storage/overlay-containers/containers.json",
        "[{\"id\":\"" FIRST "\",\"names\":[\"cache\"]}]");
    put("state/run/containerd/io.containerd.runtime.v2.task/k8s.io/" FOURTH "/config.json",
        "{\"process\":{\"nerdctl/name\":1},\"annotations\":{\"io.kubernetes.cri.container-name\":\"api\"}}");
}

static void tear_down(void)
{
    char command[96];
    snprintf(command, sizeof command, "rm -r %s", top);
    cr_assert_eq(system(command), 0);
}

TestSuite(container, .init = set_up, .fini = tear_down);

Test(container, it_is_found_by_id_and_name)
{
    static const char *const cases[][2] = {
        {FIRST, "docker-" FIRST ".scope"},
        {"a1", "docker-" FIRST ".scope"},
        {"web", "docker-" FIRST ".scope"},
        {SECOND, "libpod-" SECOND ".scope"},
        {"db", "libpod-" SECOND ".scope"},
        {"first", "libpod-" SECOND ".scope"},
        {"b", THIRD},
        {"c1", "libpod-" SECOND ".scope"}, /* its name, though another's ID begins so */
        {"c10", "kubepods-pod2.slice:cri-containerd:" FOURTH},
        {"api", "kubepods-pod2.slice:cri-containerd:" FOURTH},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[PATH_MAX] = "/";
        struct fathom_error err = {0};
        cr_expect_eq(container_find(root, state, cases[i][0], path, &err), 0, "%s: %s", cases[i][0],
                     err.text);
        cr_expect_str_eq(strrchr(path, '/') + 1, cases[i][1], "%s", cases[i][0]);
    }
}

Test(container, what_is_not_found_says_why)
{
    static const struct {
        const char *wanted;
        int code;
        const char *says;
    } cases[] = {
        {"a", -EEXIST, "several containers have an ID that begins with a"},
        {"cache", -EEXIST, "several containers that run are named cache"},
        {"f", -ENOENT, "no container that runs has this ID or name: f"},
        {"old", -ENOENT, "container old (d10123456789) does not run"},
        {"half", -ENOENT, "no container"},
        {"other", -ENOENT, "no container"},
        {"bad", -ENOENT, "no container"},
        {"", -ENOENT, "no container"},
        {"../" FIRST, -ENOENT, "no container"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[PATH_MAX];
        struct fathom_error err = {0};
        cr_expect_eq(container_find(root, state, cases[i].wanted, path, &err), cases[i].code, "%s",
                     cases[i].wanted);
        cr_expect(strstr(err.text, cases[i].says), "%s: %s", cases[i].wanted, err.text);
    }
}
