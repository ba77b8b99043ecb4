/* The ID of a container in the name of its cgroup. */
#include <criterion/criterion.h>

#include <string.h>

#include "base/container_id.h"

#define ID "a10123456789abcdef0123456789abcdef0123456789abcdef23456789abcdef"
_Static_assert(sizeof ID == CONTAINER_ID + 1, "an ID");

static const char *in(const char *name)
{
    return container_id(name, strlen(name));
}

Test(container_id, as_runtimes_name_groups)
{
    cr_expect_str_eq(in(ID), ID);
    cr_expect_str_eq(in("crio-" ID ".scope"), ID ".scope");
    cr_expect_str_eq(in("kubepods-pod1.slice:cri-containerd:" ID), ID);
    cr_expect_str_eq(container_id("docker-" ID "/init.scope", sizeof "docker-" ID - 1), ID "/init.scope");
}

Test(container_id, what_only_looks_like_one)
{
    cr_expect_null(in("docker-" ID ".slice"));
    cr_expect_null(in("docker-" ID "0.scope"));
    cr_expect_null(in("docker-.scope"));
    cr_expect_null(in("x" ID));
    cr_expect_null(in("crio-conmon-" ID ".scope"));
    cr_expect_null(in("docker-A10123456789abcdef0123456789abcdef0123456789abcdef23456789abcdef"));
    cr_expect_null(in("session-1.scope"));
    cr_expect_null(in(".scope"));
    cr_expect_null(in(""));
}
