UNIT_TESTS += tests/disambig/test_ambiguity tests/disambig/test_search
DISAMBIG_TEST_LIBS = libdisambig.la libpathmap.la libprocess.la libperfdata.la libimage.la libbase.la $(CRITERION_LIBS)
tests_disambig_test_ambiguity_SOURCES = tests/disambig/test_ambiguity.c tests/disambig/maps.c tests/disambig/maps.h
tests_disambig_test_ambiguity_LDADD = $(DISAMBIG_TEST_LIBS)
tests_disambig_test_search_SOURCES = tests/disambig/test_search.c tests/disambig/maps.c tests/disambig/maps.h
tests_disambig_test_search_LDADD = $(DISAMBIG_TEST_LIBS)
# Pads the frames of any program at random.
check_PROGRAMS += tests/disambig/resize
tests_disambig_resize_SOURCES = tests/disambig/resize.c
tests_disambig_resize_LDADD = libdisambig.la libimage.la libbase.la
UNIT_TESTS += tests/disambig/test_frames tests/disambig/test_patch
tests_disambig_test_frames_SOURCES = tests/disambig/test_frames.c tests/image/build.c tests/image/build.h
tests_disambig_test_frames_LDADD = libdisambig.la libimage.la libbase.la $(CRITERION_LIBS)
tests_disambig_test_patch_SOURCES = tests/disambig/test_patch.c tests/image/build.c tests/image/build.h
tests_disambig_test_patch_LDADD = libdisambig.la libimage.la libbase.la $(CRITERION_LIBS)
UNIT_TESTS += tests/disambig/test_inserted
tests_disambig_test_inserted_SOURCES = tests/disambig/test_inserted.c tests/image/build.c tests/image/build.h
tests_disambig_test_inserted_LDADD = libdisambig.la libimage.la libbase.la $(CRITERION_LIBS)
E2E_TESTS += tests/disambig/resize.test
EXTRA_DIST += tests/disambig/shapes.cc
E2E_TESTS += tests/disambig/plugin.test
UNIT_TESTS += tests/disambig/test_moved_map
tests_disambig_test_moved_map_SOURCES = tests/disambig/test_moved_map.c
tests_disambig_test_moved_map_LDADD = $(DISAMBIG_TEST_LIBS)
UNIT_TESTS += tests/disambig/test_clone
tests_disambig_test_clone_SOURCES = tests/disambig/test_clone.c tests/disambig/maps.c tests/disambig/maps.h
tests_disambig_test_clone_LDADD = $(DISAMBIG_TEST_LIBS)
UNIT_TESTS += tests/disambig/test_move
tests_disambig_test_move_SOURCES = tests/disambig/test_move.c $(IMAGE_TEST_BUILD)
tests_disambig_test_move_LDADD = libdisambig.la $(IMAGE_TEST_LIBS)

check_PROGRAMS += tests/disambig/relocate
tests_disambig_relocate_SOURCES = tests/disambig/relocate.c
tests_disambig_relocate_LDADD = libdisambig.la libimage.la libbase.la
E2E_TESTS += tests/disambig/relocate.test
# Wraps the calls of any program at random.
check_PROGRAMS += tests/disambig/wrap_all
tests_disambig_wrap_all_SOURCES = tests/disambig/wrap_all.c
tests_disambig_wrap_all_LDADD = libdisambig.la libpathmap.la libimage.la libbase.la
UNIT_TESTS += tests/disambig/test_wrap
tests_disambig_test_wrap_SOURCES = tests/disambig/test_wrap.c tests/disambig/maps.c tests/disambig/maps.h $(IMAGE_TEST_BUILD)
tests_disambig_test_wrap_LDADD = $(DISAMBIG_TEST_LIBS)
EXTRA_DIST += tests/disambig/tools.sh tests/disambig/ways.c tests/disambig/throws.cc tests/disambig/orders.cc \
	tests/disambig/virtual.cc tests/disambig/mixed.cc
