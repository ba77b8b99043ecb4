UNIT_TESTS += tests/collector/test_event tests/collector/test_threadroot tests/collector/test_collector \
	tests/collector/test_pebs tests/collector/test_tracing
tests_collector_test_pebs_SOURCES = tests/collector/test_pebs.c
tests_collector_test_pebs_LDADD = libcollector.la libperfdata.la libimage.la libbase.la $(CRITERION_LIBS)
tests_collector_test_tracing_SOURCES = tests/collector/test_tracing.c
tests_collector_test_tracing_LDADD = libcollector.la libperfdata.la libimage.la libbase.la $(CRITERION_LIBS)
tests_collector_test_event_SOURCES = tests/collector/test_event.c
tests_collector_test_event_LDADD = libcollector.la libperfdata.la libimage.la libbase.la $(CRITERION_LIBS)
tests_collector_test_threadroot_SOURCES = tests/collector/test_threadroot.c
tests_collector_test_threadroot_LDADD = libcollector.la libimage.la libbase.la $(CRITERION_LIBS)
tests_collector_test_collector_SOURCES = tests/collector/test_collector.c
UNIT_TESTS += tests/collector/test_groups
tests_collector_test_groups_SOURCES = tests/collector/test_groups.c
tests_collector_test_groups_LDADD = libcollector.la libperfdata.la libimage.la libbase.la $(CRITERION_LIBS)
tests_collector_test_collector_LDADD = libcollector.la libperfdata.la libimage.la libbase.la $(CRITERION_LIBS)
UNIT_TESTS += tests/collector/test_prepare
tests_collector_test_prepare_SOURCES = tests/collector/test_prepare.c
tests_collector_test_prepare_LDADD = libcollector.la libperfdata.la libimage.la libbase.la $(CRITERION_LIBS)
UNIT_TESTS += tests/collector/test_silent
tests_collector_test_silent_SOURCES = tests/collector/test_silent.c
tests_collector_test_silent_LDADD = libcollector.la libperfdata.la libimage.la libbase.la $(CRITERION_LIBS)
UNIT_TESTS += tests/collector/test_container
tests_collector_test_container_SOURCES = tests/collector/test_container.c
tests_collector_test_container_LDADD = libcollector.la libbase.la $(CRITERION_LIBS)
UNIT_TESTS += tests/collector/test_cgroup
tests_collector_test_cgroup_SOURCES = tests/collector/test_cgroup.c
tests_collector_test_cgroup_LDADD = libcollector.la libbase.la $(CRITERION_LIBS)
UNIT_TESTS += tests/collector/test_members
tests_collector_test_members_SOURCES = tests/collector/test_members.c
tests_collector_test_members_LDADD = libcollector.la libimage.la libbase.la $(CRITERION_LIBS)
UNIT_TESTS += tests/collector/test_descendants
tests_collector_test_descendants_SOURCES = tests/collector/test_descendants.c
tests_collector_test_descendants_LDADD = libcollector.la libimage.la libbase.la $(CRITERION_LIBS)
UNIT_TESTS += tests/collector/test_tasks
tests_collector_test_tasks_SOURCES = tests/collector/test_tasks.c
tests_collector_test_tasks_LDADD = libcollector.la libperfdata.la libimage.la libbase.la $(CRITERION_LIBS)

# What the kernel is asked for on other CPUs: attrs.test holds it against golden/CPU.txt.
check_PROGRAMS += tests/collector/attrs
tests_collector_attrs_SOURCES = tests/collector/attrs.c
tests_collector_attrs_LDADD = libcollector.la libperfdata.la libimage.la libbase.la
E2E_TESTS += tests/collector/attrs.test
EXTRA_DIST += tests/collector/golden

