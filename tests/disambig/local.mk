UNIT_TESTS += tests/disambig/test_move
tests_disambig_test_move_SOURCES = tests/disambig/test_move.c $(IMAGE_TEST_BUILD)
tests_disambig_test_move_LDADD = libdisambig.la $(IMAGE_TEST_LIBS)

check_PROGRAMS += tests/disambig/relocate
tests_disambig_relocate_SOURCES = tests/disambig/relocate.c
tests_disambig_relocate_LDADD = libdisambig.la libimage.la libbase.la
E2E_TESTS += tests/disambig/relocate.test
EXTRA_DIST += tests/disambig/ways.c tests/disambig/throws.cc
