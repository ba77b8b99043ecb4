/*
 * verify.bpf.c - the BPF program on the followed events: compares each sample's stack with the known ones
 * (rule.h), and writes a stack record (perfdata/stack_record.h) if none fits, or another one than before.
 *
 * It uses no helper or kind of loop newer than Linux 5.10, except for precise events and events in the kernel
 * (5.15). It is compiled a second time, with VERIFY_FILES, for Linux 5.17 and later with BTF: then processes
 * share what is known of their files' code, wherever it is mapped.
 *
 * Before Linux 6.13 a function together with those that it calls may use only 512 bytes of stack: large data
 * is in the CPU's buffer.
 */
#include <asm-generic/errno.h>
#include <asm/ptrace.h>
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_helpers.h>
#include <stdbool.h>
#include <stddef.h>

#include "collector/verify/rule.h"
#include "collector/verify/verify_wire.h"

char _license[] SEC("license") = "Dual BSD/GPL"; /* required by the helpers that read stacks */

#ifndef VERIFY_CONSTANT /* user/machine.c defines it, to change the configuration */
#define VERIFY_CONSTANT const
#endif
VERIFY_CONSTANT volatile struct verify_config config = {0};
struct verify_counts counts = {0};

/* The parts of the program; each uses those before it. Their functions that are not static are checked once by
 * the kernel's verifier, instead of at each call. These take only numbers: their data is in the CPU's buffer. */
#include "collector/verify/bpf/data.h"
#include "collector/verify/bpf/memory.h"
#include "collector/verify/bpf/return_probes.h"
#include "collector/verify/bpf/switches.h"
#include "collector/verify/bpf/places.h"
#include "collector/verify/bpf/rows.h"
#include "collector/verify/bpf/words.h"
#include "collector/verify/bpf/write.h"
#include "collector/verify/bpf/copy.h"
#include "collector/verify/bpf/trial.h"
#include "collector/verify/bpf/climb.h"
#include "collector/verify/bpf/chain.h"
#include "collector/verify/bpf/python.h"
#include "collector/verify/bpf/php.h"
#include "collector/verify/bpf/ruby.h"
#include "collector/verify/bpf/v8.h"
#include "collector/verify/bpf/script_code.h"
#include "collector/verify/bpf/script.h"

/* Whether the map `followed` lists whose samples are examined. */
static __always_inline bool is_listed(void)
{
    return config.follow == VERIFY_PIDS || config.follow == VERIFY_TIDS;
}

/* Whether the thread is in the recorded cgroup and of the recorded user. */
static __always_inline bool is_theirs(void)
{
    return (!config.cgroup || bpf_get_current_ancestor_cgroup_id(config.level) == config.cgroup) &&
           (!config.one_user || (__u32)bpf_get_current_uid_gid() == config.user);
}

/* Sets whose sample it is. Returns whether that process or thread is followed. */
static __always_inline bool is_followed(struct moment *m)
{
    if (config.ns_inode) {
        struct bpf_pidns_info ns;
        if (bpf_get_ns_current_pid_tgid(config.ns_device, config.ns_inode, &ns, sizeof ns) != 0)
            return false;
        m->pid = ns.tgid;
        m->told_key.tid = ns.pid;
    } else {
        __u64 both = bpf_get_current_pid_tgid();
        m->pid = both >> 32;
        m->told_key.tid = (__u32)both;
    }
    if (config.follow == VERIFY_ALL)
        return true;
    if (!is_listed())
        return m->pid != config.self && m->sp; /* kernel threads have no user stack */
    return bpf_map_lookup_elem(&followed, config.follow == VERIFY_TIDS ? &m->told_key.tid : &m->pid);
}

/* Copies the registers, for comparison and for a new stack's record. */
static __always_inline void take_registers(struct moment *m, const struct pt_regs *from)
{
    m->registers[0] = from->rax;
    m->registers[1] = from->rbx;
    m->registers[2] = from->rcx;
    m->registers[3] = from->rdx;
    m->registers[4] = from->rsi;
    m->registers[5] = from->rdi;
    m->registers[6] = from->rbp;
    m->registers[7] = from->rsp;
    m->registers[8] = from->rip;
    m->registers[9] = from->r8;
    m->registers[10] = from->r9;
    m->registers[11] = from->r10;
    m->registers[12] = from->r11;
    m->registers[13] = from->r12;
    m->registers[14] = from->r13;
    m->registers[15] = from->r14;
    m->registers[16] = from->r15;
}

