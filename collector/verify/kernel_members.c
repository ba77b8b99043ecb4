/* kernel_members.c - see kernel_members.h. */
#include "collector/verify/kernel_members.h"

#include <bpf/btf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DEPTH_MOST 8 /* maximum nesting of anonymous structs */

/* Byte offset of a member in a struct or in an anonymous struct inside of it; -1: there is none. *type: of
 * the member. */
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

/* *out: byte offset of a struct's member, or of that member's own member `inner` (NULL: none). */
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

/* A member to look up, and where its offset is stored. */
struct wanted {
    const char *structure, *name, *inner;
    size_t out;
};

#define AT(member) offsetof(struct verify_config, member)

static const struct wanted hook_members[] = {
    {"task_struct", "mm", NULL, AT(hooks.task_mm)},
    {"task_struct", "utask", NULL, AT(hooks.task_uprobes)},
    {"uprobe_task", "return_instances", NULL, AT(hooks.instances)},
    {"mm_struct", "uprobes_state", "xol_area", AT(hooks.mm_area)},
    {"xol_area", "vaddr", NULL, AT(hooks.area_address)},
    {"return_instance", "stack", NULL, AT(hooks.stack)},
    {"return_instance", "orig_ret_vaddr", NULL, AT(hooks.original)},
    {"return_instance", "next", NULL, AT(hooks.next)},
};

static const struct wanted file_members[] = {
    {"task_struct", "mm", NULL, AT(members.task_mm)},
    {"task_struct", "group_leader", NULL, AT(members.task_leader)},
    {"task_struct", "start_time", NULL, AT(members.task_born)},
    {"task_struct", "self_exec_id", NULL, AT(members.task_exec)},
    {"mm_struct", "exec_vm", NULL, AT(members.mm_code)},
    {"mm_struct", "start_stack", NULL, AT(members.mm_stack)},
    {"vm_area_struct", "vm_start", NULL, AT(members.vma_start)},
    {"vm_area_struct", "vm_end", NULL, AT(members.vma_end)},
    {"vm_area_struct", "vm_pgoff", NULL, AT(members.vma_page)},
    {"vm_area_struct", "vm_file", NULL, AT(members.vma_file)},
    {"file", "f_inode", NULL, AT(members.file_inode)},
    {"inode", "i_ino", NULL, AT(members.inode_number)},
    {"inode", "i_generation", NULL, AT(members.inode_generation)},
    {"inode", "i_sb", NULL, AT(members.inode_super)},
    {"super_block", "s_dev", NULL, AT(members.super_device)},
};

/* An inode's time of change: since Linux 6.11, since 6.6, and before. */
static const struct wanted changed_members[][2] = {
    {{"inode", "i_ctime_sec", NULL, AT(members.inode_changed_s)},
     {"inode", "i_ctime_nsec", NULL, AT(members.inode_changed_ns)}},
    {{"inode", "__i_ctime", "tv_sec", AT(members.inode_changed_s)},
     {"inode", "__i_ctime", "tv_nsec", AT(members.inode_changed_ns)}},
    {{"inode", "i_ctime", "tv_sec", AT(members.inode_changed_s)},
     {"inode", "i_ctime", "tv_nsec", AT(members.inode_changed_ns)}},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool find_all(const struct btf *btf, const struct wanted *wanted, size_t count,
                     struct verify_config *out)
{
    bool found = btf;
    for (size_t i = 0; found && i < count; i++)
        found = find_member(btf, wanted[i].structure, wanted[i].name, wanted[i].inner,
                            (uint32_t *)((uint8_t *)out + wanted[i].out));
    return found;
}

bool kernel_members_find(struct verify_config *config)
{
    struct btf *btf = btf__load_vmlinux_btf();
    if (!find_all(btf, hook_members, COUNT(hook_members), config))
        config->hooks = (struct verify_hooks){0};
    if (btf && !find_member(btf, "task_struct", "thread", "fsbase", &config->hooks.task_fs))
        config->hooks.task_fs = 0;
    bool changed = false, found = find_all(btf, file_members, COUNT(file_members), config);
    for (size_t i = 0; found && !changed && i < COUNT(changed_members); i++)
        changed = find_all(btf, changed_members[i], COUNT(changed_members[i]), config);
    btf__free(btf);
    if (!changed)
        config->members = (struct verify_members){0};
    return changed;
}
