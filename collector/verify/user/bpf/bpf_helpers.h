/*
 * bpf_helpers.h - in place of libbpf's, so that verify.bpf.c can be compiled for user space: its helpers are those of
 * the machine (machine.c).
 */
#ifndef FATHOM_COLLECTOR_VERIFY_USER_BPF_BPF_HELPERS_H
#define FATHOM_COLLECTOR_VERIFY_USER_BPF_BPF_HELPERS_H

#include <stddef.h>
#include <stdint.h>

#define SEC(name)
#define __uint(name, value) int(*name)[value]
#define __type(name, value) __typeof__(value) *name
#undef __always_inline
#define __always_inline inline
#undef __noinline
#define __noinline __attribute__((noinline))

void *machine_lookup(const void *map, const void *key);
long machine_update(const void *map, const void *key, const void *value);
long machine_delete(const void *map, const void *key);
long machine_output(const void *data, uint64_t size);
long machine_read(void *to, uint32_t size, const void *from);
long machine_read_text(void *to, uint32_t size, const void *from);
void *machine_late_registers(void);
uint64_t machine_now(void);
uint32_t machine_cpu(void);
uint64_t machine_task(void);
uint64_t machine_user(void);
uint64_t machine_cgroup(uint32_t level);
const void *machine_task_struct(void);
struct task_struct;
struct vm_area_struct;
struct task_struct *machine_current(void);
long machine_find_mapping(uint64_t address,
                          long (*see)(struct task_struct *, struct vm_area_struct *, const uint32_t *),
                          const uint32_t *cpu);
uint32_t machine_random(void);

#define bpf_map_lookup_elem(map, key)               machine_lookup((map), (key))
#define bpf_map_update_elem(map, key, value, flags) machine_update((map), (key), (value))
#define bpf_map_delete_elem(map, key)               machine_delete((map), (key))
#define bpf_perf_event_output(ctx, map, flags, data, size)                                                   \
    ((void)(ctx), (void)(flags), machine_output((data), (size)))
#define bpf_probe_read_user(to, size, from)       machine_read((to), (uint32_t)(size), (from))
#define bpf_probe_read_user_str(to, size, from)   machine_read_text((to), (uint32_t)(size), (from))
#define bpf_probe_read_kernel(to, size, from)     (memmove((to), (from), (size)) == NULL)
#define bpf_ktime_get_ns()                        machine_now()
#define bpf_get_smp_processor_id()                machine_cpu()
#define bpf_get_current_pid_tgid()                machine_task()
#define bpf_get_current_ancestor_cgroup_id(level) machine_cgroup(level)
#define bpf_get_current_uid_gid()                 machine_user()
#define bpf_get_current_task()                    ((uint64_t)(uintptr_t)machine_task_struct())
#define bpf_get_current_task_btf()                machine_current()
#define bpf_find_vma(task, address, see, out, flags)                                                         \
    ((void)(task), machine_find_mapping((address), (see), (out)))
#define bpf_get_prandom_u32()                                machine_random()
#define bpf_task_pt_regs(task)                               ((void)(task), machine_late_registers())
#define bpf_get_stack(ctx, to, size, flags)                  ((void)(ctx), (void)(to), (long)0)
#define bpf_get_current_comm(to, size)                       ((void)memset((to), 0, (size)))
#define bpf_get_attach_cookie(ctx)                           ((void)(ctx), 0)
#define bpf_get_ns_current_pid_tgid(device, inode, ns, size) (-1)

#endif
