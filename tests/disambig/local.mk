# Pads the frames of any program at random.
check_PROGRAMS += tests/disambig/resize
tests_disambig_resize_SOURCES = tests/disambig/resize.c
tests_disambig_resize_LDADD = libdisambig.la libimage.la libbase.la
