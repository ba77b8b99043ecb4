/*
 * verify.bpf.c - the BPF program on the main event: compares each sample's stack with those that are known
 * (rule.h), and writes a stack record (perfdata/stack_record.h) where none fits, or another than before.
 *
 * For Linux 5.10 and later: no helper and no kind of loop that is younger. It is compiled a second time, with VERIFY_FILES, for
 * Linux 5.17 and later with BTF: processes then share what is known of their files' code, wherever it is mapped.
 */
#include <asm-generic/errno-base.h>
#include <asm/ptrace.h>
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_helpers.h>
#include <stdbool.h>
#include <stddef.h>

#include "collector/verify/rule.h"
#include "collector/verify/verify_wire.h"

char _license[] SEC("license") = "Dual BSD/GPL"; /* the helpers that read stacks ask for it */

#ifndef VERIFY_CONSTANT /* user/machine.c changes it */
#define VERIFY_CONSTANT const
#endif
VERIFY_CONSTANT volatile struct verify_config config = {0};
struct verify_counts counts = {0};

/* By CPU; those that wake the recorder follow. Their number is set when it is loaded. */
struct {
    __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
    __uint(key_size, 4);
    __uint(value_size, 4);
} outputs SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, VERIFY_FOLLOWED);
    __type(key, __u32);
    __type(value, __u32);
} followed SEC(".maps");

/* By process: where its known stacks are. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, VERIFY_PLACED);
    __type(key, __u32);
    __type(value, __u32);
} spaces SEC(".maps");

/* Of everyone, the machine may have more, and the ends of some are lost: the ones not used for longest go. */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, VERIFY_THREADS);
    __type(key, __u32);
    __type(value, struct rule_thread);
} threads SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, VERIFY_KEYS);
    __type(key, struct rule_key);
    __type(value, struct rule_known);
} known SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, VERIFY_BLOCKS);
    __type(key, __u32);
    __type(value, struct rule_words);
} words SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, VERIFY_SWITCHES);
    __type(key, __u32);
    __type(value, struct rule_switch);
} switches SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, VERIFY_TOLD);
    __type(key, struct rule_told_key);
    __type(value, struct rule_told);
} told SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, VERIFY_SHARES);
    __type(key, __u32);
    __type(value, struct rule_share);
} shares SEC(".maps");

#ifdef VERIFY_FILES
/* By process: where files lie, as far as it was asked. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, VERIFY_PLACED);
    __type(key, __u32);
    __type(value, struct rule_process);
} processes SEC(".maps");

/* The numbers of files, from the recorder. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, VERIFY_FILES_MAX);
    __type(key, struct stack_file);
    __type(value, __u32);
} files SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, VERIFY_ROWS);
    __type(key, struct code_rows_key);
    __type(value, struct code_rows);
} rows SEC(".maps");
#endif

/* What the kernel's list of mappings tells of an address. */
struct seen {
    struct stack_file file; /* inode 0: none */
    __u64 start, size;      /* of the mapping; 0: there is none */
    __u64 at;               /* where the file's offset 0 would lie */
};

/* Where code lies that a sample's stack is compared with. */
struct lying {
    struct stack_code code; /* of the PC */
    struct seen seen;
    __u64 start_stack;
    __u32 pid;
    bool looked; /* the list of mappings was asked, which can be done once in an interrupt */
    bool guessed;
    __u64 caller_at;      /* as code.at, of the caller's code that was found last; 0: none */
    __u32 version, added; /* of the process that `files` is of */
    __u32 count, used;    /* of `files`; bits of those that the last known stack has */
    struct {
        __u64 at;
        __u32 file, zero;
    } files[STACK_PLACED_MAX];
    struct rule_process process; /* to be put into the map */
};

/* A known stack, read at once, as the entry may be replaced meanwhile. */
struct found {
    __u32 number, alias, version;
};

/* What known stacks are compared with: a sample's stack, or that of its caller. */
struct trial {
    struct rule_key key; /* where they are */
    __u64 ip, sp, bp, base, depth, late_sp;
    __u64 at;     /* where offset 0 of the file with its code lies */
    __u32 file;   /* the number of that; 0: it is not known */
    __u32 around; /* index of the first block of the known stack that fits a caller's; 0: none does */
    __u32 extent; /* bytes that the key's stacks were compared with */
    __u32 read;   /* bytes, for all keys of this sample */
    __u32 split;  /* as in struct moment */
    bool asked;   /* whether it goes on on another stack was asked: no */
    bool callers; /* its registers other than SP and BP, and what was below SP, are not known */
    struct found found;
};

/* What is told of a known stack that was read elsewhere. */
struct placed_record {
    struct stack_record head;
    struct stack_part part;
    struct stack_placed placed;
    __u64 at[STACK_PLACED_MAX];
};

/* Behind the bytes of a stack that is new up to a known one. */
#define WORDS_MAX 512u /* at least RULE_WORDS * RULE_BLOCKS_MAX */
struct words_part {
    struct stack_part part;
    struct stack_words known;
    struct stack_word_at words[WORDS_MAX];
};

struct buffer {
    struct stack_record_read record;
    __u8 stack[RULE_BUFFER + 8];
    __u8 below[STACK_RECORD_BELOW + 8]; /* the red zone, to be compared */
    __u8 outer[STACK_RECORD_OUTER + 8]; /* the outermost bytes, to be compared */
    struct {
        __u64 sp, pc; /* where the stack goes on behind the system stack */
        __u64 size;   /* bytes of it that a record has room for */
    } other;
    struct lying lying;
    struct placed_record placed;
    struct trial trial;
    struct words_part joint;
};

/* By CPU: values of a per-CPU map are 32 KiB at most. As many as there are CPUs; set when it is loaded. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct buffer);
} buffers SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u32);
} numbers SEC(".maps");

/* By CPU: bytes of stacks that may still be written before the recorder empties the ring. The rest of it is for
 * samples, and for the records about tasks, without which many samples are worth nothing. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __s64);
} rooms SEC(".maps");

/* One sample. */
struct moment {
    void *ctx;
    const struct pt_regs *regs; /* the user's */
    struct buffer *buffer;
    struct rule_told_key told_key;
    __u64 base, ip, sp, bp, depth;
    __u64 late_sp; /* precise: where SP was when the stack could be read, some instructions later; else sp */
    __u64 birth;   /* of the thread */
    __u32 count;   /* as in rule_told */
    bool apart;    /* its stack has no base that is known */
    __u32 pid;
    bool deep; /* it is larger than a record, which has an outer_part */
    __u32
        joint; /* bytes of it, from where on it is a known one, of which buffer->joint has the words; 0: none is known */
    __u32 space;
    __u32 inner; /* bytes of the stack in the record's first part */
    __u32
        split; /* bytes of the system stack, after which it goes on on another one; 0: it does not, or that was not asked */
    __u64 now;            /* CLOCK_MONOTONIC, ns: only if its stack was not known */
    __u32 file;           /* number of the PC's; 0: it has none, or that is not known */
    __u64 compared_depth; /* of what was found */
};

/* The same number, below RULE_BUFFER in a way that the kernel's verifier can follow. */
static __always_inline __u64 bounded(__u64 number)
{
    __asm__ volatile("" : "+r"(number));
    return number & (RULE_BUFFER - 1);
}

/* Likewise, within the red zone. */
static __always_inline __u64 bounded_below(__u64 number)
{
    __asm__ volatile("" : "+r"(number));
    return number & (STACK_RECORD_BELOW - 1);
}

/* Likewise, within the outermost bytes. */
static __always_inline __u64 bounded_outer(__u64 number)
{
    __asm__ volatile("" : "+r"(number));
    return number & (STACK_RECORD_OUTER - 1);
}

#define PAGE 4096u
/* For what is not there. */
static __u8 hole[PAGE] SEC(".data") = {[0 ... PAGE - 1] = STACK_RECORD_HOLE};

/* Reads `size` bytes of the stack into the CPU's buffer by pages, where reading it at once, which is all or nothing,
 * failed: a page is not there while the program never touched it, such as one within a large array. It is filled in
 * with STACK_RECORD_HOLE, so that no walk of the stack goes on from what was not read. Returns the bytes up to the end of the last
 * page that is there. Not inlined, so that the kernel verifies it once. */
