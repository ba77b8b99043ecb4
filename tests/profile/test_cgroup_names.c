/* Containers and services by the paths of cgroups that runtimes make. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "profile/cgroup_names.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct {
    const char *path, *container, *service; /* "": none */
} paths[] = {
    {"/", "", ""},
    {"", "", ""},
    {"/system.slice/nginx.service", "", "nginx.service"},
    {"/user.slice/user-1000.slice/user@1000.service/app.slice/app-term.scope", "", "app-term.scope"},
    {"/user.slice/user-1000.slice/session-3.scope/", "", "session-3.scope"},
    {"/system.slice/nginx.service/worker", "", "nginx.service"},
    {"/system.slice", "", ""},
    {"/.service/.scope", "", ""},
    /* docker with the drivers systemd and cgroupfs, podman, CRI-O */
    {"/system.slice/docker-" ID ".scope", "0123456789ab", "docker-" ID ".scope"},
    {"/docker/" ID, "0123456789ab", ""},
    {"/docker/" ID "/init.scope", "0123456789ab", "init.scope"},
    {"/machine.slice/libpod-" ID ".scope/container", "0123456789ab", "libpod-" ID ".scope"},
    {"/machine.slice/libpod-conmon-" ID ".scope", "", "libpod-conmon-" ID ".scope"},
    {"/kubepods.slice/crio-" ID ".scope", "0123456789ab", "crio-" ID ".scope"},
    /* containerd with both drivers */
    {"/kubepods.slice/kubepods-pod1.slice/cri-containerd-" ID ".scope", "0123456789ab",
     "cri-containerd-" ID ".scope"},
    {"/system.slice/containerd.service/kubepods-besteffort-pod1.slice:cri-containerd:" ID, "0123456789ab",
     "containerd.service"},
    {"/kubepods/besteffort/pod1/" ID, "0123456789ab", ""},
    /* one within another */
    {"/docker/" ID "/docker/f" ID, "0123456789ab", ""},
    {"/docker/" ID "/docker/fedcba98765432100123456789abcdef0123456789abcdef0123456789abcdef", "fedcba987654",
     ""},
    {"/lxc.payload.web/system.slice/cron.service", "web", "cron.service"},
    {"/lxc.payload.", "", ""},
    /* no ID: too short, too long, another letter */
    {"/docker/0123456789abcdef", "", ""},
    {"/x" ID, "", ""},
    {"/docker-" ID "g.scope", "", "docker-" ID "g.scope"},
    {"//docker///" ID "//", "0123456789ab", ""},
};

Test(cgroup_names, of_paths_that_runtimes_make)
{
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char name[CGROUP_NAME_SIZE] = "";
        cr_expect_eq(cgroup_container(paths[i].path, name), *paths[i].container != 0, "%s", paths[i].path);
        cr_expect_str_eq(name, paths[i].container, "%s", paths[i].path);
        name[0] = 0;
        cr_expect_eq(cgroup_service(paths[i].path, name), *paths[i].service != 0, "%s", paths[i].path);
        cr_expect_str_eq(name, paths[i].service, "%s", paths[i].path);
    }
}

Test(cgroup_names, longer_than_any_kernel_has_them)
{
    char path[2000] = "/", name[CGROUP_NAME_SIZE];
    memset(path + 1, 'x', 1000);
    memcpy(path + 1001, ".service", sizeof ".service");
    cr_assert(cgroup_service(path, name));
    cr_expect_eq(strlen(name), CGROUP_NAME_SIZE - 1);
    cr_expect(!cgroup_container(path, name));
}
