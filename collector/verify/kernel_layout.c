/* kernel_layout.c - see kernel_layout.h. */
#include "collector/verify/kernel_layout.h"

#include <bpf/btf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DEPTH_MOST 8 /* of structs without a name in one */

/* Bytes to a member, in a struct or one without a name inside of it; -1: it has none. *type: of the member. */
static int64_t offset_in(const struct btf *btf, int32_t id, const char *name, unsigned depth, int32_t *type)
{
    const struct btf_type *of = btf__type_by_id(btf, (uint32_t)id);
    if (!of || !btf_is_composite(of) || depth > DEPTH_MOST)
        return -1;
    const struct btf_member *members = btf_members(of);
    for (uint16_t i = 0; i < btf_vlen(of); i++) {
        const char *text = btf__name_by_offset(btf, members[i].name_off);
        int64_t at = btf_member_bit_offset(of, i) / 8;
        *type = (int32_t)members[i].type;
        if (text && strcmp(text, name) == 0)
            return at;
        int64_t inner = text && *text ? -1 : offset_in(btf, (int32_t)members[i].type, name, depth + 1, type);
        if (inner >= 0)
            return at + inner;
    }
    return -1;
}

/* *out: bytes to a member of a struct, or to that member's own member `inner` (NULL: none). */
static bool find_member(const struct btf *btf, const char *structure, const char *name, const char *inner,
                        uint32_t *out)
{
    int32_t type;
    int64_t at = offset_in(btf, btf__find_by_name_kind(btf, structure, BTF_KIND_STRUCT), name, 0, &type);
    int64_t more = at >= 0 && inner ? offset_in(btf, type, inner, 0, &type) : 0;
    if (at < 0 || more < 0)
        return false;
    *out = (uint32_t)(at + more);
    return true;
}

/* A member that is looked for, and where in the result its place stands. */
struct wanted {
    const char *structure, *name, *inner;
    size_t out;
};

#define HOOK(out, ...)                                                                                       \
    {                                                                                                        \
        __VA_ARGS__, offsetof(struct verify_hooks, out)                                                      \
    }
static const struct wanted hook_members[] = {
    HOOK(task_mm, "task_struct", "mm", NULL),
    HOOK(task_uprobes, "task_struct", "utask", NULL),
    HOOK(instances, "uprobe_task", "return_instances", NULL),
    HOOK(mm_area, "mm_struct", "uprobes_state", "xol_area"),
    HOOK(area_address, "xol_area", "vaddr", NULL),
    HOOK(stack, "return_instance", "stack", NULL),
    HOOK(original, "return_instance", "orig_ret_vaddr", NULL),
    HOOK(next, "return_instance", "next", NULL),
};

#define FILE_AT(out, ...)                                                                                    \
    {                                                                                                        \
        __VA_ARGS__, offsetof(struct verify_layout, out)                                                     \
    }
static const struct wanted file_members[] = {
    FILE_AT(task_mm, "task_struct", "mm", NULL),
    FILE_AT(task_leader, "task_struct", "group_leader", NULL),
    FILE_AT(task_born, "task_struct", "start_time", NULL),
    FILE_AT(task_exec, "task_struct", "self_exec_id", NULL),
    FILE_AT(mm_code, "mm_struct", "exec_vm", NULL),
    FILE_AT(mm_stack, "mm_struct", "start_stack", NULL),
    FILE_AT(vma_start, "vm_area_struct", "vm_start", NULL),
    FILE_AT(vma_end, "vm_area_struct", "vm_end", NULL),
    FILE_AT(vma_page, "vm_area_struct", "vm_pgoff", NULL),
    FILE_AT(vma_file, "vm_area_struct", "vm_file", NULL),
    FILE_AT(file_inode, "file", "f_inode", NULL),
    FILE_AT(inode_number, "inode", "i_ino", NULL),
    FILE_AT(inode_generation, "inode", "i_generation", NULL),
    FILE_AT(inode_super, "inode", "i_sb", NULL),
    FILE_AT(super_device, "super_block", "s_dev", NULL),
};

/* When an inode changed: since Linux 6.11, since 6.6, and before. */
static const struct wanted changed_members[][2] = {
    {FILE_AT(inode_changed_s, "inode", "i_ctime_sec", NULL),
     FILE_AT(inode_changed_ns, "inode", "i_ctime_nsec", NULL)},
    {FILE_AT(inode_changed_s, "inode", "__i_ctime", "tv_sec"),
     FILE_AT(inode_changed_ns, "inode", "__i_ctime", "tv_nsec")},
    {FILE_AT(inode_changed_s, "inode", "i_ctime", "tv_sec"),
     FILE_AT(inode_changed_ns, "inode", "i_ctime", "tv_nsec")},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool find_all(const struct btf *btf, const struct wanted *wanted, size_t count, void *out)
{
    bool found = btf;
    for (size_t i = 0; found && i < count; i++)
        found = find_member(btf, wanted[i].structure, wanted[i].name, wanted[i].inner,
                            (uint32_t *)((uint8_t *)out + wanted[i].out));
    return found;
}

bool kernel_layout_find(struct verify_hooks *hooks, struct verify_layout *files)
{
    struct btf *btf = btf__load_vmlinux_btf();
    *hooks = (struct verify_hooks){0};
    *files = (struct verify_layout){0};
    if (!find_all(btf, hook_members, COUNT(hook_members), hooks))
        *hooks = (struct verify_hooks){0};
    if (btf && !find_member(btf, "task_struct", "thread", "fsbase", &hooks->task_fs))
        hooks->task_fs = 0;
    bool changed = false, found = find_all(btf, file_members, COUNT(file_members), files);
    for (size_t i = 0; found && !changed && i < COUNT(changed_members); i++)
        changed = find_all(btf, changed_members[i], COUNT(changed_members[i]), files);
    btf__free(btf);
    return found && changed;
}