/* Starts a sample, with the user's registers. NULL: there is no buffer. */
static __always_inline struct moment *begin_sample(const struct pt_regs *regs)
{
    const __u32 cpu = bpf_get_smp_processor_id();
    struct buffer *buffer = bpf_map_lookup_elem(&buffers, &cpu);
    if (!buffer)
        return NULL;
    struct moment *m = &buffer->moment;
    __builtin_memset(m, 0, offsetof(struct moment, registers));
    m->ip = regs->rip;
    m->sp = m->late_sp = regs->rsp;
    m->bp = regs->rbp;
    return m;
}

static __always_inline int verify(void *ctx, const struct pt_regs *regs, struct moment *m)
{
    __u32 cpu = bpf_get_smp_processor_id();
    if (!is_theirs())
        return 0;
    if (!is_followed(m))
        return 1;
    const __u32 *space = bpf_map_lookup_elem(&spaces, &m->pid);
    m->space = space ? *space : 0;
    take_registers(m, regs);
    m->file = verify_file(cpu, m->pid, m->ip);
    const struct rule_thread *thread = bpf_map_lookup_elem(&threads, &m->told_key.tid);
    if (thread) {
        m->birth = thread->birth;
        /* A separate stack, such as a coroutine's, is not counted from the thread's base. */
        if (thread->base - m->sp < VERIFY_OWN_STACK_MAX)
            m->base = thread->base;
    }
    struct script_buffer *script = read_script(m, cpu);
    if (script && !tell_script(ctx, m, cpu, script))
        return 0;
    const __u64 start = main_base(m);
    if (start - m->sp < VERIFY_OWN_STACK_MAX && (!m->base || start < m->base))
        m->base = start;
    m->depth = m->base - m->sp;
    m->told_key.page = m->ip >> config.page_bits;
    m->told_key.sp = m->sp;
    struct rule_told *before = announced(m);
    m->count = before ? before->count : 0;
    m->apart = !m->base && config.compared == STACK_RECORD_ALL;
    if (m->apart) { /* words count from SP */
        m->base = m->sp;
        m->depth = 0;
    }
    bool returned;
    if (!find_known(m, cpu, &returned))
        return returned || m->late_sp > m->sp ? tell_returned(ctx, m) : tell_read(ctx, m, STACK_RECORD_NEW);
    const struct found found = buffer_of(m)->trial.found;
    const struct lying *l = &buffer_of(m)->lying;
    /* No places are needed in the process in which the stack was read, while its code is still mapped
     * there. */
    const __u32 version = found.version && (found.version != l->version || l->guessed) ? l->version : 0;
    if (!before || (before->number != found.number && before->number != found.alias) ||
        before->version != version || (version && l->guessed))
        return write_record_at(ctx, m, STACK_RECORD_SAME, found.number, 0, version);
    if (config.compared == STACK_RECORD_ALL)
        return 1;
    before->count = ++m->count;
    return rule_again(m->count + 1) ? tell_read(ctx, m, STACK_RECORD_AGAIN) : 1;
}

/* For events that happen in user mode. */
SEC("perf_event")
int verify_user(struct bpf_perf_event_data *ctx)
{
    struct moment *m = begin_sample(&ctx->regs);
    return m ? verify(ctx, &ctx->regs, m) : 1;
}

/* Whether the instruction is a near return, after which the function's own return address is no longer on the
 * stack. */
static __always_inline bool is_return(__u64 ip)
{
    __u8 code[2];
    if (bpf_probe_read_user(code, sizeof code, (void *)ip) != 0)
        return true;
    return code[0] == 0xc3 || code[0] == 0xc2 || ((code[0] | 1) == 0xf3 && code[1] == 0xc3);
}

/* For precise events (PEBS), if each record causes an interrupt: the registers are the record's, those after
 * its instruction. The stack is read some instructions later, with the registers at that time
 * (bpf_task_pt_regs(), Linux 5.15). */
SEC("perf_event")
int verify_precise(struct bpf_perf_event_data *ctx)
{
    const struct pt_regs *late = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
    struct moment *m = begin_sample(&ctx->regs);
    if (!m)
        return 1;
    /* As if SP were above everything: none of the words is still in use. */
    m->late_sp = is_return(m->ip) ? m->sp + RULE_STACK_MAX : late->rsp;
    return verify(ctx, &ctx->regs, m);
}

