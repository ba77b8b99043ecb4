/* hooks.c - see hooks.h. */
#include "collector/verify/hooks.h"

#include <bpf/btf.h>
#include <stdbool.h>
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

struct verify_hooks hooks_find(void)
{
    struct verify_hooks h = {0};
    struct btf *btf = btf__load_vmlinux_btf();
    bool found = btf && find_member(btf, "task_struct", "mm", NULL, &h.task_mm) &&
                 find_member(btf, "task_struct", "utask", NULL, &h.task_uprobes) &&
                 find_member(btf, "uprobe_task", "return_instances", NULL, &h.instances) &&
                 find_member(btf, "mm_struct", "uprobes_state", "xol_area", &h.mm_area) &&
                 find_member(btf, "xol_area", "vaddr", NULL, &h.area_address) &&
                 find_member(btf, "return_instance", "stack", NULL, &h.stack) &&
                 find_member(btf, "return_instance", "orig_ret_vaddr", NULL, &h.original) &&
                 find_member(btf, "return_instance", "next", NULL, &h.next);
    struct verify_hooks out = found ? h : (struct verify_hooks){0};
    if (btf && !find_member(btf, "task_struct", "thread", "fsbase", &out.task_fs))
        out.task_fs = 0;
    btf__free(btf);
    return out;
}
