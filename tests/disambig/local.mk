UNIT_TESTS += tests/disambig/test_ambiguity tests/disambig/test_search
DISAMBIG_TEST_LIBS = libdisambig.la libpathmap.la libprocess.la libperfdata.la libimage.la libbase.la $(CRITERION_LIBS)
tests_disambig_test_ambiguity_SOURCES = tests/disambig/test_ambiguity.c tests/disambig/maps.c tests/disambig/maps.h
tests_disambig_test_ambiguity_LDADD = $(DISAMBIG_TEST_LIBS)
tests_disambig_test_search_SOURCES = tests/disambig/test_search.c tests/disambig/maps.c tests/disambig/maps.h
tests_disambig_test_search_LDADD = $(DISAMBIG_TEST_LIBS)
