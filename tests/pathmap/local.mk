UNIT_TESTS += tests/pathmap/test_trie tests/pathmap/test_pathmap tests/pathmap/test_hostile
PATHMAP_TEST_LIBS = libpathmap.la libprocess.la libperfdata.la libimage.la libbase.la $(ELF_LIBS) $(DWARF_LIBS) $(IBERTY_LIBS) $(CRITERION_LIBS)
tests_pathmap_test_trie_SOURCES = tests/pathmap/test_trie.c
tests_pathmap_test_trie_LDADD = $(PATHMAP_TEST_LIBS)
tests_pathmap_test_pathmap_SOURCES = tests/pathmap/test_pathmap.c tests/pathmap/model.c tests/pathmap/model.h
tests_pathmap_test_pathmap_LDADD = $(PATHMAP_TEST_LIBS)
tests_pathmap_test_hostile_SOURCES = tests/pathmap/test_hostile.c tests/pathmap/exercise.c \
	tests/pathmap/exercise.h tests/pathmap/model.c tests/pathmap/model.h
tests_pathmap_test_hostile_LDADD = $(PATHMAP_TEST_LIBS)
UNIT_TESTS += tests/pathmap/test_plan_images
tests_pathmap_test_plan_images_SOURCES = tests/pathmap/test_plan_images.c tests/pathmap/equivalent.c \
	tests/pathmap/equivalent.h
tests_pathmap_test_plan_images_LDADD = $(PATHMAP_TEST_LIBS) $(CAPSTONE_LIBS)
UNIT_TESTS += tests/pathmap/test_plan_displace tests/pathmap/test_plan_read tests/pathmap/test_plan_choose
tests_pathmap_test_plan_displace_SOURCES = tests/pathmap/test_plan_displace.c
tests_pathmap_test_plan_displace_LDADD = $(PATHMAP_TEST_LIBS)
tests_pathmap_test_plan_read_SOURCES = tests/pathmap/test_plan_read.c
tests_pathmap_test_plan_read_LDADD = $(PATHMAP_TEST_LIBS)
tests_pathmap_test_plan_choose_SOURCES = tests/pathmap/test_plan_choose.c tests/pathmap/equivalent.c \
	tests/pathmap/equivalent.h tests/image/build.c tests/image/build.h
tests_pathmap_test_plan_choose_LDADD = $(PATHMAP_TEST_LIBS) $(CAPSTONE_LIBS)
UNIT_TESTS += tests/pathmap/test_trials
tests_pathmap_test_trials_SOURCES = tests/pathmap/test_trials.c
tests_pathmap_test_trials_LDADD = $(PATHMAP_TEST_LIBS)
UNIT_TESTS += tests/pathmap/test_map_cache
tests_pathmap_test_map_cache_SOURCES = tests/pathmap/test_map_cache.c
tests_pathmap_test_map_cache_LDADD = $(PATHMAP_TEST_LIBS)

UNIT_TESTS += tests/pathmap/test_plan_cache
tests_pathmap_test_plan_cache_SOURCES = tests/pathmap/test_plan_cache.c
tests_pathmap_test_plan_cache_LDADD = $(PATHMAP_TEST_LIBS)
UNIT_TESTS += tests/pathmap/test_uprobe_site
tests_pathmap_test_uprobe_site_SOURCES = tests/pathmap/test_uprobe_site.c tests/image/build.c tests/image/build.h
tests_pathmap_test_uprobe_site_LDADD = $(PATHMAP_TEST_LIBS) $(CAPSTONE_LIBS)
UNIT_TESTS += tests/pathmap/test_harvest tests/pathmap/test_session
tests_pathmap_test_harvest_SOURCES = tests/pathmap/test_harvest.c tests/pathmap/store.c tests/pathmap/store.h
tests_pathmap_test_harvest_LDADD = $(PATHMAP_TEST_LIBS)
UNIT_TESTS += tests/pathmap/test_call_logs
tests_pathmap_test_call_logs_SOURCES = tests/pathmap/test_call_logs.c tests/pathmap/store.c tests/pathmap/store.h
tests_pathmap_test_call_logs_LDADD = $(PATHMAP_TEST_LIBS)
tests_pathmap_test_session_SOURCES = tests/pathmap/test_session.c
tests_pathmap_test_session_LDADD = $(PATHMAP_TEST_LIBS)

UNIT_TESTS += tests/pathmap/test_probe_core
tests_pathmap_test_probe_core_SOURCES = tests/pathmap/test_probe_core.c \
	tests/pathmap/hooked.h tests/pathmap/probe_tree.c tests/pathmap/probe_tree.h
tests_pathmap_test_probe_core_LDADD = libprobe_core.la $(CRITERION_LIBS)
UNIT_TESTS += tests/pathmap/test_probe_purge
tests_pathmap_test_probe_purge_SOURCES = tests/pathmap/test_probe_purge.c \
	tests/pathmap/hooked.h tests/pathmap/probe_tree.c tests/pathmap/probe_tree.h
tests_pathmap_test_probe_purge_LDADD = libprobe_core.la $(CRITERION_LIBS)
# Calls that the compiler tells of.
check_LTLIBRARIES = libcyg_framed.la libcyg_optimised.la
libcyg_framed_la_SOURCES = tests/pathmap/cyg_calls.c tests/pathmap/cyg_calls.h
libcyg_framed_la_CFLAGS = -std=gnu17 $(WARN_CFLAGS) -finstrument-functions -fno-omit-frame-pointer
libcyg_framed_la_CPPFLAGS = $(AM_CPPFLAGS) -DCYG_CALLS=cyg_calls_framed
libcyg_optimised_la_SOURCES = tests/pathmap/cyg_calls.c
libcyg_optimised_la_CFLAGS = -std=gnu17 $(WARN_CFLAGS) -finstrument-functions -O2
libcyg_optimised_la_CPPFLAGS = $(AM_CPPFLAGS) -DCYG_CALLS=cyg_calls_optimised
$(libcyg_framed_la_OBJECTS): override CFLAGS += -fno-omit-frame-pointer
$(libcyg_optimised_la_OBJECTS): override CFLAGS += -O2
UNIT_TESTS += tests/pathmap/test_probe_cyg
tests_pathmap_test_probe_cyg_SOURCES = tests/pathmap/test_probe_cyg.c tests/pathmap/cyg_calls.h \
	tests/pathmap/probe_tree.c tests/pathmap/probe_tree.h
tests_pathmap_test_probe_cyg_LDADD = libcyg_framed.la libcyg_optimised.la libprobe_core.la $(CRITERION_LIBS)
