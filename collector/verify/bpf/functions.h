/*
 * functions.h - the BPF program's functions that the kernel's verifier checks once each, instead of at each
 * call (part of verify.bpf.c). They take only numbers: their data is in the CPU's buffer.
 */
#ifndef FATHOM_COLLECTOR_VERIFY_BPF_FUNCTIONS_H
#define FATHOM_COLLECTOR_VERIFY_BPF_FUNCTIONS_H

#include <linux/types.h>

/* memory.h, return_probes.h */
int verify_read_pages(__u32 cpu, __u64 sp, __u32 size);
int verify_put_back(__u32 cpu, __u64 sp, __u32 size, __u64 instance, __u64 trampoline);
int verify_unhook(__u32 cpu, __u64 sp, __u32 size);
/* switches.h */
int verify_switch(__u32 cpu, __u64 sp, __u32 space);
int verify_goroutine(__u64 sp, __u32 space);
#ifdef VERIFY_FILES
/* places.h, rows.h */
__u32 verify_file(__u32 cpu, __u32 pid, __u64 ip);
int verify_add_place(__u32 cpu, __u32 file, __u32 guessed);
__u32 verify_caller(__u32 cpu, __u64 pc);
__u64 verify_at(__u32 cpu, __u32 file, __u64 guess, __u64 word);
__u32 verify_row(__u32 file, __u64 offset);
#endif
/* words.h */
int verify_block(__u32 index, __u32 cpu, __u64 base, __u64 bp, __u64 depth_and_reach);
__u32 verify_number(__u64 ip, __u64 depth, __u32 space);
__u32 verify_times(__u32 index, __u32 cpu, __u64 base, __u64 bp, __u64 depth_and_reach);
int verify_fits(__u32 index, __u32 cpu, __u64 base, __u64 bp, __u64 depth_and_reach);
/* write.h, trial.h, climb.h */
int verify_fill_places(__u32 cpu);
int verify_known(__u32 cpu);
int verify_climb(__u32 cpu);
int verify_add_words(__u32 index, __u32 cpu, __u32 extent, __u32 further);
__u32 verify_joint(__u32 cpu, __u64 sp, int end);

/* python.h, php.h, ruby.h, v8.h, script_code.h */
int verify_python_is(__u32 cpu, __u32 pid, __u64 state, __u64 self);
__u64 verify_python_listed(__u32 cpu, __u32 pid, __u64 state, __u64 self);
__u64 verify_python_state(__u32 cpu, __u32 pid, __u64 before, __u32 search);
int verify_python_frames(__u32 cpu, __u32 pid);
__u64 verify_python_outer(__u32 cpu, __u32 pid);
int verify_python_identity(__u32 cpu, __u32 pid, __u32 number);
int verify_python_code(__u32 cpu, __u32 pid);
int verify_php_delegates(__u32 cpu, __u32 pid, __u64 generator);
int verify_php_call(__u32 cpu, __u32 pid, __u64 function, __u64 instruction, __u32 entered);
int verify_php_frames(__u32 cpu, __u32 pid);
int verify_php_line(__u32 cpu, __u32 pid, __u32 number);
int verify_php_identity(__u32 cpu, __u32 pid, __u32 number);
int verify_php_code(__u32 cpu, __u32 pid);
__u64 verify_ruby_state(__u32 cpu, __u32 pid);
int verify_ruby_frames(__u32 cpu, __u32 pid);
int verify_ruby_place(__u32 cpu, __u32 pid, __u32 number);
int verify_ruby_identity(__u32 cpu, __u32 pid, __u32 number);
int verify_ruby_code(__u32 cpu, __u32 pid);
int verify_script_further(__u32 cpu, __u32 pid);
int verify_script_frames(__u32 cpu, __u32 pid);
int verify_script_places(__u32 cpu, __u32 pid, __u32 from);
int verify_v8_frame(__u32 cpu);
int verify_v8_frames(__u32 cpu);
int verify_v8_identity(__u32 cpu, __u32 number);
__u64 verify_v8_string(__u32 cpu, __u64 string);
int verify_v8_text(__u32 cpu, __u64 string);
__u32 verify_v8_part(__u32 cpu, __u64 string, __u32 at);
int verify_v8_parts(__u32 cpu, __u64 string);
int verify_v8_code(__u32 cpu);
__u32 verify_v8_line(__u32 cpu, __u64 script);
__u32 verify_v8_lines(__u32 cpu, __u64 from, __u32 size, __u32 width);
int verify_script_identity(__u32 cpu, __u32 pid, __u32 number);
int verify_script_names(__u32 cpu, __u32 pid, __u32 from);
int verify_script_code(__u32 cpu, __u32 pid, __u32 from);

/* The programs themselves. */
struct bpf_perf_event_data;
struct new_task;
struct task_switch;
struct task_wakeup;
int verify_user(struct bpf_perf_event_data *ctx);
int verify_precise(struct bpf_perf_event_data *ctx);
int verify_kernel(struct bpf_perf_event_data *ctx);
int verify_tracepoint(void *ctx);
int verify_probe(struct pt_regs *ctx);
int verify_task(const struct new_task *task);
int verify_switch_task(const struct task_switch *task);
int verify_wakeup(const struct task_wakeup *task);
int verify_waking(const struct task_wakeup *task);

#endif
