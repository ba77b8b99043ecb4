/* Where the running kernel has what the BPF program reads. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "collector/verify/kernel_members.h"

/* Whether the kernel tells its types, and programs may ask for its mappings: Linux 5.17 and later. */
static bool tells(void)
{
    struct utsname kernel;
    unsigned major = 0, minor = 0;
    cr_assert_eq(uname(&kernel), 0);
    cr_assert_eq(sscanf(kernel.release, "%u.%u", &major, &minor), 2);
    return access("/sys/kernel/btf/vmlinux", R_OK) == 0 && (major > 5 || (major == 5 && minor >= 17));
}

Test(kernel_members, are_all_found)
{
    struct verify_config config = {0};
    if (!tells())
        cr_skip_test("the kernel does not tell its types");
    cr_assert(kernel_members_find(&config));
    /* Some of these may be first in their structs. */
    const struct verify_members *m = &config.members;
    cr_expect(m->task_mm && m->task_leader && m->task_born && m->task_exec);
    cr_expect(m->mm_code && m->mm_stack && m->mm_code != m->mm_stack);
    cr_expect_eq(m->vma_end, m->vma_start + 8);
    cr_expect(m->vma_page && m->vma_file && m->inode_number && m->inode_generation && m->inode_super);
    cr_expect(m->inode_changed_s && m->inode_changed_ns && m->inode_changed_s != m->inode_changed_ns);
    cr_expect_neq(m->super_device, 0);
    cr_expect_neq(config.hooks.task_fs, 0);
}