__noinline int verify_read_pages(__u32 cpu, __u64 sp, __u32 size)
{
    struct buffer *buffer = bpf_map_lookup_elem(&buffers, &cpu);
    __u64 first = PAGE - (sp & (PAGE - 1)), end = 0;
    if (!buffer)
        return 0;
    if (bpf_probe_read_user(buffer->stack, first, (void *)sp) == 0)
        end = first;
    else if (bpf_probe_read_kernel(buffer->stack, first, hole) != 0)
        return 0;
    for (__u32 i = 0; i < RULE_STACK_MAX / PAGE; i++) {
        __u64 at = bounded(first + i * PAGE);
        if (at >= size || at > RULE_STACK_MAX)
            break;
        if (bpf_probe_read_user(buffer->stack + at, PAGE, (void *)(sp + at)) == 0)
            end = at + PAGE;
        else if (bpf_probe_read_kernel(buffer->stack + at, PAGE, hole) != 0)
            break;
    }
    return end < size ? end : size;
}

/* At any address, as a program can have any SP. (For BPF, a copy would be made byte by byte.) */
static __always_inline __u64 word_at(const __u8 *at)
{
#ifdef __bpf__
    return *(const __u64 *)at;
#else
    __u64 word;
    __builtin_memcpy(&word, at, sizeof word);
    return word;
#endif
}

#define HOOKS_MOST 64 /* of one thread at a time: MAX_URETPROBE_DEPTH */

static __always_inline __u64 kernel_word(__u64 address)
{
    __u64 word = 0;
    return bpf_probe_read_kernel(&word, sizeof word, (const void *)address) == 0 ? word : 0;
}

/* Puts one back. Not inlined, so that the kernel verifies it once, and not for each of a loop. */
__noinline int verify_put_back(__u32 cpu, __u64 sp, __u32 size, __u64 instance, __u64 trampoline)
{
    struct buffer *buffer = bpf_map_lookup_elem(&buffers, &cpu);
    __u64 at = kernel_word(instance + config.hooks.stack) - sp;
    /* of one that returned by longjmp, the stack has other words */
    if (!buffer || at > size - 8 || word_at(buffer->stack + bounded(at)) != trampoline)
        return 0;
    __u64 original = kernel_word(instance + config.hooks.original);
    __builtin_memcpy(buffer->stack + bounded(at), &original, sizeof original);
    return 1;
}

/* Puts back, in the CPU's buffer with `size` bytes from sp on, the return addresses that the kernel replaced by that of its
 * trampoline, for probes of returns. Not inlined, likewise. */
__noinline int verify_unhook(__u32 cpu, __u64 sp, __u32 size)
{
    __u64 task = bpf_get_current_task();
    if (size < 8 || !config.hooks.next)
        return 0;
    __u64 probes = kernel_word(task + config.hooks.task_uprobes);
    __u64 instance = probes ? kernel_word(probes + config.hooks.instances) : 0;
    if (!instance)
        return 0;
    __u64 area = kernel_word(kernel_word(task + config.hooks.task_mm) + config.hooks.mm_area);
    __u64 trampoline = area ? kernel_word(area + config.hooks.area_address) : 0;
    for (__u32 i = 0; i < HOOKS_MOST && instance && trampoline; i++) {
        verify_put_back(cpu, sp, size, instance, trampoline);
        instance = kernel_word(instance + config.hooks.next);
    }
    return 0;
}

static __always_inline bool user_word(__u64 address, __u64 *word)
{
    return bpf_probe_read_user(word, sizeof *word, (const void *)address) == 0;
}

/* What runs on this thread, and what its system stack is. */
static __always_inline bool find_running(const struct rule_switch *s, __u64 *running, __u64 *machine,
                                         __u64 *system)
{
    return config.hooks.task_fs &&
           user_word(kernel_word(bpf_get_current_task() + config.hooks.task_fs) + (__s64)s->thread,
                     running) &&
           user_word(*running + s->machine, machine) && user_word(*machine + s->system, system);
}

/* Bytes of the stack that it goes on to, so that both fit into the buffer: the kernel's verifier knows of a size only the power of two
 * that it is below, and so of the place behind the system stack. */
#define SWITCH_NEAR       4096u
#define SWITCH_BYTES_NEAR 57000u
#define SWITCH_BYTES      28000u

/* Where the stack goes on, of a thread that is on its runtime's system stack: sets `other` in the CPU's buffer. Returns the bytes of the
 * system stack; 0: it is on no such stack. Not inlined, likewise. */
__noinline int verify_switch(__u32 cpu, __u64 sp, __u32 space)
{
    struct buffer *buffer = bpf_map_lookup_elem(&buffers, &cpu);
    const struct rule_switch *s = bpf_map_lookup_elem(&switches, &space);
    __u64 running, machine, system, current, top, high, last;
    if (!buffer || !s || !find_running(s, &running, &machine, &system) || running != system ||
        !user_word(machine + s->current, &current) || !current || !user_word(system + s->saved, &top) ||
        !user_word(current + RULE_SWITCH_HIGH, &high) ||
        bpf_probe_read_user(&buffer->other, 2 * sizeof(__u64), (const void *)(current + s->saved)) != 0)
        return 0;
    /* Else the goroutine is one that the scheduler is about to run. */
    if (buffer->other.pc - s->call >= s->call_size &&
        (!user_word(top - sizeof last, &last) || last - s->grow >= s->grow_size))
        return 0;
    const __u64 at = top - sp, size = high - buffer->other.sp;
    const __u64 most = at + STACK_RECORD_BELOW < SWITCH_NEAR ? SWITCH_BYTES_NEAR : SWITCH_BYTES;
    buffer->other.size = size < most ? size & ~7ull : most;
    return at < RULE_SWITCH_AT && at % 8 == 0 ? at : 0;
}

/* Bytes from SP on up to where the running goroutine's stack begins; 0: that is not known, as of a system stack, whose own entry is a
 * guess. Not inlined, likewise. */
__noinline int verify_goroutine(__u64 sp, __u32 space)
{
    const struct rule_switch *s = bpf_map_lookup_elem(&switches, &space);
    __u64 running, machine, system, high;
    if (!s || !find_running(s, &running, &machine, &system) || running == system ||
        !user_word(running + RULE_SWITCH_HIGH, &high) || high - sp >= VERIFY_OWN_STACK_MAX)
        return 0;
    return high - sp;
}

/* Reads the bytes of the system stack. */
static __always_inline bool read_first(struct buffer *buffer, __u32 cpu, __u64 from, __u32 size)
{
    return bpf_probe_read_user(buffer->stack, bounded(size) & (RULE_SWITCH_AT - 1), (void *)from) == 0 ||
           verify_read_pages(cpu, from, size) == (int)size;
}

/* Reads `size` bytes of the stack that it goes on to, behind the system stack's and the saved PC, to the CPU's buffer from `at` on. */
static __always_inline bool read_other(struct buffer *buffer, __u32 at, __u64 size)
{
    const void *from = (const void *)buffer->other.sp;
    const __u64 pc = buffer->other.pc;
    if (size > (at < SWITCH_NEAR ? SWITCH_BYTES_NEAR : SWITCH_BYTES))
        return false;
    if (at < SWITCH_NEAR) {
        __u8 *to = buffer->stack + (bounded(at) & (SWITCH_NEAR - 1));
        __builtin_memcpy(to, &pc, sizeof pc);
        return bpf_probe_read_user(to + sizeof pc, bounded(size), from) == 0;
    }
    __u8 *to = buffer->stack + (bounded(at) & (RULE_SWITCH_AT - 1));
    __builtin_memcpy(to, &pc, sizeof pc);
    return bpf_probe_read_user(to + sizeof pc, bounded(size) & (RULE_SWITCH_AT - 1), from) == 0;
}

#ifdef VERIFY_FILES
struct task_struct;
struct vm_area_struct;
/* Reads a member of one of the kernel's structs, at the place that kernel_members.c found: the kernel's verifier checks each read against
 * its types. Pointers must be read whole; of a time's `tv_nsec` the lower 4 bytes are enough. */
#define MEMBER(type, from, at) (*(type const *)((const char *)(from) + config.members.at))
/* Since Linux 6.13, the bit above these says that somebody asked for the time (I_CTIME_QUERIED, include/linux/fs.h). */
#define NANOSECONDS 0x7fffffffu