check_PROGRAMS += tests/collector/busy
tests_collector_busy_SOURCES = tests/collector/busy.c
tests_collector_busy_LDADD = -lpthread
# Recorded as a plain program, in a build with sanitizers too.
tests_collector_busy_LDFLAGS =
tests_collector_busy_CFLAGS = -std=gnu17 $(WARN_CFLAGS) -O2
$(tests_collector_busy_OBJECTS): override CFLAGS += -O2

# The BPF program, compiled for user space against a machine of its own instead of libbpf's helpers.
UNIT_TESTS += tests/collector/verify/test_verify
tests_collector_verify_test_verify_SOURCES = tests/collector/verify/test_verify.c
tests_collector_verify_test_verify_LDADD = libmachine.la libcollector.la libperfdata.la libimage.la libbase.la $(CRITERION_LIBS)
UNIT_TESTS += tests/collector/verify/test_poisson
tests_collector_verify_test_poisson_SOURCES = tests/collector/verify/test_poisson.c collector/verify/poisson.h
tests_collector_verify_test_poisson_LDADD = $(CRITERION_LIBS) -lm
UNIT_TESTS += tests/collector/verify/test_kernel_members
tests_collector_verify_test_kernel_members_SOURCES = tests/collector/verify/test_kernel_members.c
tests_collector_verify_test_kernel_members_LDADD = libcollector.la libperfdata.la libbase.la $(CRITERION_LIBS)

UNIT_TESTS += tests/collector/verify/test_switch
tests_collector_verify_test_switch_SOURCES = tests/collector/verify/test_switch.c
tests_collector_verify_test_switch_LDADD = libmachine.la libcollector.la libperfdata.la libimage.la libbase.la $(CRITERION_LIBS)

check_PROGRAMS += tests/collector/verify/programs
tests_collector_verify_programs_SOURCES = tests/collector/verify/programs.c
tests_collector_verify_programs_LDADD = $(BPF_LIBS)
# A recording through the rings, as if it were live: fed_rings.c is linked in place of what opens events.
check_PROGRAMS += tests/collector/replay
tests_collector_replay_SOURCES = tests/collector/replay.c tests/collector/fed_rings.c tests/collector/fed_rings.h
tests_collector_replay_LDADD = libcollector.la libinfer.la libpathmap.la libprocess.la libperfdata.la libimage.la libbase.la
# The rule for precise samples, tried on programs that run instruction by instruction.
check_PROGRAMS += tests/collector/verify/skids
E2E_TESTS += tests/collector/verify/skids.test
tests_collector_verify_skids_SOURCES = tests/collector/verify/skids.c
tests_collector_verify_skids_LDADD = libmachine.la libcollector.la libperfdata.la libimage.la libbase.la
UNIT_TESTS += tests/collector/test_trigger
tests_collector_test_trigger_SOURCES = tests/collector/test_trigger.c
tests_collector_test_trigger_LDADD = libcollector.la libperfdata.la libimage.la libbase.la $(CRITERION_LIBS)
UNIT_TESTS += tests/collector/test_script_queue
tests_collector_test_script_queue_SOURCES = tests/collector/test_script_queue.c
tests_collector_test_script_queue_LDADD = libcollector.la libimage.la libbase.la $(CRITERION_LIBS)
UNIT_TESTS += tests/collector/test_waits
tests_collector_test_waits_SOURCES = tests/collector/test_waits.c
tests_collector_test_waits_LDADD = libcollector.la libperfdata.la libimage.la libbase.la $(CRITERION_LIBS)
UNIT_TESTS += tests/collector/test_marker_arguments
tests_collector_test_marker_arguments_SOURCES = tests/collector/test_marker_arguments.c
tests_collector_test_marker_arguments_LDADD = libcollector.la libperfdata.la libimage.la libbase.la $(CRITERION_LIBS)
UNIT_TESTS += tests/collector/test_fields
tests_collector_test_fields_SOURCES = tests/collector/test_fields.c
tests_collector_test_fields_LDADD = libcollector.la libperfdata.la libimage.la libbase.la $(CRITERION_LIBS)
