# Each is a shell script that speaks TAP; lib.sh is what they share.
E2E_TESTS += \
	tests/e2e/accuracy.test tests/e2e/ambiguous.test tests/e2e/api.test tests/e2e/attach.test \
	tests/e2e/builds.test tests/e2e/bursts.test tests/e2e/calls.test tests/e2e/calls_bursts.test tests/e2e/clocks.test tests/e2e/cut.test tests/e2e/damaged.test tests/e2e/debuginfod.test tests/e2e/faults.test tests/e2e/hcct.test tests/e2e/hostile_names.test tests/e2e/images.test tests/e2e/input.test tests/e2e/interrupt.test tests/e2e/map.test tests/e2e/outputs.test tests/e2e/perf.test tests/e2e/top.test \
	tests/e2e/programs.test tests/e2e/real.test tests/e2e/stripped.test tests/e2e/threads.test \
	tests/e2e/train_between.test tests/e2e/train_cleanup.test tests/e2e/train_faults.test tests/e2e/train_killed.test tests/e2e/train_left.test tests/e2e/train_patch.test tests/e2e/train_real.test tests/e2e/train_says.test \
	tests/e2e/train_uprobe.test \
	tests/e2e/views.test
EXTRA_DIST += tests/e2e/lib.sh tests/e2e/maps.sh
E2E_TESTS += tests/e2e/ambiguity.test tests/e2e/disambig.test
E2E_TESTS += tests/e2e/doctor.test tests/e2e/kept_maps.test
E2E_TESTS += tests/e2e/events.test
E2E_TESTS += tests/e2e/kernel.test
E2E_TESTS += tests/e2e/roots.test
E2E_TESTS += tests/e2e/privilege.test tests/e2e/record_report.test tests/e2e/short.test tests/e2e/stack_samples.test tests/e2e/verify.test