/* Called with the mapping of an address. */
static long see_mapping(struct task_struct *task, struct vm_area_struct *vma, struct seen *out)
{
    const void *file = MEMBER(void *, vma, vma_file);
    const __u64 start = MEMBER(__u64, vma, vma_start), page = MEMBER(__u64, vma, vma_page);
    (void)task;
    out->start = start;
    out->size = MEMBER(__u64, vma, vma_end) - start;
    out->at = start - (page << 12);
    if (!file)
        return 0;
    const void *inode = MEMBER(void *, file, file_inode);
    out->file.inode = MEMBER(__u64, inode, inode_number);
    out->file.changed = MEMBER(__u64, inode, inode_changed_s) * 1000000000 +
                        (MEMBER(__u32, inode, inode_changed_ns) & NANOSECONDS);
    out->file.page = page;
    out->file.device = MEMBER(__u32, MEMBER(void *, inode, inode_super), super_device);
    out->file.generation = MEMBER(__u32, inode, inode_generation);
    return 0;
}

/* Asks the kernel's list of mappings for an address: sets `seen`. The number of its file; 0: there is none, or it cannot be told now. */
static __always_inline __u32 look(struct lying *l, __u64 address)
{
    struct seen seen = {0};
    l->looked = true;
    if (bpf_find_vma((struct task_struct *)bpf_get_current_task_btf(), address, see_mapping, &seen, 0) != 0)
        seen = (struct seen){0};
    l->seen = seen;
    const __u32 *number = seen.file.inode ? bpf_map_lookup_elem(&files, &seen.file) : NULL;
    return number ? *number : 0;
}

/* Notes that this file lies where the list of mappings said. */
static __always_inline void add_place(struct lying *l, const struct rule_process *p, __u32 file)
{
    struct rule_process *to = &l->process;
    if (bpf_probe_read_kernel(to, sizeof *to, p) != 0)
        return;
    to->places[to->added % RULE_PLACES] =
        (struct rule_place){.start = l->seen.start, .size = l->seen.size, .at = l->seen.at, .file = file};
    to->added++;
    bpf_map_update_elem(&processes, &l->pid, to, BPF_ANY);
}

/* The process's places, begun anew if it has other code than when they were noted. */
static __always_inline const struct rule_process *find_process(struct lying *l)
{
    const void *task = bpf_get_current_task_btf();
    const void *mm = MEMBER(void *, task, task_mm);
    const struct rule_process *p = bpf_map_lookup_elem(&processes, &l->pid);
    if (!mm)
        return NULL;
    const __u64 code = MEMBER(__u64, mm, mm_code), exec = MEMBER(__u64, task, task_exec),
                born = MEMBER(__u64, MEMBER(void *, task, task_leader), task_born);
    l->start_stack = MEMBER(__u64, mm, mm_stack);
    if (p && p->code == code && p->exec == exec && p->born == born)
        return p;
    l->process.code = code;
    l->process.exec = exec;
    l->process.born = born;
    l->process.version = bpf_get_prandom_u32() | 1;
    l->process.added = 0;
    bpf_map_update_elem(&processes, &l->pid, &l->process, BPF_ANY);
    return bpf_map_lookup_elem(&processes, &l->pid);
}

/* The place with an address; NULL: none is known. */
static __always_inline const struct rule_place *find_place(const struct rule_process *p, __u64 address)
{
    for (__u32 i = 0; i < RULE_PLACES && i < p->added; i++)
        if (address - p->places[i].start < p->places[i].size)
            return &p->places[i];
    return NULL;
}

/* The number of the file that the PC is in; 0: it is in none, or that has no number yet. Sets what else is known of it. Not inlined,
 * likewise. */
__noinline __u32 verify_file(__u32 cpu, __u32 pid, __u64 ip)
{
    struct buffer *buffer = bpf_map_lookup_elem(&buffers, &cpu);
    if (!buffer)
        return 0;
    struct lying *l = &buffer->lying;
    l->pid = pid;
    l->looked = false;
    l->start_stack = l->caller_at = 0;
    l->code = (struct stack_code){0};
    const struct rule_process *p = find_process(l);
    if (!p)
        return 0;
    if (l->guessed || l->version != p->version || l->added != p->added)
        l->count = 0;
    l->guessed = false;
    l->version = l->code.version = p->version;
    l->added = p->added;
    const struct rule_place *place = find_place(p, ip);
    if (place) {
        l->code.at = place->at;
        return place->file;
    }
    const __u32 number = look(l, ip);
    l->code.file = l->seen.file;
    l->code.at = l->seen.at;
    if (number || (l->seen.size && !l->seen.file.inode))
        add_place(l, p, number);
    return number;
}

/* The number of the file that a return address is in, likewise: sets where it lies. */
__noinline __u32 verify_caller(__u32 cpu, __u64 pc)
{
    struct buffer *buffer = bpf_map_lookup_elem(&buffers, &cpu);
    if (!buffer)
        return 0;
    struct lying *l = &buffer->lying;
    const struct rule_process *p = bpf_map_lookup_elem(&processes, &l->pid);
    l->caller_at = 0;
    if (!p)
        return 0;
    const struct rule_place *place = find_place(p, pc);
    if (place) {
        l->caller_at = place->at;
        return place->file;
    }
    if (l->looked)
        return 0;
    const __u32 number = look(l, pc);
    l->caller_at = l->seen.at;
    if (number)
        add_place(l, p, number);
    return number;
}

/* Where a file's offset 0 lies in the process that runs, if it lies where `guess` has it (0: nowhere), as far as can be told by this word,
 * which would be an address in it. 0: elsewhere. Not inlined, likewise. */
__noinline __u64 verify_at(__u32 cpu, __u32 file, __u64 guess, __u64 word)
{
    struct buffer *buffer = bpf_map_lookup_elem(&buffers, &cpu);
    if (!buffer)
        return 0;
    struct lying *l = &buffer->lying;
    for (__u32 i = 0; i < STACK_PLACED_MAX && i < l->count; i++)
        if (l->files[i].file == file) {
            l->used |= 1u << i;
            return l->files[i].at;
        }
    const struct rule_process *p = bpf_map_lookup_elem(&processes, &l->pid);
    __u64 at = 0;
    for (__u32 i = 0; p && i < RULE_PLACES && i < p->added; i++)
        if (p->places[i].file == file)
            at = p->places[i].at;
    if (p && !at && guess && !l->looked) {
        const __u32 number = look(l, word);
        if ((number && number != file) || !l->seen.file.inode || l->seen.at != guess)
            return 0;
        add_place(l, p, file);
        at = guess;
    }
    if (!at) {
        at = guess;
        l->guessed = true;
    }
    const __u32 i = l->count;
    if (!at || i >= STACK_PLACED_MAX)
        return 0;
    l->files[i].at = at;
    l->files[i].file = file;
    l->used |= 1u << i;
    l->count = i + 1;
    return at;
}

/* Where code at an offset in a file has its return address: a rule (code_rows.h). Not inlined, likewise. */
__noinline __u32 verify_row(__u32 file, __u64 offset)
{
    const struct code_rows_key key = {file, offset >> CODE_ROWS_BITS};
    const struct code_rows *r = bpf_map_lookup_elem(&rows, &key);
    const __u32 at = offset & ((1u << CODE_ROWS_BITS) - 1);
    if (!r)
        return CODE_ROW_NONE;
    __u32 low = 0, high = r->count; /* the row is among these */
    for (__u32 i = 0; i < CODE_ROWS_STEPS && low + 1 < high; i++) {
        const __u32 middle = (low + high) / 2;
        if (r->start[middle & (CODE_ROWS_MAX - 1)] <= at)
            low = middle;
        else
            high = middle;
    }
    low &= CODE_ROWS_MAX - 1;
    return r->count && r->start[low] <= at ? r->rule[low] : CODE_ROW_NONE;
}

/* Before another known stack is compared: what was guessed for the last one is no longer so. */
static __always_inline void begin_stack(struct lying *l)
{
    l->used = 0;
    if (l->guessed)
        l->count = 0;
    l->guessed = false;
}

/* Where the base of a main thread's stack is. */
static __always_inline __u64 main_base(const struct moment *m, __u32 pid)
{
    return m->told_key.tid == pid ? m->buffer->lying.start_stack : 0;
}
#else
static __always_inline __u32 verify_file(__u32 cpu, __u32 pid, __u64 ip)
{
    (void)cpu, (void)pid, (void)ip;
    return 0;
}

static __always_inline __u32 verify_caller(__u32 cpu, __u64 pc)
{
    (void)cpu, (void)pc;
    return 0;
}

static __always_inline __u64 verify_at(__u32 cpu, __u32 file, __u64 guess, __u64 word)
{
    (void)cpu, (void)file, (void)guess, (void)word;
    return 0;
}

static __always_inline __u32 verify_row(__u32 file, __u64 offset)
{
    (void)file, (void)offset;
    return CODE_ROW_NONE;
}

