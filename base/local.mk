noinst_LTLIBRARIES += libbase.la
libbase_la_SOURCES = \
	base/arena.c base/arena.h \
	base/bytes.c base/bytes.h \
	base/checksum.c base/checksum.h \
	base/error.c base/error.h \
	base/file.c base/file.h \
	base/hash.c base/hash.h \
	base/log.h \
	base/saturate.h
libbase_la_LIBADD = $(XXHASH_LIBS)
