noinst_LTLIBRARIES += libdisambig.la
libdisambig_la_SOURCES =
libdisambig_la_LIBADD =
include disambig/move/local.mk
