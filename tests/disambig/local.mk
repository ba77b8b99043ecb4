UNIT_TESTS += tests/disambig/test_ambiguity tests/disambig/test_search
DISAMBIG_TEST_LIBS = libdisambig.la librewrite.la libpathmap.la libprocess.la libperfdata.la libimage.la libbase.la $(CRITERION_LIBS)
tests_disambig_test_ambiguity_SOURCES = tests/disambig/test_ambiguity.c tests/disambig/maps.c tests/disambig/maps.h
tests_disambig_test_ambiguity_LDADD = $(DISAMBIG_TEST_LIBS)
tests_disambig_test_search_SOURCES = tests/disambig/test_search.c tests/disambig/maps.c tests/disambig/maps.h
tests_disambig_test_search_LDADD = $(DISAMBIG_TEST_LIBS)
E2E_TESTS += tests/disambig/plugin.test
UNIT_TESTS += tests/disambig/test_moved_map
tests_disambig_test_moved_map_SOURCES = tests/disambig/test_moved_map.c
tests_disambig_test_moved_map_LDADD = $(DISAMBIG_TEST_LIBS)
UNIT_TESTS += tests/disambig/test_clone
tests_disambig_test_clone_SOURCES = tests/disambig/test_clone.c tests/disambig/maps.c tests/disambig/maps.h
tests_disambig_test_clone_LDADD = $(DISAMBIG_TEST_LIBS)

# Wraps the calls of any program at random.
check_PROGRAMS += tests/disambig/wrap_all
tests_disambig_wrap_all_SOURCES = tests/disambig/wrap_all.c $(WRITE_PROGRAM)
tests_disambig_wrap_all_LDADD = libdisambig.la librewrite.la libpathmap.la libimage.la libbase.la
UNIT_TESTS += tests/disambig/test_wrap
tests_disambig_test_wrap_SOURCES = tests/disambig/test_wrap.c tests/disambig/maps.c tests/disambig/maps.h $(IMAGE_TEST_BUILD)
tests_disambig_test_wrap_LDADD = $(DISAMBIG_TEST_LIBS)
EXTRA_DIST += tests/disambig/tools.sh tests/disambig/ways.c tests/disambig/throws.cc tests/disambig/orders.cc \
	tests/disambig/virtual.cc tests/disambig/mixed.cc
# Pads the frames of any program at random.
