# libfathom: everything below it in one shared library; only what api/fathom.h declares leaves it.
lib_LTLIBRARIES += libfathom.la
fathomincludedir = $(includedir)
dist_fathominclude_HEADERS = api/fathom.h
libfathom_la_SOURCES = api/contexts.c api/hot.c api/run.c api/run.h
libfathom_la_LIBADD = libprofile.la libhcct.la libinfer.la libpathmap.la libprocess.la libperfdata.la libimage.la libbase.la
libfathom_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -export-symbols-regex '^fathom_' -Wl,--exclude-libs,ALL