static __always_inline void begin_stack(struct lying *l)
{
    (void)l;
}

static __always_inline __u64 main_base(const struct moment *m, __u32 pid)
{
    (void)m, (void)pid;
    return 0;
}
#endif

#define FILE_PAGE 4096u

/* Where a file's offset 0 would lie by a word that is one of `size` offsets from `low` on in it: 0: that cannot be told. */
static __always_inline __u64 guess_at(__u64 word, __u64 low, __u32 size)
{
    const __u64 first = word - low;
    return size <= FILE_PAGE && (first & (FILE_PAGE - 1)) < size ? first & ~(__u64)(FILE_PAGE - 1) : 0;
}

/* Whether the words of one block are in place in the CPU's buffer: 0, or 1 + index of the block with further words; negative if they are
 * to be there several times. reach: the buffer's last byte that a word may begin at. Not inlined, so that the kernel verifies it once. */
__noinline int verify_block(__u32 index, __u32 cpu, __u64 base, __u64 bp, __u64 depth_and_reach)
{
    const struct buffer *buffer = bpf_map_lookup_elem(&buffers, &cpu);
    const struct rule_words *w = bpf_map_lookup_elem(&words, &index);
    __u32 depth = depth_and_reach, reach = depth_and_reach >> 32, file = 0;
    __u64 file_at = 0;
    if (!buffer || !w)
        return 0;
    __u32 reg = w->reg;
    if (reg == RULE_BP && base - bp != w->value)
        return 0;
    if (reg && reg != RULE_BP &&
        (reg > STACK_RECORD_REGISTER_COUNT || base - buffer->record.registers[reg - 1] != w->value))
        return 0;
    for (__u32 i = 0; i < RULE_WORDS; i++) {
        if (i >= w->count)
            break;
        __u32 at = w->height[i], offset = depth - (at & ~7u), under = 0 - offset;
        __u64 word;
        if (under && under <= STACK_RECORD_BELOW)
            word = word_at(buffer->below + bounded_below(STACK_RECORD_BELOW - under));
        else if (offset > reach && (at & ~7u) <= STACK_RECORD_OUTER)
            word = word_at(buffer->outer + bounded_outer(STACK_RECORD_OUTER - (at & ~7u)));
        else if (offset > reach)
            return 0;
        else
            word = word_at(buffer->stack + bounded(offset));
        __u64 low = w->low[i];
        if (at & RULE_RELATIVE)
            word = base - word;
        if (at & RULE_IN_FILE) {
            const __u32 number = low >> RULE_FILE_BITS;
            low &= (1ull << RULE_FILE_BITS) - 1;
            if (number != file)
                file_at = verify_at(cpu, number, guess_at(word, low, w->size[i]), word);
            if (!file_at)
                return 0;
            file = number;
            word -= file_at;
        }
        if (word - low >= w->size[i])
            return 0;
    }
    return w->times > 1 ? -(int)(1 + w->next) : (int)(1 + w->next);
}

/* 1 + the number of an address's place in its page, one of RULE_ROWS or RULE_RUNS; 0: none is known. Not inlined, likewise. */
__noinline __u32 verify_number(__u64 ip, __u64 depth, __u32 space)
{
    const struct rule_key key = {.page = ip >> config.page_bits, .depth = depth, .space = space};
    const struct rule_known *k = bpf_map_lookup_elem(&known, &key);
    __u32 place = ip & ((1u << config.page_bits) - 1);
    for (__u32 i = 0; k && i < RULE_STACKS; i++)
        if (i < k->count && place >= k->stacks[i].first && place <= k->stacks[i].last)
            return k->stacks[i].number + 1;
    return 0;
}

/* How many times the words of one block are there, up to what it says. */
__noinline __u32 verify_times(__u32 index, __u32 cpu, __u64 base, __u64 bp, __u64 depth_and_reach)
{
    const struct rule_words *w = bpf_map_lookup_elem(&words, &index);
    __u32 depth = depth_and_reach, time;
    if (!w)
        return 0;
    for (time = 0; time < RULE_TIMES_MAX && time < w->times; time++) {
        if (!verify_block(index, cpu, base, bp, depth_and_reach >> 32 << 32 | depth))
            break;
        base += w->period;
        depth += w->period;
    }
    return time;
}

/* Whether the words of a known stack, from this block on, are in place: 1 or 0. */
__noinline int verify_fits(__u32 index, __u32 cpu, __u64 base, __u64 bp, __u64 depth_and_reach)
{
    struct buffer *buffer = bpf_map_lookup_elem(&buffers, &cpu);
    if (!buffer)
        return 0;
    begin_stack(&buffer->lying);
    for (__u32 hop = 0; hop < RULE_BLOCKS_MAX; hop++) {
        int next = verify_block(index, cpu, base, bp, depth_and_reach);
        if (next < 0) {
            const struct rule_words *w = bpf_map_lookup_elem(&words, &index);
            if (!w || verify_times(index, cpu, base, bp, depth_and_reach) != w->times)
                return 0;
            next = -next;
        }
        if (next <= 1)
            return next;
        index = next - 1;
    }
    return 0;
}

/* The event to write a record to. Only new stacks are worth waking the recorder. */
static __always_inline __u64 output_for(const struct moment *m, __u8 kind)
{
    if (kind != STACK_RECORD_NEW || m->now - counts.woken < VERIFY_WAKE_NS)
        return BPF_F_CURRENT_CPU;
    counts.woken = m->now;
    return config.cpus + bpf_get_smp_processor_id();
}

/* Of a stack that is larger than a record: bytes from SP on, and behind these a part with the outermost ones. */
struct outer_part {
    struct stack_part part;
    __s64 offset;
    __u8 bytes[STACK_RECORD_OUTER];
};
#define INNER_BYTES (RULE_STACK_MAX - (__u32)sizeof(struct outer_part))

static __always_inline void fill_head(const struct moment *m, __u8 kind, __u32 number, __u32 follows,
                                      struct stack_record *r)
{
    r->magic = STACK_RECORD_MAGIC;
    r->version = STACK_RECORD_VERSION;
    r->kind = kind;
    r->page_bits = config.page_bits;
    r->compared = config.compared;
    r->number = number;
    r->size = follows;
    r->ip = m->ip;
    r->sp = m->sp;
}

static __always_inline long put_out(struct moment *m, __u8 kind, __u32 number, __u32 size)
{
    struct stack_record *r = &m->buffer->record.head;
    __u32 follows = size ? sizeof m->buffer->record - sizeof *r + bounded(size) : 0;
    fill_head(m, kind, number, follows, r);
    if (size > RULE_STACK_MAX)
        return -1;
    m->buffer->record.bytes_part = (struct stack_part){STACK_PART_BYTES, 0, sizeof(__u64) + m->inner};
    long rc = bpf_perf_event_output(m->ctx, &outputs, output_for(m, kind), m->buffer, sizeof *r + follows);
    if (rc == -ENOSPC)
        __sync_fetch_and_add(&counts.unwritten, 1);
    return rc;
}

/* One of the places that a record tells, if there is room. The count is in memory, where the kernel's verifier does not follow it: it would
 * look at each count for each file. */
static __always_inline void add_record_place(struct placed_record *r, __u64 at)
{
    volatile __u64 *count = &r->placed.count;
    const __u64 last = *count;
    if (last >= STACK_PLACED_MAX)
        return;
    r->at[last & (STACK_PLACED_MAX - 1)] = at;
    *count = last + 1;
}

/* Fills in where the files lie of the known stack that fits: 1; 0: that cannot be done. Not inlined, likewise. */
__noinline int verify_fill_places(__u32 cpu)
{
    struct buffer *buffer = bpf_map_lookup_elem(&buffers, &cpu);
    if (!buffer)
        return 0;
    const struct lying *l = &buffer->lying;
    buffer->placed.placed.count = 0;
    add_record_place(&buffer->placed, l->code.at);
    for (__u32 i = 0; i < STACK_PLACED_MAX && i < l->count; i++)
        if (l->used >> i & 1 && l->files[i].at != l->code.at)
            add_record_place(&buffer->placed, l->files[i].at);
    if (l->caller_at)
        add_record_place(&buffer->placed, l->caller_at);
    return 1;
}

