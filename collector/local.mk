noinst_LTLIBRARIES += libcollector.la
libcollector_la_SOURCES = \
	collector/rings/batch.c collector/rings/batch.h \
	collector/capability/facts.c collector/capability/facts.h \
	collector/capability/process_facts.c collector/capability/process_facts.h \
	collector/capability/tries.c collector/capability/tries.h \
	collector/attach.c collector/attach.h collector/cpu_use.c collector/cpu_use.h collector/nothing.c collector/nothing.h collector/silent.c collector/silent.h \
	collector/collector.c collector/collector.h collector/collector_data.h collector/prepare.c collector/stack_order.c collector/stack_order.h \
	collector/losses.c collector/losses.h collector/tasks.c collector/tasks.h collector/waits.c collector/waits.h collector/rings/records.h \
	collector/rings/counters.c collector/rings/counters.h collector/rings/counters_data.h \
	collector/rings/counters_control.c collector/rings/counters_late.c collector/rings/counters_open.c \
	collector/rings/cpus.c collector/rings/cpus.h \
	collector/scripts/python_reader.c collector/scripts/python_reader.h \
	collector/scripts/script_poll.c collector/scripts/script_poll.h \
	collector/scripts/script_queue.c collector/scripts/script_queue.h \
	collector/drain.c collector/drain.h \
	collector/events/alias.c collector/events/alias.h \
	collector/events/event.c collector/events/event.h \
	collector/events/event_attr.c collector/events/event_attr.h \
	collector/events/event_parse.c \
	collector/events/event_list.c collector/events/event_list.h \
	collector/events/event_name.c collector/events/event_name.h \
	collector/targets/cgroup.c collector/targets/cgroup.h \
	collector/targets/container.c collector/targets/container.h \
	collector/targets/descendants.c collector/targets/descendants.h \
	collector/targets/launch.c collector/targets/launch.h \
	collector/targets/members.c collector/targets/members.h collector/targets/moved_text.c collector/targets/moved_text.h \
	collector/events/fields.c collector/events/fields.h \
	collector/events/near.c collector/events/near.h \
	collector/events/open.c collector/events/open.h \
	collector/events/pebs.c collector/events/pebs.h \
	collector/events/pmus.c collector/events/pmus.h \
	collector/events/sysfs_event.c collector/events/sysfs_event.h \
	collector/events/pfm.c collector/events/pfm.h collector/events/pfm_cpu.c collector/events/pfm_cpu.h collector/events/remedy.h \
	collector/targets/proc.c collector/targets/proc.h \
	collector/rings/clock_pair.c collector/rings/clock_pair.h collector/rings/ring.c collector/rings/ring.h \
	collector/targets/sideband.c collector/targets/sideband.h \
	collector/events/settle.c collector/events/settle.h \
	collector/targets/stackbase.c collector/targets/stackbase.h \
	collector/targets/synth.c collector/targets/synth.h \
	collector/targets/threadroot.c collector/targets/threadroot.h \
	collector/targets/touch.c collector/targets/touch.h \
	collector/events/tracefs.c collector/events/tracefs.h \
	collector/events/tracing.c collector/events/tracing.h \
	collector/events/trigger.c collector/events/trigger.h \
	collector/events/vary.c collector/events/vary.h \
	collector/probes/allocators.c collector/probes/allocators.h \
	collector/probes/marker_arguments.c collector/probes/marker_arguments.h \
	collector/probes/probe_file.c collector/probes/probe_file.h \
	collector/probes/probes.c collector/probes/probes.h \
	collector/probes/uprobes.c collector/probes/uprobes.h \
	collector/verify/kernel_interrupts.c collector/verify/kernel_interrupts.h \
	collector/verify/kernel_members.c collector/verify/kernel_members.h \
	collector/verify/known_stacks.c collector/verify/known_stacks.h collector/verify/poisson.h \
	collector/verify/program.S collector/verify/rule.h collector/verify/runs.c collector/verify/runs.h \
	collector/verify/verify.c collector/verify/verify.h collector/verify/verify_wire.h \
	collector/verify/where.c collector/verify/where.h
libcollector_la_LIBADD = $(PFM_LIBS) $(BPF_LIBS)

# The BPF program, which the collector contains.
bpf_parts = collector/verify/bpf/data.h collector/verify/bpf/memory.h collector/verify/bpf/return_probes.h \
	collector/verify/bpf/switches.h collector/verify/bpf/places.h collector/verify/bpf/rows.h collector/verify/bpf/words.h \
	collector/verify/bpf/write.h collector/verify/bpf/copy.h collector/verify/bpf/trial.h collector/verify/bpf/climb.h \
	collector/verify/bpf/chain.h collector/verify/bpf/php.h collector/verify/bpf/python.h collector/verify/bpf/ruby.h collector/verify/bpf/script.h collector/verify/bpf/script_code.h collector/verify/bpf/waits.h collector/verify/bpf/wakers.h collector/verify/bpf/v8.h \
	collector/verify/bpf/allocations.h
EXTRA_DIST += collector/verify/verify.bpf.c $(bpf_parts)
CLEANFILES += collector/verify/verify.bpf.o collector/verify/files.bpf.o
collector/verify/program.lo: collector/verify/verify.bpf.o collector/verify/files.bpf.o
bpf_sources = collector/verify/verify.bpf.c $(bpf_parts) collector/verify/poisson.h collector/verify/rule.h collector/verify/verify_wire.h perfdata/code_rows.h \
	perfdata/stack_record.h perfdata/script_record.h perfdata/wait_reason.h base/script_language.h image/script_layout.h
bpf_compile = $(BPF_CC) -target bpf -O2 -g -ffile-prefix-map=$(abs_top_srcdir)=. -ffile-compilation-dir=. -D__x86_64__ -Wall -I$(top_srcdir) $(BPF_CPPFLAGS) \
	-c $(srcdir)/collector/verify/verify.bpf.c
collector/verify/verify.bpf.o: $(bpf_sources)
	$(AM_V_GEN)$(bpf_compile) -o $@
collector/verify/files.bpf.o: $(bpf_sources)
	$(AM_V_GEN)$(bpf_compile) -DVERIFY_FILES -o $@

# The same program for user space.
noinst_LTLIBRARIES += libmachine.la
libmachine_la_SOURCES = collector/verify/user/machine.c collector/verify/user/machine.h \
	collector/verify/user/bpf/bpf_helpers.h
libmachine_la_CPPFLAGS = -I$(srcdir)/collector/verify/user $(AM_CPPFLAGS)
