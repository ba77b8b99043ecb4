# libfathom: everything below it in one shared library; only what api/fathom.h declares leaves it. The commands use it, too.
noinst_LTLIBRARIES += libapi.la
libapi_la_SOURCES = \
	api/contexts.c \
	api/host.c api/host.h \
	api/hot.c \
	api/run.c api/run.h
lib_LTLIBRARIES += libfathom.la
fathomincludedir = $(includedir)
dist_fathominclude_HEADERS = api/fathom.h
fathomtopicsdir = $(includedir)/fathom
dist_fathomtopics_HEADERS = \
	api/fathom/common.h \
	api/fathom/contexts.h
libfathom_la_SOURCES =
libfathom_la_LIBADD = libapi.la $(FATHOM_LIBS)
libfathom_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -export-symbols-regex '^fathom_' -Wl,--exclude-libs,libiberty.a