/* Writes that a known stack which was read elsewhere fits, and where its files lie here. */
static __always_inline long put_placed(struct moment *m, __u32 number)
{
    struct placed_record *r = &m->buffer->placed;
    if (!verify_fill_places(bpf_get_smp_processor_id()))
        return -1;
    const __u32 follows =
        sizeof r->part + sizeof r->placed + (r->placed.count & (2 * STACK_PLACED_MAX - 1)) * 8;
    if (follows > sizeof *r - sizeof r->head)
        return -1;
    fill_head(m, STACK_RECORD_SAME, number, follows, &r->head);
    r->part = (struct stack_part){STACK_PART_PLACED, 0, follows - sizeof r->part};
    r->placed.base = m->base;
    r->placed.depth = m->compared_depth;
    long rc = bpf_perf_event_output(m->ctx, &outputs, BPF_F_CURRENT_CPU, r, sizeof r->head + follows);
    if (rc == -ENOSPC)
        __sync_fetch_and_add(&counts.unwritten, 1);
    return rc;
}

/* Writes a record and notes what it announced; an earlier announcement is never left in place. version: not 0: the stack is placed
 * (rule_told). Returns what the program shall: 0 leaves the sample out, which would be taken for one of an earlier announcement. */
static __always_inline int write_record_at(struct moment *m, __u8 kind, __u32 number, __u32 size,
                                           __u32 version)
{
    struct rule_told now = {.number = number, .version = version, .count = m->count, .birth = m->birth};
    if ((version ? put_placed(m, number) : put_out(m, kind, number, size)) == 0) {
        if (bpf_map_update_elem(&told, &m->told_key, &now, BPF_ANY) != 0)
            bpf_map_delete_elem(&told, &m->told_key);
        return 1;
    }
    bpf_map_delete_elem(&told, &m->told_key);
    if (size && put_out(m, STACK_RECORD_NONE, 0, 0) == 0)
        return 1;
    __sync_fetch_and_add(&counts.lost, 1);
    return 0;
}

static __always_inline int write_record(struct moment *m, __u8 kind, __u32 number, __u32 size)
{
    return write_record_at(m, kind, number, size, 0);
}

/* What was announced for this thread; NULL: nothing. */
static __always_inline struct rule_told *announced(const struct moment *m)
{
    struct rule_told *last = bpf_map_lookup_elem(&told, &m->told_key);
    return last && last->birth == m->birth ? last : NULL;
}

/* One of the kinds without a stack, unless it was told last. */
static __always_inline int tell_no_stack(struct moment *m, __u8 kind, __u32 number)
{
    const struct rule_told *before = announced(m);
    if (before && before->number == number)
        return 1;
    return write_record(m, kind, number, 0);
}

static __always_inline int tell_none(struct moment *m)
{
    return tell_no_stack(m, STACK_RECORD_NONE, 0);
}

/* Whether the process leaves enough to others, where all programs of a CPU are recorded. */
static __always_inline bool within_share(const struct moment *m, __u64 left)
{
    if (config.follow < VERIFY_EVERYONE)
        return true;
    const __u32 pid = m->pid;
    struct rule_share now = {.second = m->now >> 30};
    const struct rule_share *before = bpf_map_lookup_elem(&shares, &pid);
    if (before && !rule_may_take(before, now.second, left))
        return false;
    now.taken = 1 + (before && before->second == now.second ? before->taken : 0);
    bpf_map_update_elem(&shares, &pid, &now, BPF_ANY);
    return true;
}

static __always_inline bool within_budget(struct moment *m)
{
    m->now = bpf_ktime_get_ns();
    __u64 allowed = config.burst + (m->now - config.started) / 1024 * config.rate / 976562;
    if (counts.copies >= allowed || !within_share(m, allowed - counts.copies))
        return false;
    __sync_fetch_and_add(&counts.copies, 1);
    return true;
}

/* Bytes of the stack to read: up to its base. */
static __always_inline __u64 bytes_to_read(const struct moment *m)
{
    __u64 size = m->base - m->sp;
    if (m->apart)
        size = verify_goroutine(m->sp, m->space);
    else if (!m->base)
        size = 0;
    size = size ? size : STACK_RECORD_NO_BASE;
    return size < RULE_STACK_MAX ? size : RULE_STACK_MAX;
}

/* Whether so many bytes of a stack may be written to this CPU's ring. */
static __always_inline bool has_room(__u32 cpu, __u64 size)
{
    const __s64 *room = bpf_map_lookup_elem(&rooms, &cpu);
    return room && *room >= (__s64)size;
}

static __always_inline void take_capacity(__u32 cpu, __u64 size)
{
    __s64 *room = bpf_map_lookup_elem(&rooms, &cpu);
    if (room)
        __sync_fetch_and_add(room, -(__s64)size);
}

/* Reads so many bytes of the stack from an address on, or those that are there. Returns how many. */
static __always_inline __u32 read_stack(struct moment *m, __u32 cpu, __u64 from, __u64 size)
{
    if (size > RULE_STACK_MAX || size < 8)
        return 0;
    __u64 got = size;
    if (bpf_probe_read_user(m->buffer->stack, size, (void *)from) != 0)
        got = bounded(verify_read_pages(cpu, from, size));
    verify_unhook(cpu, from, got);
    return got;
}

/* The registers to compare, and to write with a stack. */
static __always_inline void take_registers(struct moment *m)
{
    const struct pt_regs *from = m->regs;
    struct stack_record_read *r = &m->buffer->record;
    r->registers_part = (struct stack_part){STACK_PART_REGISTERS, 0, sizeof r->mask + sizeof r->registers};
    r->mask = STACK_RECORD_REGISTERS;
    r->registers[0] = from->rax;
    r->registers[1] = from->rbx;
    r->registers[2] = from->rcx;
    r->registers[3] = from->rdx;
    r->registers[4] = from->rsi;
    r->registers[5] = from->rdi;
    r->registers[6] = from->rbp;
    r->registers[7] = from->rsp;
    r->registers[8] = from->rip;
    r->registers[9] = from->r8;
    r->registers[10] = from->r9;
    r->registers[11] = from->r10;
    r->registers[12] = from->r11;
    r->registers[13] = from->r12;
    r->registers[14] = from->r13;
    r->registers[15] = from->r14;
    r->registers[16] = from->r15;
}

/* The red zone, for words in it. */
static __always_inline void take_below(struct buffer *buffer, __u64 sp)
{
    if (bpf_probe_read_user(buffer->below, STACK_RECORD_BELOW, (void *)(sp - STACK_RECORD_BELOW)) != 0)
        __builtin_memset(buffer->below, STACK_RECORD_HOLE, STACK_RECORD_BELOW);
}

/* The bytes before the stack's base, to be compared or written. false: they cannot be read. */
static __always_inline bool take_outer(__u64 base, void *to)
{
    return bpf_probe_read_user(to, STACK_RECORD_OUTER, (void *)(base - STACK_RECORD_OUTER)) == 0;
}

/* How many bytes below SP a new stack is to have: the red zone, where the word right below SP is an address in this stack. So
 * code has it that keeps its CFA there; in most other code it is an old return address. */
static __always_inline __u32 bytes_below(const struct moment *m)
{
    __u64 word = 0;
    if (bpf_probe_read_user(&word, sizeof word, (void *)(m->sp - sizeof word)) != 0 ||
        word - m->sp >= RULE_STACK_MAX)
        return 0;
    return STACK_RECORD_BELOW;
}

/* Reads a stack that is larger than a record. Returns the record's bytes. */
static __always_inline __u32 read_deep(struct moment *m, __u32 cpu, __u64 from)
{
    struct outer_part *outer = (void *)(m->buffer->stack + INNER_BYTES);
    if (read_stack(m, cpu, from, INNER_BYTES) != INNER_BYTES || !take_outer(m->base, outer->bytes))
        return 0;
    outer->part = (struct stack_part){STACK_PART_BYTES, 0, sizeof outer->offset + sizeof outer->bytes};
    outer->offset = m->base - STACK_RECORD_OUTER - m->sp;
    m->deep = true;
    return RULE_STACK_MAX;
}

/* Behind a stack that goes on on another one. */
struct switch_part {
    struct stack_part part;
    struct stack_switch at;
};

/* Reads both stacks. Returns the record's bytes; 0: they cannot be read. */
static __always_inline __u32 read_both(struct moment *m, __u32 cpu, __u32 below)
{
    const __u32 at = m->split + below, size = m->buffer->other.size;
    const __u32 end = at + 8 + size;
    if (at >= RULE_SWITCH_AT || !read_first(m->buffer, cpu, m->sp - below, at) ||
        !read_other(m->buffer, at, size))
        return 0;
    verify_unhook(cpu, m->sp - below, at);
    struct switch_part *last = (void *)(m->buffer->stack + bounded(end));
    last->part = (struct stack_part){STACK_PART_SWITCH, 0, sizeof last->at};
    last->at = (struct stack_switch){m->split, 0};
    m->inner = end;
    return end + sizeof *last;
}