/* For events in the kernel: the registers with which the thread entered it (Linux 5.15). */
static __always_inline int verify_entered(void *ctx)
{
    const struct pt_regs *regs = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
    struct moment *m = begin_sample(regs);
    return m ? verify(ctx, regs, m) : 1;
}

SEC("perf_event")
int verify_kernel(struct bpf_perf_event_data *ctx)
{
    return verify_entered(ctx);
}

SEC("tracepoint")
int verify_tracepoint(void *ctx)
{
    return verify_entered(ctx);
}

#include "collector/verify/bpf/allocations.h"

/* At a uprobe, the program's registers are those with which it entered the kernel (kernel/events/uprobes.c,
 * handle_swbp()). */
SEC("kprobe")
int verify_probe(struct pt_regs *ctx)
{
    const __u64 function = config.allocation_bytes ? bpf_get_attach_cookie(ctx) : VERIFY_NO_ALLOCATOR;
    return function == VERIFY_NO_ALLOCATOR || is_drawn(ctx, function) ? verify_entered(ctx) : 0;
}

#include "collector/verify/bpf/waits.h"

/* The tracepoint sched:sched_switch, in the thread that loses its CPU. Other recorders still get their
 * samples of it. */
SEC("tracepoint")
int verify_switch_task(const struct task_switch *task)
{
    const __u32 next = (__u32)task->next_tid;
    const struct pt_regs *regs = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
    struct moment *m = begin_sample(regs);
    if (!m)
        return 1;
    const __u64 now = begin_wait((void *)task, regs, m, task->prev_state, bpf_ktime_get_ns());
    if (next)
        end_wait((void *)task, &buffer_of(m)->told.wait, next, now);
    return 1;
}

SEC("tracepoint")
int verify_wakeup(const struct task_wakeup *task)
{
    const __u32 tid = (__u32)task->tid;
    struct rule_wait *w = bpf_map_lookup_elem(&waits, &tid);
    if (w && w->since && !w->woken)
        w->woken = bpf_ktime_get_ns();
    return 1;
}

#include "collector/verify/bpf/wakers.h"

/* The tracepoint sched:sched_waking, in the waking thread or interrupt. (sched:sched_wakeup can be in an
 * interrupt of the woken thread's CPU.) */
SEC("tracepoint")
int verify_waking(const struct task_wakeup *task)
{
    tell_waker((void *)task, (__u32)task->tid);
    return 1;
}

/* The tracepoint task:task_newtask, in the thread that forks (kernel/fork.c). verify.c checks the layout. */
struct new_task {
    __u64 common;
    __s32 tid;
    char comm[16];
    __u64 clone_flags;
};
_Static_assert(offsetof(struct new_task, tid) == VERIFY_TASK_TID_AT &&
                   offsetof(struct new_task, clone_flags) == VERIFY_TASK_FLAGS_AT,
               "as verify_wire.h says");

#define CLONE_THREAD 0x10000

/* Follows what followed processes and threads start, from the first sample on, with what is known of the
 * parent: the recorder learns of it later. */
SEC("tracepoint")
int verify_task(const struct new_task *task)
{
    __u64 both = bpf_get_current_pid_tgid();
    __u32 pid = both >> 32, tid = (__u32)both, child = (__u32)task->tid, yes = 1;
    const bool is_thread = task->clone_flags & CLONE_THREAD;
    const __u32 *found = bpf_map_lookup_elem(&spaces, &pid), space = found ? *found : 0;
    const struct rule_thread *parent = bpf_map_lookup_elem(&threads, &tid);
    struct rule_thread born = {.base = parent && !is_thread ? parent->base : 0, .birth = bpf_ktime_get_ns()};
    if (is_listed() && !bpf_map_lookup_elem(&followed, config.follow == VERIFY_TIDS ? &tid : &pid))
        return 0;
    if (parent || is_listed() || config.follow == VERIFY_EVERYONE)
        bpf_map_update_elem(&threads, &child, &born, BPF_ANY);
    if (space && !is_thread)
        bpf_map_update_elem(&spaces, &child, &space, BPF_ANY);
    const struct rule_script *script = is_thread ? NULL : bpf_map_lookup_elem(&scripts, &pid);
    if (script)
        bpf_map_update_elem(&scripts, &child, script, BPF_ANY);
    if (config.follow == VERIFY_TIDS || (config.follow == VERIFY_PIDS && !is_thread))
        bpf_map_update_elem(&followed, &child, &yes, BPF_ANY);
    return 0;
}
