check_PROGRAMS += tests/disambig/relocate
tests_disambig_relocate_SOURCES = tests/disambig/relocate.c
tests_disambig_relocate_LDADD = libdisambig.la libimage.la libbase.la