/* In place of the middle of a stack, where that repeats. The rest of the stack follows. */
struct folded {
    struct stack_part run_part;
    struct stack_run run;
    struct stack_part rest_part;
    __s64 offset;
};
_Static_assert(sizeof((struct folded *)0)->run.at == sizeof((struct rule_words *)0)->height &&
                   STACK_RUN_RELATIVE == RULE_RELATIVE,
               "a run part has a block's words");
#define JOINT_MAX  32768u /* bytes of a stack up to a known one: else it is read whole */
#define FOLD_LEAST 8192u  /* bytes: smaller stacks are written whole */
#define FOLD_INNER 4096u  /* at most: up to the end of the run's second period */
#define FOLD_REST  32768u /* below that: what lies behind */

static __always_inline void put_folded(struct folded *to, const struct rule_words *w, __u32 times, __u32 left,
                                       __s64 offset)
{
    to->run_part = (struct stack_part){STACK_PART_RUN, 0, sizeof to->run};
    to->run.period = w->period;
    to->run.times = times;
    to->run.count = w->count;
    to->run.zero = 0;
    for (__u32 i = 0; i < RULE_WORDS; i++)
        to->run.at[i] = (0 - (w->height[i] & ~7u)) | (w->height[i] & RULE_RELATIVE);
    to->rest_part = (struct stack_part){STACK_PART_BYTES, 0, sizeof to->offset + left};
    to->offset = offset;
}

/* Leaves out of a stack that was read what repeats in its middle. Returns the bytes that are left to write; 0: none. */
static __always_inline __u32 fold(struct moment *m, __u32 cpu, __u32 below, __u32 size)
{
    const __u32 found = m->inner < FOLD_LEAST ? 0 : verify_number(m->ip, RULE_RUNS, m->space);
    const __u32 index = found - 1;
    const struct rule_words *w = bpf_map_lookup_elem(&words, &index);
    if (!found || !w)
        return size;
    const __u32 first = below - (w->height[0] & ~7u), period = w->period, inner = first + 2 * period;
    const __u32 times = verify_times(index, cpu, m->sp, 0, below | (__u64)(m->inner - 8) << 32);
    const __u32 from = first + (times - 1) * period, left = m->inner - from;
    if (times < 4 || inner > FOLD_INNER || inner % 8 || from < inner + sizeof(struct folded) ||
        left >= FOLD_REST)
        return size;
    __u8 *to = m->buffer->stack + (bounded(inner) & (2 * FOLD_INNER - 1));
    put_folded((struct folded *)to, w, times, left, (__s64)from - below);
    __u32 end = inner + sizeof(struct folded) + left;
    if (bpf_probe_read_kernel(to + sizeof(struct folded), bounded(left) & (FOLD_REST - 1),
                              m->buffer->stack + bounded(from)) != 0)
        return 0;
    if (m->deep) {
        if (bpf_probe_read_kernel(m->buffer->stack + bounded(end), sizeof(struct outer_part),
                                  m->buffer->stack + INNER_BYTES) != 0)
            return 0;
        end += sizeof(struct outer_part);
    }
    m->inner = inner;
    return end;
}

/* Reads a stack up to where it is a known one. Returns the record's bytes; 0: they cannot be read. */
static __always_inline __u32 read_joined(struct moment *m, __u32 cpu, __u32 below)
{
    struct words_part *joint = &m->buffer->joint;
    const __u32 size = sizeof joint->known + joint->known.count * sizeof *joint->words;
    const __u64 at = bounded(m->joint + below) & (JOINT_MAX - 1);
    if (at < m->joint || read_stack(m, cpu, m->sp - below, at) != at)
        return 0;
    joint->part = (struct stack_part){STACK_PART_WORDS, 0, size};
    if (bpf_probe_read_kernel(m->buffer->stack + at,
                              (sizeof joint->part + size) & (2 * sizeof joint->words - 1), joint) != 0)
        return 0;
    m->inner = at;
    return at + sizeof joint->part + size;
}

static __always_inline int tell_read(struct moment *m, __u8 kind)
{
    __u32 zero = 0, *number = bpf_map_lookup_elem(&numbers, &zero), cpu = bpf_get_smp_processor_id();
    __u32 below = bytes_below(m);
    __u64 wanted = bytes_to_read(m) + below;
    const bool deep = m->base && !m->apart && m->base - m->sp + below > RULE_STACK_MAX;
    if (wanted > RULE_STACK_MAX)
        wanted = RULE_STACK_MAX;
    if (!number)
        return 1;
    if (!m->split && config.compared == STACK_RECORD_ALL)
        m->split = verify_switch(cpu, m->sp, m->space);
    if (m->split)
        wanted = below + m->split + 8 + m->buffer->other.size + sizeof(struct switch_part);
    else if (m->joint)
        wanted = below + m->joint + sizeof m->buffer->joint;
    if (!has_room(cpu, wanted)) {
        if (kind == STACK_RECORD_AGAIN)
            return 1;
        __sync_fetch_and_add(&counts.crowded, 1);
        return tell_none(m);
    }
    if (!within_budget(m))
        return kind == STACK_RECORD_AGAIN ? 1 : tell_none(m);
    __u32 size = m->split   ? read_both(m, cpu, below)
                 : m->joint ? read_joined(m, cpu, below)
                 : deep     ? read_deep(m, cpu, m->sp - below)
                            : 0;
    if (m->split && !size) { /* then the system stack alone */
        wanted = m->split + below;
        m->split = 0;
    }
    if (!m->split && !m->joint) {
        if (!size)
            size = read_stack(m, cpu, m->sp - below, wanted);
        m->inner = m->deep ? INNER_BYTES : size;
        size = fold(m, cpu, below, size);
    }
    if (!size) /* of one that is known, that stays so */
        return kind == STACK_RECORD_AGAIN ? 1 : tell_none(m);
    take_registers(m);
    m->buffer->record.code_part = (struct stack_part){STACK_PART_CODE, 0, sizeof m->buffer->record.code};
    m->buffer->record.code = m->buffer->lying.code;
    m->buffer->record.code.base = m->apart ? 0 : m->base;
    m->buffer->record.offset = -(__s64)below;
    take_capacity(cpu, size);
    *number += 1;
    return write_record(m, kind, *number << config.cpu_bits | cpu, size);
}

/* Precise samples: the record's function has returned, as far as can be told, when the stack is read. Words below the
 * later SP may be another call's. */
static __always_inline int tell_returned(struct moment *m)
{
    __sync_fetch_and_add(&counts.returned, 1);
    return tell_no_stack(m, STACK_RECORD_RETURNED, STACK_RECORD_LATE);
}

/* Whether the innermost word of a known stack, its function's return address, is in use still: then so are those above
 * it. */
static __always_inline bool goes_on(const struct trial *t, __u32 index)
{
    const struct rule_words *w = bpf_map_lookup_elem(&words, &index);
    __u32 above = t->late_sp - t->sp;
    if (t->late_sp <= t->sp)
        return true;
    return w && w->count && t->late_sp - t->sp < RULE_STACK_MAX &&
           (__u32)t->depth - (w->height[0] & ~7u) >= above;
}

/* Reads what the key's stacks are compared with. false: it cannot be read. */
static __always_inline bool read_trial(struct buffer *buffer, const struct rule_known *k, __u32 cpu)
{
    const struct trial *t = &buffer->trial;
    const __u32 extent = t->extent;
    if (config.compared == 0)
        return true;
    if (t->callers)
        __builtin_memset(buffer->below, STACK_RECORD_HOLE, STACK_RECORD_BELOW);
    else if (k->below)
        take_below(buffer, t->sp);
    if (extent < 8 || extent > RULE_STACK_MAX || (k->outer && !take_outer(t->base, buffer->outer)))
        return false;
    bool readable = false;
    if (t->split && extent > t->split)
        readable =
            read_first(buffer, cpu, t->sp, t->split) && read_other(buffer, t->split, extent - t->split - 8);
    else
        readable = bpf_probe_read_user(buffer->stack, bounded(extent), (void *)t->sp) == 0 ||
                   verify_read_pages(cpu, t->sp, extent) == (int)extent;
    if (readable)
        verify_unhook(cpu, t->sp, extent);
    return readable;
}

