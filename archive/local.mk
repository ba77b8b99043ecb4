noinst_LTLIBRARIES += libpacked.la
libpacked_la_SOURCES = \
	archive/libarchive.c archive/libarchive.h \
	archive/manifest.c archive/manifest.h \
	archive/pack.c archive/pack.h \
	archive/unpack.c archive/unpack.h
libpacked_la_CPPFLAGS = $(AM_CPPFLAGS) $(ARCHIVE_CFLAGS)
