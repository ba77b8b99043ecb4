# Each is a shell script that speaks TAP; lib.sh is what they share.
E2E_TESTS += \
	tests/e2e/accesses.test \
	tests/e2e/accuracy.test \
	tests/e2e/agent.test tests/e2e/all.test \
	tests/e2e/ambiguity.test \
	tests/e2e/ambiguous.test \
	tests/e2e/annotate.test \
	tests/e2e/api.test \
	tests/e2e/api_bindings.test tests/e2e/api_calls.test \
	tests/e2e/api_record.test tests/e2e/api_own.test tests/e2e/api_resolve.test \
	tests/e2e/archive.test \
	tests/e2e/attach.test \
	tests/e2e/builds.test \
	tests/e2e/by.test \
	tests/e2e/bursts.test \
	tests/e2e/calls.test tests/e2e/cgroup.test \
	tests/e2e/calls_bursts.test \
	tests/e2e/chains.test \
	tests/e2e/clocks.test \
	tests/e2e/cut.test \
	tests/e2e/damaged.test \
	tests/e2e/debuginfod.test \
	tests/e2e/diff.test \
	tests/e2e/disambig.test \
	tests/e2e/disambig_clone.test \
	tests/e2e/disambig_edges.test \
	tests/e2e/disambig_methods.test \
	tests/e2e/disambig_wrap.test \
	tests/e2e/doctor.test tests/e2e/doctor_runtimes.test \
	tests/e2e/events.test \
	tests/e2e/exact.test tests/e2e/examples.test \
	tests/e2e/export_firefox.test \
	tests/e2e/export_perf.test \
	tests/e2e/exports.test \
	tests/e2e/faults.test \
	tests/e2e/hcct.test \
	tests/e2e/hostile_names.test \
	tests/e2e/images.test \
	tests/e2e/kept_stacks.test \
	tests/e2e/inlined.test \
	tests/e2e/input.test \
	tests/e2e/interrupt.test \
	tests/e2e/cached_maps.test \
	tests/e2e/kernel.test \
	tests/e2e/map.test \
	tests/e2e/map_alone.test \
	tests/e2e/outputs.test \
	tests/e2e/page.test \
	tests/e2e/go.test tests/e2e/jit.test tests/e2e/jit_names.test tests/e2e/node.test tests/e2e/partial.test tests/e2e/alloc.test tests/e2e/autofdo.test tests/e2e/propeller.test tests/e2e/latency.test tests/e2e/probes.test tests/e2e/fields.test tests/e2e/php.test tests/e2e/python.test tests/e2e/python_apart.test tests/e2e/ruby.test tests/e2e/off_cpu.test tests/e2e/wakers.test tests/e2e/registers.test \
	tests/e2e/pager.test \
	tests/e2e/pebs.test \
	tests/e2e/children.test \
	tests/e2e/passive.test \
	tests/e2e/moved.test \
	tests/e2e/pid_reuse.test \
	tests/e2e/push.test \
	tests/e2e/uprobe_return.test \
	tests/e2e/phases.test tests/e2e/phases_control.test tests/e2e/calls_phases.test tests/e2e/perf.test \
	tests/e2e/privilege.test \
	tests/e2e/programs.test \
	tests/e2e/readme.test \
	tests/e2e/long.test \
	tests/e2e/reads.test \
	tests/e2e/real.test \
	tests/e2e/record_report.test \
	tests/e2e/roots.test \
	tests/e2e/services.test \
	tests/e2e/shared.test \
	tests/e2e/short.test \
	tests/e2e/signals.test \
	tests/e2e/stack_samples.test \
	tests/e2e/stripped.test \
	tests/e2e/store.test \
	tests/e2e/store_clickhouse.test \
	tests/e2e/switch.test \
	tests/e2e/threads.test \
	tests/e2e/top.test \
	tests/e2e/train_between.test \
	tests/e2e/train_cleanup.test \
	tests/e2e/train_faults.test \
	tests/e2e/train_killed.test \
	tests/e2e/train_left.test \
	tests/e2e/train_patch.test \
	tests/e2e/train_real.test \
	tests/e2e/train_says.test \
	tests/e2e/train_uprobe.test \
	tests/e2e/tutorial.test \
	tests/e2e/uid.test \
	tests/e2e/verify.test \
	tests/e2e/walks.test \
	tests/e2e/script_views.test \
	tests/e2e/views.test \
	tests/e2e/work.test
EXTRA_DIST += tests/e2e/console.sh tests/e2e/lib.sh tests/e2e/maps.sh tests/e2e/roll_up.sh tests/e2e/script.sh