enum trial_end {
    TRIAL_NONE,     /* none fits */
    TRIAL_FITS,     /* the one that was found */
    TRIAL_RETURNED, /* the one that would fit has returned since */
    TRIAL_SWITCHED, /* stacks that go on on another one are under a further key */
    TRIAL_OUTER,    /* the caller's stack is known, but not with the sample's frame inside */
};

/* Which of the trial's known stacks fits: enum trial_end. Not inlined, so that the kernel verifies it once. */
__noinline int verify_known(__u32 cpu)
{
    struct buffer *buffer = bpf_map_lookup_elem(&buffers, &cpu);
    if (!buffer)
        return TRIAL_NONE;
    struct trial *t = &buffer->trial;
    const struct rule_key key = t->key;
    const struct rule_known *k = bpf_map_lookup_elem(&known, &key);
    if (!k)
        return TRIAL_NONE;
    if (k->switched && !t->split && !t->asked)
        return TRIAL_SWITCHED;
    const __u32 extent = k->extent;
    t->extent = extent;
    t->read += extent;
    if (!read_trial(buffer, k, cpu))
        return TRIAL_NONE;
    const __u32 place = t->ip & ((1u << config.page_bits) - 1);
    for (__u32 i = 0; i < RULE_STACKS; i++) {
        if (i >= k->count)
            break;
        const __u32 inner = k->stacks[i].inner, index = k->stacks[i].words;
        const bool outer = t->callers && !inner;
        if (place < k->stacks[i].first || place > k->stacks[i].last ||
            (outer && (!config.joins || t->around)))
            continue;
        t->found = (struct found){.number = t->callers ? inner : k->stacks[i].number,
                                  .alias = t->callers ? inner : k->stacks[i].alias,
                                  .version = k->stacks[i].version};
        if (config.compared != 0 &&
            !verify_fits(index, cpu, t->base, t->bp, (__u32)t->depth | (__u64)(extent - 8) << 32))
            continue;
        if (t->callers)
            t->around = index;
        if (outer) /* one with the sample's own frame inside may follow */
            continue;
        return goes_on(t, index) ? TRIAL_FITS : TRIAL_RETURNED;
    }
    return t->around ? TRIAL_OUTER : TRIAL_NONE;
}

/* The key of a stack without a base, by its innermost return addresses. false: where they are is not known. */
static __always_inline bool find_way(const struct moment *m, struct rule_key *key)
{
    __u64 at = m->sp, hash = key->page, word;
    __u32 distance = verify_number(m->ip, RULE_ROWS, key->space);
    if (!distance)
        return false;
    distance--;
    for (__u32 i = 0; i < RULE_STEPS; i++) {
        at += distance;
        if (bpf_probe_read_user(&word, sizeof word, (void *)at) != 0)
            return false;
        hash = rule_hash(hash, word);
        key->page = hash;
        key->depth = RULE_STEP;
        const struct rule_known *k = i + 1 < RULE_STEPS ? bpf_map_lookup_elem(&known, key) : NULL;
        if (!k)
            break;
        distance = k->extent;
    }
    key->depth = RULE_CHAIN;
    return true;
}

/* The key of a stack that goes on on another one: from that of the system stack, by the innermost return addresses of the other one. */
static __always_inline bool find_other_way(const struct moment *m, struct rule_key *key)
{
    const __u64 start = m->buffer->other.sp - 8; /* where the saved PC is taken to be */
    __u64 at = start, hash = rule_hash(key->page, key->depth), word;
    for (__u32 i = 0; i < RULE_STEPS; i++) {
        key->page = hash;
        key->depth = RULE_STEP;
        const struct rule_known *k = bpf_map_lookup_elem(&known, key);
        if (!k)
            break;
        at += k->extent;
        word = m->buffer->other.pc;
        if (at != start && !user_word(at, &word))
            return false;
        hash = rule_hash(hash, word);
    }
    key->page = hash;
    key->depth = RULE_CHAIN;
    return true;
}

/* Whether the map `followed` tells whose samples are looked at. */
static __always_inline bool is_listed(void)
{
    return config.follow == VERIFY_PIDS || config.follow == VERIFY_TIDS;
}

/* Tries the known stacks of a key on the sample's stack. */
static __always_inline int try_key(const struct moment *m, __u32 cpu, const struct rule_key *key)
{
    struct trial *t = &m->buffer->trial;
    t->key = *key;
    t->ip = m->ip;
    t->sp = m->sp;
    t->bp = m->bp;
    t->base = m->base;
    t->depth = m->depth;
    t->late_sp = m->late_sp;
    t->split = m->split;
    t->around = 0;
    t->asked = t->callers = false;
    return verify_known(cpu);
}

/* Those of its process. */
static __always_inline int try_space(struct moment *m, __u32 cpu)
{
    struct rule_key key = {.page = m->ip >> config.page_bits, .depth = m->depth, .space = m->space};
    if (!m->space || (m->apart && !find_way(m, &key)))
        return TRIAL_NONE;
    const int end = try_key(m, cpu, &key);
    if (end != TRIAL_SWITCHED)
        return end;
    m->split = verify_switch(cpu, m->sp, m->space);
    if (m->split)
        return find_other_way(m, &key) ? try_key(m, cpu, &key) : TRIAL_NONE;
    m->buffer->trial.asked = true;
    return verify_known(cpu);
}

/* Those that are known wherever their files are mapped. */
static __always_inline int try_file(struct moment *m, __u32 cpu)
{
    const struct rule_key key = {
        .page = (m->ip - m->buffer->lying.code.at) >> config.page_bits, .depth = m->depth, .file = m->file};
    m->compared_depth = m->depth;
    return m->file && !m->apart ? try_key(m, cpu, &key) : TRIAL_NONE;
}

/* Goes on to the stack of the trial's caller, as it is after the return. A row tells where the return address is. 0: that is not known.
 * Not inlined, likewise. */
__noinline int verify_climb(__u32 cpu)
{
    struct buffer *buffer = bpf_map_lookup_elem(&buffers, &cpu);
    if (!buffer)
        return 0;
    struct trial *t = &buffer->trial;
    /* A return address belongs to the call before it. */
    const __u32 rule = verify_row(t->file, t->ip - t->at - t->callers);
    if (rule == CODE_ROW_NONE)
        return 0;
    const __u32 bp_at = rule >> CODE_ROW_BP_AT & CODE_ROW_BP;
    const __u64 from = rule & CODE_ROW_FROM_BP ? t->bp : t->sp, at = from + (rule & CODE_ROW_RETURN);
    __u64 ip, bp = t->bp;
    if (at - t->sp >= RULE_STACK_MAX || !user_word(at, &ip) || (bp_at && !user_word(from + bp_at - 1, &bp)))
        return 0;
    t->file = verify_caller(cpu, ip);
    t->at = buffer->lying.caller_at;
    t->ip = ip;
    t->bp = bp;
    t->sp = t->late_sp = at + sizeof ip;
    t->depth = t->base - t->sp;
    t->split = t->around = 0;
    t->asked = t->callers = true;
    t->key = (struct rule_key){.page = (ip - t->at) >> config.page_bits, .depth = t->depth, .file = t->file};
    return t->file != 0;
}

/* Likewise, on the stack of its caller: what called is known then, and the sample's own frame is that of its PC. */
static __always_inline int try_caller(struct moment *m, __u32 cpu)
{
    struct trial *t = &m->buffer->trial;
    if (!m->file || m->apart || m->late_sp != m->sp || m->split)
        return TRIAL_NONE;
    t->ip = m->ip;
    t->bp = m->bp;
    t->sp = m->sp;
    t->base = m->base;
    t->at = m->buffer->lying.code.at;
    t->file = m->file;
    if (!verify_climb(cpu))
        return TRIAL_NONE;
    m->compared_depth = t->depth;
    __builtin_memset(m->buffer->record.registers, 0, sizeof m->buffer->record.registers);
    return verify_known(cpu);
}

/* Adds the words of one block of the known stack that fits the trial, which are in the CPU's buffer. Returns 1 + index of the block with
 * further ones; 0: they cannot be told so. Not inlined, likewise. */
