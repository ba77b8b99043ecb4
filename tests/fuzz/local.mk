# One source for each fuzz target. With --enable-fuzzers (clang) it is linked with libFuzzer, otherwise with a
# driver of our own that takes the same arguments. To add one: its name in FUZZERS_BUILT, its three lines below,
# and its seeds in tests/fuzz/seeds/NAME/.
if FUZZERS
FUZZ_DRIVER =
FUZZ_LINK = $(AM_LDFLAGS) -fsanitize=fuzzer
else
FUZZ_DRIVER = tests/fuzz/driver.c
FUZZ_LINK = $(AM_LDFLAGS)
endif

FUZZERS_BUILT += tests/fuzz/fuzz_archive
tests_fuzz_fuzz_archive_SOURCES = tests/fuzz/fuzz_archive.c $(FUZZ_DRIVER)
tests_fuzz_fuzz_archive_LDADD = libpacked.la libbase.la
tests_fuzz_fuzz_archive_LDFLAGS = $(FUZZ_LINK)

FUZZERS_BUILT += tests/fuzz/fuzz_block_map
tests_fuzz_fuzz_block_map_SOURCES = tests/fuzz/fuzz_block_map.c $(FUZZ_DRIVER)
tests_fuzz_fuzz_block_map_LDADD = libimage.la libbase.la
tests_fuzz_fuzz_block_map_LDFLAGS = $(FUZZ_LINK)

FUZZERS_BUILT += tests/fuzz/fuzz_bursts
tests_fuzz_fuzz_bursts_SOURCES = tests/fuzz/fuzz_bursts.c $(FUZZ_DRIVER)
tests_fuzz_fuzz_bursts_LDADD = libstreams.la libbase.la
tests_fuzz_fuzz_bursts_LDFLAGS = $(FUZZ_LINK)

FUZZERS_BUILT += tests/fuzz/fuzz_core
tests_fuzz_fuzz_core_SOURCES = tests/fuzz/fuzz_core.c $(FUZZ_DRIVER)
tests_fuzz_fuzz_core_LDADD = libprocess.la libperfdata.la libimage.la libbase.la
tests_fuzz_fuzz_core_LDFLAGS = $(FUZZ_LINK)

FUZZERS_BUILT += tests/fuzz/fuzz_process
tests_fuzz_fuzz_process_SOURCES = tests/fuzz/fuzz_process.c $(FUZZ_DRIVER)
tests_fuzz_fuzz_process_LDADD = libstreams.la libbase.la
tests_fuzz_fuzz_process_LDFLAGS = $(FUZZ_LINK)

FUZZERS_BUILT += tests/fuzz/fuzz_scripts
tests_fuzz_fuzz_scripts_SOURCES = tests/fuzz/fuzz_scripts.c $(FUZZ_DRIVER)
tests_fuzz_fuzz_scripts_LDADD = libperfdata.la libbase.la
tests_fuzz_fuzz_scripts_LDFLAGS = $(FUZZ_LINK)

FUZZERS_BUILT += tests/fuzz/fuzz_sites
tests_fuzz_fuzz_sites_SOURCES = tests/fuzz/fuzz_sites.c $(FUZZ_DRIVER)
tests_fuzz_fuzz_sites_LDADD = libstreams.la libbase.la
tests_fuzz_fuzz_sites_LDFLAGS = $(FUZZ_LINK)

FUZZERS_BUILT += tests/fuzz/fuzz_image
tests_fuzz_fuzz_image_SOURCES = tests/fuzz/fuzz_image.c $(FUZZ_DRIVER)
tests_fuzz_fuzz_image_LDADD = libcollector.la libperfdata.la libimage.la libbase.la
tests_fuzz_fuzz_image_LDFLAGS = $(FUZZ_LINK)

FUZZERS_BUILT += tests/fuzz/fuzz_part
tests_fuzz_fuzz_part_SOURCES = tests/fuzz/fuzz_part.c $(FUZZ_DRIVER)
tests_fuzz_fuzz_part_LDADD = libimage.la libbase.la
tests_fuzz_fuzz_part_LDFLAGS = $(FUZZ_LINK)

FUZZERS_BUILT += tests/fuzz/fuzz_made
tests_fuzz_fuzz_made_SOURCES = tests/fuzz/fuzz_made.c $(FUZZ_DRIVER)
tests_fuzz_fuzz_made_LDADD = libimage.la libbase.la
tests_fuzz_fuzz_made_LDFLAGS = $(FUZZ_LINK)

FUZZERS_BUILT += tests/fuzz/fuzz_fmap
tests_fuzz_fuzz_fmap_SOURCES = tests/fuzz/fuzz_fmap.c tests/pathmap/exercise.c tests/pathmap/exercise.h $(FUZZ_DRIVER)
tests_fuzz_fuzz_fmap_LDADD = libpathmap.la libprocess.la libperfdata.la libimage.la libbase.la
tests_fuzz_fuzz_fmap_LDFLAGS = $(FUZZ_LINK)

FUZZERS_BUILT += tests/fuzz/fuzz_automaton
tests_fuzz_fuzz_automaton_SOURCES = tests/fuzz/fuzz_automaton.c $(FUZZ_DRIVER)
tests_fuzz_fuzz_automaton_LDADD = libinfer.la libpathmap.la libprocess.la libperfdata.la libimage.la libbase.la
tests_fuzz_fuzz_automaton_LDFLAGS = $(FUZZ_LINK)

FUZZERS_BUILT += tests/fuzz/fuzz_cost
tests_fuzz_fuzz_cost_SOURCES = tests/fuzz/fuzz_cost.c $(FUZZ_DRIVER)
tests_fuzz_fuzz_cost_LDADD = libinfer.la libpathmap.la libprocess.la libperfdata.la libimage.la libbase.la
tests_fuzz_fuzz_cost_LDFLAGS = $(FUZZ_LINK)

FUZZERS_BUILT += tests/fuzz/fuzz_stacks
tests_fuzz_fuzz_stacks_SOURCES = tests/fuzz/fuzz_stacks.c $(FUZZ_DRIVER)
tests_fuzz_fuzz_stacks_LDADD = libinfer.la libpathmap.la libprocess.la libperfdata.la libimage.la libbase.la
tests_fuzz_fuzz_stacks_LDFLAGS = $(FUZZ_LINK)

FUZZERS_BUILT += tests/fuzz/fuzz_patch
tests_fuzz_fuzz_patch_SOURCES = tests/fuzz/fuzz_patch.c $(FUZZ_DRIVER)
tests_fuzz_fuzz_patch_LDADD = libdisambig.la librewrite.la libpathmap.la libimage.la libbase.la
tests_fuzz_fuzz_patch_LDFLAGS = $(FUZZ_LINK)
FUZZERS_BUILT += tests/fuzz/fuzz_move
tests_fuzz_fuzz_move_SOURCES = tests/fuzz/fuzz_move.c $(FUZZ_DRIVER)
tests_fuzz_fuzz_move_LDADD = librewrite.la libimage.la libbase.la
tests_fuzz_fuzz_move_LDFLAGS = $(FUZZ_LINK)

FUZZERS_BUILT += tests/fuzz/fuzz_perfdata
tests_fuzz_fuzz_perfdata_SOURCES = tests/fuzz/fuzz_perfdata.c $(FUZZ_DRIVER)
tests_fuzz_fuzz_perfdata_LDADD = libperfdata.la libbase.la
tests_fuzz_fuzz_perfdata_LDFLAGS = $(FUZZ_LINK)

FUZZERS_BUILT += tests/fuzz/fuzz_chains
tests_fuzz_fuzz_chains_SOURCES = tests/fuzz/fuzz_chains.c $(FUZZ_DRIVER)
tests_fuzz_fuzz_chains_LDADD = libinfer.la libpathmap.la libprocess.la libperfdata.la libimage.la libbase.la
tests_fuzz_fuzz_chains_LDFLAGS = $(FUZZ_LINK)

FUZZERS_BUILT += tests/fuzz/fuzz_store
tests_fuzz_fuzz_store_SOURCES = tests/fuzz/fuzz_store.c tests/pathmap/exercise.c tests/pathmap/exercise.h \
	tests/pathmap/store.c tests/pathmap/store.h $(FUZZ_DRIVER)
tests_fuzz_fuzz_store_LDADD = libpathmap.la libprocess.la libperfdata.la libimage.la libbase.la
tests_fuzz_fuzz_store_LDFLAGS = $(FUZZ_LINK)

FUZZERS_BUILT += tests/fuzz/fuzz_trace
tests_fuzz_fuzz_trace_SOURCES = tests/fuzz/fuzz_trace.c $(FUZZ_DRIVER)
tests_fuzz_fuzz_trace_LDADD = libhcct.la libbase.la
tests_fuzz_fuzz_trace_LDFLAGS = $(FUZZ_LINK)

FUZZERS_BUILT += tests/fuzz/fuzz_tree
tests_fuzz_fuzz_tree_SOURCES = tests/fuzz/fuzz_tree.c $(FUZZ_DRIVER)
tests_fuzz_fuzz_tree_LDADD = libhcct.la libbase.la
tests_fuzz_fuzz_tree_LDFLAGS = $(FUZZ_LINK)

FUZZERS_BUILT += tests/fuzz/fuzz_payload
tests_fuzz_fuzz_payload_SOURCES = tests/fuzz/fuzz_payload.c $(FUZZ_DRIVER)
tests_fuzz_fuzz_payload_LDADD = libstore.la libprofile.la libbase.la
tests_fuzz_fuzz_payload_LDFLAGS = $(FUZZ_LINK)

FUZZERS_BUILT += tests/fuzz/fuzz_container
tests_fuzz_fuzz_container_SOURCES = tests/fuzz/fuzz_container.c $(FUZZ_DRIVER)
tests_fuzz_fuzz_container_LDADD = libcollector.la libbase.la
tests_fuzz_fuzz_container_LDFLAGS = $(FUZZ_LINK)

check_PROGRAMS += $(FUZZERS_BUILT)
E2E_TESTS += tests/fuzz/fuzz.test
EXTRA_DIST += tests/fuzz/seeds tests/fuzz/long