__noinline int verify_add_words(__u32 index, __u32 cpu, __u32 extent, __u32 further)
{
    struct buffer *buffer = bpf_map_lookup_elem(&buffers, &cpu);
    const struct rule_words *w = bpf_map_lookup_elem(&words, &index);
    if (!buffer || !w || w->times > 1)
        return 0;
    const __u32 depth = buffer->trial.depth;
    for (__u32 i = 0; i < RULE_WORDS && i < w->count; i++) {
        const __u32 at = depth - (w->height[i] & ~7u), number = buffer->joint.known.count & (WORDS_MAX - 1);
        if (at > extent - 8)
            return 0;
        buffer->joint.words[number] =
            (struct stack_word_at){further + at, 0, word_at(buffer->stack + bounded(at))};
        buffer->joint.known.count = number + 1;
        if (buffer->joint.known.whole < further + at + 8)
            buffer->joint.known.whole = further + at + 8;
    }
    return 1 + w->next;
}

#define TRIALS_MAX 131072u /* bytes that are read for this at most, and one stack more */
#define CLIMBS     128u    /* frames that are looked further out for a known stack */

/* Whether the stack of one of its callers is known, of which the last trial was one: takes the words of that. */
static __always_inline bool find_joint(struct moment *m, __u32 cpu, int end)
{
    struct trial *t = &m->buffer->trial;
    if (!config.joins || !t->callers)
        return false;
    for (__u32 i = 0; i < CLIMBS && end == TRIAL_NONE && t->sp - m->sp < JOINT_MAX && t->read < TRIALS_MAX;
         i++)
        end = verify_climb(cpu) ? verify_known(cpu) : TRIAL_RETURNED;
    __u32 index = t->around;
    if ((end != TRIAL_OUTER && end != TRIAL_FITS) || (t->sp - m->sp) % 8 != 0 ||
        t->sp - m->sp >= JOINT_MAX - STACK_RECORD_BELOW)
        return false;
    m->joint = t->sp - m->sp;
    m->buffer->joint.known = (struct stack_words){.whole = m->joint};
    for (__u32 hop = 0; hop < RULE_BLOCKS_MAX; hop++) {
        const int next = verify_add_words(index, cpu, t->extent, m->joint);
        if (next <= 1)
            return next == 1;
        index = next - 1;
    }
    return false;
}

/* Whether a known stack fits, and which. *returned: one would, but it has returned. Else m->joint is set where one is around it. */
static __always_inline bool find_known(struct moment *m, __u32 cpu, bool *returned)
{
    m->buffer->trial.callers = false;
    m->buffer->trial.read = 0;
    int end = try_file(m, cpu);
    if (end == TRIAL_NONE)
        end = try_space(m, cpu);
    if (end == TRIAL_NONE)
        end = try_caller(m, cpu);
    *returned = end == TRIAL_RETURNED;
    if (end == TRIAL_FITS)
        return true;
    if (!*returned && !find_joint(m, cpu, end))
        m->joint = 0;
    return false;
}

static __always_inline bool is_followed(struct moment *m, __u32 *pid)
{
    if (config.ns_inode) {
        struct bpf_pidns_info ns;
        if (bpf_get_ns_current_pid_tgid(config.ns_device, config.ns_inode, &ns, sizeof ns) != 0)
            return false;
        *pid = ns.tgid;
        m->told_key.tid = ns.pid;
    } else {
        __u64 both = bpf_get_current_pid_tgid();
        *pid = both >> 32;
        m->told_key.tid = (__u32)both;
    }
    if (config.follow == VERIFY_ALL)
        return true;
    if (!is_listed())
        return *pid != config.self && m->sp; /* threads of the kernel have no stack in user mode */
    return bpf_map_lookup_elem(&followed, config.follow == VERIFY_TIDS ? &m->told_key.tid : pid);
}

static __always_inline int verify(struct moment *m)
{
    __u32 cpu = bpf_get_smp_processor_id();
    __u32 pid;
    if (config.cgroup && bpf_get_current_ancestor_cgroup_id(config.level) != config.cgroup)
        return 0;
    if (config.one_user && (__u32)bpf_get_current_uid_gid() != config.user)
        return 0;
    if (!is_followed(m, &pid))
        return 1;
    const __u32 *space = bpf_map_lookup_elem(&spaces, &pid);
    m->space = space ? *space : 0;
    m->buffer = bpf_map_lookup_elem(&buffers, &cpu);
    if (!m->buffer)
        return 1;
    m->pid = pid;
    m->file = verify_file(cpu, pid, m->ip);
    const struct rule_thread *thread = bpf_map_lookup_elem(&threads, &m->told_key.tid);
    if (thread) {
        m->birth = thread->birth;
        /* A stack of its own, such as a coroutine's, is not counted from the thread's base. */
        if (thread->base - m->sp < VERIFY_OWN_STACK_MAX)
            m->base = thread->base;
    }
    const __u64 start = main_base(m, pid);
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
    take_registers(m);
    if (!find_known(m, cpu, &returned))
        return returned || m->late_sp > m->sp ? tell_returned(m) : tell_read(m, STACK_RECORD_NEW);
    const struct found found = m->buffer->trial.found;
    const struct lying *l = &m->buffer->lying;
    /* Nothing is to be told of its places where it was read, while its code still lies there. */
    const __u32 version = found.version && (found.version != l->version || l->guessed) ? l->version : 0;
    if (!before || (before->number != found.number && before->number != found.alias) ||
        before->version != version || (version && l->guessed))
        return write_record_at(m, STACK_RECORD_SAME, found.number, 0, version);
    if (config.compared == STACK_RECORD_ALL)
        return 1;
    before->count = ++m->count;
    return rule_again(m->count + 1) ? tell_read(m, STACK_RECORD_AGAIN) : 1;
}

/* For events that happen in user mode. */
SEC("perf_event")
int verify_user(struct bpf_perf_event_data *ctx)
{
    struct moment m = {
        .ctx = ctx, .regs = &ctx->regs, .ip = ctx->regs.rip, .sp = ctx->regs.rsp, .bp = ctx->regs.rbp};
    m.late_sp = m.sp;
    return verify(&m);
}

/* Whether the instruction is a near return, behind which the function's own return address is no longer on the stack. */
static __always_inline bool is_return(__u64 ip)
{
    __u8 code[2];
    if (bpf_probe_read_user(code, sizeof code, (void *)ip) != 0)
        return true;
    return code[0] == 0xc3 || code[0] == 0xc2 || ((code[0] | 1) == 0xf3 && code[1] == 0xc3);
}

/* For precise ones (PEBS), if each record has an interrupt: the registers are the record's, those after its instruction. The
 * stack is read some instructions later, with the registers of then (bpf_task_pt_regs(), Linux 5.15). */
SEC("perf_event")
int verify_precise(struct bpf_perf_event_data *ctx)
{
    const struct pt_regs *late = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
    struct moment m = {
        .ctx = ctx, .regs = &ctx->regs, .ip = ctx->regs.rip, .sp = ctx->regs.rsp, .bp = ctx->regs.rbp};
    /* As if SP were just above all: none of its words is in use still. */
    m.late_sp = is_return(m.ip) ? m.sp + RULE_STACK_MAX : late->rsp;
    return verify(&m);
}

/* For those that happen in the kernel: the registers with which the thread entered it (Linux 5.15). */
static __always_inline int verify_entered(void *ctx)
{
    const struct pt_regs *regs = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
    struct moment m = {.ctx = ctx, .regs = regs, .ip = regs->rip, .sp = regs->rsp, .bp = regs->rbp};
    m.late_sp = m.sp;
    return verify(&m);
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

/* Follows what followed processes and threads start from its first sample on, with what is known of its parent: the
 * recorder learns of it later. */
SEC("tracepoint")
int verify_task(const struct new_task *task)
{
    __u64 both = bpf_get_current_pid_tgid();
    __u32 pid = both >> 32, tid = (__u32)both, child = (__u32)task->tid, yes = 1;
    const bool is_thread = task->clone_flags & CLONE_THREAD;
    const __u32 *space = bpf_map_lookup_elem(&spaces, &pid);
    const struct rule_thread *parent = bpf_map_lookup_elem(&threads, &tid);
    struct rule_thread born = {.base = parent && !is_thread ? parent->base : 0, .birth = bpf_ktime_get_ns()};
    if (is_listed() && !bpf_map_lookup_elem(&followed, config.follow == VERIFY_TIDS ? &tid : &pid))
        return 0;
    if (parent || is_listed() || config.follow == VERIFY_EVERYONE)
        bpf_map_update_elem(&threads, &child, &born, BPF_ANY);
    if (space && !is_thread)
        bpf_map_update_elem(&spaces, &child, space, BPF_ANY);
    if (config.follow == VERIFY_TIDS || (config.follow == VERIFY_PIDS && !is_thread))
        bpf_map_update_elem(&followed, &child, &yes, BPF_ANY);
    return 0;
}
